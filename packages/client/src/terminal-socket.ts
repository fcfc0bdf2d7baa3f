/** What a socket tells; after `onClose` nothing follows. */
export interface TerminalSocketEvents {
  onMessage(bytes: Uint8Array): void
  /** `code` is that of RFC 6455; 1006 where the connection was lost or never made */
  onClose(code: number, reason: string): void
}

export interface TerminalSocket {
  send(bytes: Uint8Array<ArrayBuffer>): void
  /** Closes it; `onClose` follows when that is done. */
  close(): void
}

export type OpenTerminalSocket = (url: string, events: TerminalSocketEvents) => TerminalSocket

/** A WebSocket of the browser, or of Node where no credential has to be sent as a header. */
export const openWebSocket: OpenTerminalSocket = (url, events) => {
  const socket = new WebSocket(url)
  socket.binaryType = 'arraybuffer'
  socket.onmessage = ({ data }: { data: unknown }) => {
    if (data instanceof ArrayBuffer) events.onMessage(new Uint8Array(data))
  }
  socket.onclose = ({ code, reason }) => events.onClose(code, reason)
  return {
    send(bytes) {
      // One that is closing takes nothing more; `onClose` is on its way.
      if (socket.readyState === WebSocket.OPEN) socket.send(bytes)
    },
    close: () => socket.close(),
  }
}
