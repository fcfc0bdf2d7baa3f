import { socketCloseCodes, type TerminalExit, type TerminalRole } from '@atelier/contract'
import type { TerminalViewer } from './terminal-viewer.ts'

/** A client that has fallen behind and acknowledges nothing for so long is cut off. */
const stuckMilliseconds = 30_000

/** All connections to one terminal: at most one of them is the writer. */
export interface TerminalViewers {
  /** Whoever comes last of the writer's own connections is the writer; of others, only if there is none. */
  add(viewer: TerminalViewer): void
  remove(viewer: TerminalViewer): void
  size(): number
  setRole(viewer: TerminalViewer, role: TerminalRole): void
  pump(): void
  each(act: (viewer: TerminalViewer) => void): void
  /** somebody looks, and nobody keeps up */
  allLag(): boolean
  finish(exit: TerminalExit): void
  closeStuck(): void
}

export function createTerminalViewers(): TerminalViewers {
  // In the order of arrival.
  const viewers = new Set<TerminalViewer>()

  const writer = () => [...viewers].find(({ role }) => role === 'writer')

  function tellRoles(): void {
    for (const viewer of viewers) viewer.tell({ type: 'role', role: viewer.role, viewers: viewers.size })
  }

  function setRole(viewer: TerminalViewer, role: TerminalRole): void {
    if (viewer.role === role) return
    const current = writer()
    if (role === 'writer' && current) current.role = 'viewer'
    viewer.role = role
    tellRoles()
  }

  return {
    add(viewer) {
      viewers.add(viewer)
      const current = writer()
      const takes = current === undefined || current.connection.userId === viewer.connection.userId
      if (takes) setRole(viewer, 'writer')
      else tellRoles()
    },
    remove(viewer) {
      if (!viewers.delete(viewer)) return
      // The terminal stays usable when its writer has left.
      const [next] = viewers
      if (viewer.role === 'writer' && next) setRole(next, 'writer')
      else tellRoles()
    },
    size: () => viewers.size,
    setRole,
    pump() {
      for (const viewer of viewers) viewer.pump()
    },
    each(act) {
      for (const viewer of viewers) act(viewer)
    },
    allLag: () => viewers.size > 0 && [...viewers].every((viewer) => viewer.lagging()),
    finish(exit) {
      for (const viewer of viewers) viewer.finish(exit)
    },
    closeStuck() {
      for (const viewer of viewers)
        if (viewer.stuckFor() > stuckMilliseconds)
          viewer.connection.close(socketCloseCodes.tooSlow, 'the output is not being read')
    },
  }
}
