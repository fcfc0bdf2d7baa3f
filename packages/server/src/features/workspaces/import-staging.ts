import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../base/app-error.ts'
import { archiveFormats } from '../../platform/archive/detect-archive.ts'
import type { ReceivedFile } from '../../platform/archive/import-source.ts'
import { stagingAgeMilliseconds } from './workspace-limits.ts'

const planFile = 'plan.json'

/** Files flushed at once: a disk takes several flushes in the time of one. */
const flushesAtOnce = 16

/** How often leftovers are looked for, in milliseconds. */
const sweepMilliseconds = 30 * 60_000

/** What an accepted import will do, as kept beside its files. */
const StagedPlan = z.object({
  format: z.enum([...archiveFormats, 'files']),
  plan: z.object({
    root: z.string().nullable(),
    files: z.array(z.object({ index: z.number(), path: z.string(), bytes: z.number() })),
    directories: z.array(z.string()),
    skipped: z.array(z.object({ path: z.string(), reason: z.string() })),
    ignored: z.array(
      z.object({
        path: z.string(),
        files: z.number(),
        reason: z.enum(['version control', 'installed dependencies', 'tool cache', 'operating system']),
      }),
    ),
  }),
})
export type StagedPlan = z.infer<typeof StagedPlan>

/** Uploaded files that wait for their job: one directory a job, kept until it has ended. */
export interface ImportStaging extends AsyncDisposable {
  /** Takes over a form's directory. When it resolves, files and plan survive a crash of the machine. */
  keep(
    jobId: string,
    form: { directory: string; files: readonly ReceivedFile[] },
    plan: StagedPlan,
  ): Promise<void>
  /** Throws NOT_FOUND where the files are gone. */
  open(jobId: string): Promise<StagedPlan & { directory: string }>
  remove(jobId: string): Promise<void>
  /** Removes what crashed uploads and ended jobs left, now and from time to time. */
  start(): Promise<void>
}

export function createImportStaging(options: {
  /** where accepted imports wait */
  importsDirectory: string
  /** where the server receives forms; on the same file system */
  formsDirectory: string
  activeJobs(jobIds: readonly string[]): Promise<Set<string>>
  logger: { warn(fields: object, message: string): void }
}): ImportStaging {
  const { importsDirectory, formsDirectory, logger } = options
  const directoryOf = (jobId: string) => join(importsDirectory, jobId)
  let timer: NodeJS.Timeout | undefined

  async function sweep(): Promise<void> {
    const oldForms = await oldEntries(formsDirectory)
    const oldImports = await oldEntries(importsDirectory)
    const active = await options.activeJobs(oldImports)
    const leftovers = [
      ...oldForms.map((name) => join(formsDirectory, name)),
      ...oldImports.filter((jobId) => !active.has(jobId)).map(directoryOf),
    ]
    for (const path of leftovers) await rm(path, { recursive: true, force: true })
  }

  return {
    async keep(jobId, form, plan) {
      await mkdir(importsDirectory, { recursive: true, mode: 0o700 })
      const directory = directoryOf(jobId)
      await writeFile(join(form.directory, planFile), JSON.stringify(plan), { mode: 0o600, flag: 'wx' })
      const names = [planFile, ...form.files.map(({ path }) => basename(path))]
      await flushAll(names.map((name) => join(form.directory, name)))
      await flush(form.directory)
      await rename(form.directory, directory)
      await flush(importsDirectory)
    },
    async open(jobId) {
      const directory = directoryOf(jobId)
      try {
        const staged = StagedPlan.parse(JSON.parse(await readFile(join(directory, planFile), 'utf8')))
        return { ...staged, directory }
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        throw new AppError('NOT_FOUND', 'The uploaded files are no longer there; import them again', {
          cause: error,
        })
      }
    },
    remove: (jobId) => rm(directoryOf(jobId), { recursive: true, force: true }),
    async start() {
      await sweep()
      timer = setInterval(() => {
        sweep().catch((error: unknown) =>
          logger.warn({ err: error }, 'leftovers of uploads could not be removed'),
        )
      }, sweepMilliseconds)
      timer.unref()
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
    },
  }
}

/** What nothing has written to for longer than an upload may take: another process may share the directory. */
async function oldEntries(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const old: string[] = []
  for (const name of names) {
    const found = await stat(join(directory, name)).catch((error: NodeJS.ErrnoException) => {
      // Another sweep was faster.
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (found && Date.now() - found.mtimeMs > stagingAgeMilliseconds) old.push(name)
  }
  return old
}

async function flushAll(paths: readonly string[]): Promise<void> {
  const queue = paths.values()
  await Promise.all(
    Array.from({ length: flushesAtOnce }, async () => {
      for (const path of queue) await flush(path)
    }),
  )
}

async function flush(path: string): Promise<void> {
  await using file = await open(path, 'r')
  await file.sync()
}
