import { spawn } from '@lydell/node-pty'
import { WebSocketServer } from 'ws'

/** What the terminals of Atelier are compared with: one node-pty for each WebSocket, and nothing between them. */
const [directory = '.', ...command] = process.argv.slice(2)
const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
server.on('connection', (socket) => {
  const [file = '', ...args] = command
  const terminal = spawn(file, args, { cwd: directory, encoding: null })
  terminal.onData((data: string | Buffer) => socket.send(data))
  terminal.onExit(() => socket.close())
  socket.on('message', (data: Buffer) => terminal.write(data.toString()))
})
server.on('listening', () => {
  const address = server.address()
  if (typeof address === 'object' && address) console.log(`http://127.0.0.1:${address.port}`)
})
