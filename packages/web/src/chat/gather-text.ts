/** Gathers text until `schedule` runs what it is given: once a frame, so that a fast stream does not render for each chunk. */
export function gatherText(schedule: (flush: () => void) => void, show: (text: string) => void) {
  let waiting = ''
  const flush = () => {
    if (waiting === '') return
    const text = waiting
    waiting = ''
    show(text)
  }
  const add = (text: string) => {
    if (text === '') return
    if (waiting === '') schedule(flush)
    waiting += text
  }
  return { add, flush }
}
