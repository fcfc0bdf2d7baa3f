import { useEffectEvent, useLayoutEffect, useRef, useState } from 'react'

/** Rows drawn beyond the visible ones on either side, so that a quick scroll shows no gaps. */
const overscan = 12

/** Which rows are in sight of a scroller, and a way to bring one into it. */
export function useTreeWindow(count: number, rowHeight: number) {
  const scroller = useRef<HTMLDivElement>(null)
  const [range, setRange] = useState({ first: 0, last: 80 })

  const measure = () => {
    const element = scroller.current
    if (element === null) return
    const first = Math.max(0, Math.floor(element.scrollTop / rowHeight) - overscan)
    const last = Math.ceil((element.scrollTop + element.clientHeight) / rowHeight) + overscan
    setRange((current) => (current.first === first && current.last === last ? current : { first, last }))
  }
  const measureNow = useEffectEvent(measure)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const observer = new ResizeObserver(() => measureNow())
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const reveal = (index: number) => {
    const element = scroller.current
    if (element === null) return
    const top = index * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight
    }
  }
  return {
    scroller,
    first: Math.min(range.first, count),
    last: Math.min(range.last, count),
    onScroll: measure,
    reveal,
  }
}
