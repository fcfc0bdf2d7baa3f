import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ProbeAnswer, ProbeRequest } from '@atelier/contract/agent-probe'

type Result = ProbeAnswer[number]

/** Exceeds every limit on purpose. */
export async function probeLimits(request: ProbeRequest): Promise<Result[]> {
  const { limits, scratch } = request
  // Without a listener the signal that comes with the refusal would end the program.
  process.on('SIGXFSZ', () => undefined)
  return [
    fileSize(scratch, limits.fileBytes),
    await processCount(limits.processes),
    ...(limits.memoryBytes === null ? [] : [memory(limits.memoryBytes)]),
  ]
}

function result(name: string, held: boolean, detail: string): Result {
  return { name, kind: 'limit', held, detail: detail.slice(0, 500) }
}

function fileSize(directory: string, limit: number): Result {
  const path = join(directory, `probe-${process.pid}`)
  const descriptor = openSync(path, 'w')
  try {
    ftruncateSync(descriptor, limit)
    writeSync(descriptor, Buffer.alloc(4096), 0, 4096, limit)
    return result('file size', false, `a file grew over ${limit} bytes`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return result('file size', code === 'EFBIG', code)
  } finally {
    closeSync(descriptor)
    rmSync(path, { force: true })
  }
}

/** Starts sleepers until the kernel refuses one. */
async function processCount(limit: number): Promise<Result> {
  const sleepers = []
  try {
    for (let count = 0; count <= limit; count += 1) {
      const child = spawn('sleep', ['30'], { stdio: 'ignore' })
      const started = await new Promise<boolean>((resolve) =>
        child.once('spawn', () => resolve(true)).once('error', () => resolve(false)),
      )
      if (!started) return result('processes', true, `refused after ${count}`)
      sleepers.push(child)
    }
    return result('processes', false, `${limit} processes were started`)
  } finally {
    // Awaited: until they are reaped they count.
    await Promise.all(
      sleepers.map((sleeper) => {
        const ended = once(sleeper, 'exit')
        sleeper.kill('SIGKILL')
        return ended
      }),
    )
  }
}

/** A child takes more than is allowed, touching every page; the kernel must end it. */
function memory(limit: number): Result {
  const script = `const kept=[];for(let got=0;got<${limit};got+=8388608)kept.push(Buffer.alloc(8388608,1));process.exit(7)`
  const { status, signal } = spawnSync(process.execPath, ['-e', script], { stdio: 'ignore', timeout: 20_000 })
  return result('memory', status !== 7 && signal === 'SIGKILL', signal ?? `ended with ${status}`)
}
