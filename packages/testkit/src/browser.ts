import { access, constants } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Browser, chromium } from 'playwright-core'

/** Nothing that talks to the network on its own; `--no-sandbox` because tests also run as root in a container. */
const flags = [
  '--no-sandbox',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-quic',
  '--no-first-run',
]

/** Where distributions put Chromium, after the one that comes with npm. */
const installed = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Test files start together, and the first one may still unpack the browser when the second one tries to start it. */
const unpackAttempts = 4
const unpackWaitMs = 1_500

/**
 * Starts a headless Chromium: the one inside `@sparticuz/chromium`, else an installed one. Null where neither starts:
 * a test then skips and says so. Whoever starts it closes it.
 */
export async function launchBrowser(): Promise<Browser | null> {
  const reasons: string[] = []
  const packages = Array.from({ length: unpackAttempts }, () => packaged)
  for (const executable of [...packages, ...installed.map((path) => () => existing(path))]) {
    try {
      const executablePath = await executable()
      return await chromium.launch({ executablePath, args: flags, headless: true })
    } catch (error) {
      reasons.push(error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))
      if (executable === packaged) await sleep(unpackWaitMs)
    }
  }
  process.stderr.write(
    `No browser for the end-to-end tests:\n${reasons.map((each) => `  ${each}\n`).join('')}`,
  )
  return null
}

async function packaged(): Promise<string> {
  const { default: sparticuz } = await import('@sparticuz/chromium')
  return sparticuz.executablePath()
}

async function existing(path: string): Promise<string> {
  await access(path, constants.X_OK)
  return path
}
