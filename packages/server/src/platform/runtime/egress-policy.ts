/** Hosts a workspace may reach where its owner has not said otherwise: package registries and code hosts. */
export const defaultEgressHosts: readonly string[] = [
  'registry.npmjs.org',
  'registry.yarnpkg.com',
  'pypi.org',
  'files.pythonhosted.org',
  'crates.io',
  'index.crates.io',
  'static.crates.io',
  'proxy.golang.org',
  'sum.golang.org',
  'repo.maven.apache.org',
  'rubygems.org',
  'github.com',
  'api.github.com',
  'codeload.github.com',
  'objects.githubusercontent.com',
  'raw.githubusercontent.com',
  'gitlab.com',
]

/** Where the list names no port: an allowed host is allowed as a web server, not as a mail relay. */
const webPorts = [80, 443] as const

const namePattern = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$/

export type EgressVerdict = { allowed: true; host: string; port: number } | { allowed: false; reason: string }

interface Rule {
  matches(name: string): boolean
  ports: readonly number[]
}

/**
 * Decides by name: `example.org` allows that host, `*.example.org` all below it, `example.org:8443` another port.
 * Addresses are never allowed. Throws TypeError for an entry that is none of these.
 */
export function createEgressPolicy(allow: readonly string[]): (host: string, port: number) => EgressVerdict {
  const rules = allow.map(readRule)
  return (host, port) => {
    // A name with a dot at the end is the same name.
    const name = host.toLowerCase().replace(/\.$/, '')
    if (!namePattern.test(name))
      return { allowed: false, reason: 'only host names are let out, no addresses' }
    const matching = rules.filter((rule) => rule.matches(name))
    if (matching.length === 0)
      return { allowed: false, reason: `${name} is not on the list of allowed hosts` }
    if (matching.some(({ ports }) => ports.includes(port))) return { allowed: true, host: name, port }
    return { allowed: false, reason: `port ${port} of ${name} is not on the list of allowed hosts` }
  }
}

function readRule(entry: string): Rule {
  const [, wildcard, name = '', port] = /^(\*\.)?([^:]*)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? []
  if (!namePattern.test(name)) throw new TypeError(`not a host name: ${entry}`)
  const ports = port === undefined ? webPorts : [Number(port)]
  if (wildcard === undefined) return { matches: (host) => host === name, ports }
  return { matches: (host) => host.endsWith(`.${name}`), ports }
}
