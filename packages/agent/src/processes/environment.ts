import { existsSync } from 'node:fs'

/** Names the egress bridge's address goes under; which one a program reads is a matter of its age. */
const proxyNames = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy', 'ALL_PROXY', 'all_proxy']

/** The environment of everything the user runs: the agent's own, which holds no secret, and the way out if there is one. */
export function userEnvironment(
  own: NodeJS.ProcessEnv,
  proxyPort: number | undefined,
): Record<string, string> {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && name !== 'UV_THREADPOOL_SIZE') environment[name] = value
  }
  if (proxyPort === undefined) return environment
  for (const name of proxyNames) environment[name] = `http://127.0.0.1:${proxyPort}`
  environment.NO_PROXY = 'localhost,127.0.0.1,::1'
  environment.no_proxy = environment.NO_PROXY
  // Node reads the variables above only when told to.
  environment.NODE_USE_ENV_PROXY = '1'
  return environment
}

const shells = ['/bin/bash', '/usr/bin/bash', '/bin/sh'] as const

export function loginShell(environment: Record<string, string>): string {
  const wanted = environment.SHELL
  if (wanted?.startsWith('/') === true && existsSync(wanted)) return wanted
  return shells.find((shell) => existsSync(shell)) ?? '/bin/sh'
}
