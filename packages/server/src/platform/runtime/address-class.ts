import { BlockList, isIP } from 'node:net'

/** Networks that are not the public internet, from the IANA special-purpose address registries, and multicast. */
const notPublic: readonly [network: string, prefix: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 3], // all below 2000::/3: unspecified, loopback, IPv4-mapped and -compatible, 64:ff9b:: translation
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4: an IPv4 address, any at all, in IPv6 clothes
  ['3fff::', 20],
  ['4000::', 2],
  ['8000::', 1], // unique local, link-local, site-local, multicast: everything above 2000::/3
]

/** Addresses of cloud metadata services outside the networks above; in them 169.254.169.254 and fd00:ec2::254 are. */
const metadata = ['168.63.129.16', '192.0.0.192'] as const

/**
 * A check that is true for an address of the public internet, and false for everything else and for what is not an
 * address. An IPv4 address written as IPv6 is not public: a resolver has no reason to give one.
 */
export function createPublicAddressCheck(): (address: string) => boolean {
  // One list for each family: a common one compares IPv4 addresses, as mapped, with the IPv6 networks too.
  const refused = { 4: new BlockList(), 6: new BlockList() }
  for (const [network, prefix] of notPublic) {
    if (network.includes(':')) refused[6].addSubnet(network, prefix, 'ipv6')
    else refused[4].addSubnet(network, prefix, 'ipv4')
  }
  for (const address of metadata) refused[4].addAddress(address)
  return (address) => {
    const version = isIP(address)
    if (version === 4) return !refused[4].check(address, 'ipv4')
    return version === 6 && !address.includes('%') && !refused[6].check(address, 'ipv6')
  }
}
