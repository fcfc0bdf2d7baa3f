import { useEffect, useRef, useState } from 'react'

/** Closer to the end than this counts as being there, in pixels. */
const nearPx = 48

/** Room above what is scrolled to, in pixels. */
const marginPx = 8

/**
 * Keeps a scroller at its end while content grows, until the reader scrolls up; coming back to the end holds on again.
 * Give `scroller` to the scrolling element and `content` to the one that grows inside it.
 */
export function useStickToBottom() {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const stuck = useRef(true)
  const [atEnd, setAtEnd] = useState(true)

  useEffect(() => {
    const element = scroller.current
    const inner = content.current
    if (element === null || inner === null) return
    let lastTop = element.scrollTop
    const onScroll = () => {
      const near = element.scrollHeight - element.scrollTop - element.clientHeight < nearPx
      // Growing content moves the end away without a scroll; only going up lets go.
      if (element.scrollTop < lastTop && !near) stuck.current = false
      else if (near) stuck.current = true
      lastTop = element.scrollTop
      setAtEnd(near || stuck.current)
    }
    const observer = new ResizeObserver(() => {
      if (stuck.current) element.scrollTop = element.scrollHeight
    })
    observer.observe(inner)
    observer.observe(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [])

  const toEnd = () => {
    stuck.current = true
    setAtEnd(true)
    const element = scroller.current
    if (element !== null) element.scrollTop = element.scrollHeight
  }
  /** Shows the beginning of an element inside, if its end is shown and it does not fit whole. */
  const toElement = (selector: string) => {
    const element = scroller.current
    const target = element?.querySelector(selector)
    if (element === null || !target || !stuck.current) return
    const top = target.getBoundingClientRect().top - element.getBoundingClientRect().top
    if (top >= 0) return
    stuck.current = false
    element.scrollTop += top - marginPx
  }
  /** Shows the same lines after a change that puts something above them. */
  const keepPlace = async (change: () => Promise<void>) => {
    const element = scroller.current
    const fromEnd = element === null ? 0 : element.scrollHeight - element.scrollTop
    await change()
    requestAnimationFrame(() => {
      if (element !== null) element.scrollTop = element.scrollHeight - fromEnd
    })
  }
  return { scroller, content, atEnd, toEnd, toElement, keepPlace }
}
