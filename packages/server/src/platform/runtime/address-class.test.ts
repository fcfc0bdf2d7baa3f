import { describe, expect, it } from 'vitest'
import { createPublicAddressCheck } from './address-class.ts'

const isPublic = createPublicAddressCheck()

describe('addresses', () => {
  it.each(['1.1.1.1', '8.8.8.8', '140.82.121.4', '93.184.216.34', '2606:4700::1111', '2a00:1450:4001::2004'])(
    '[SBX16] %s is public',
    (address) => {
      expect(isPublic(address)).toBe(true)
    },
  )

  it.each([
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fc00::1', 'fec0::1']],
    ['link-local', ['169.254.0.1', 'fe80::1', 'fe80::1%eth0']],
    ['carrier-grade', ['100.64.0.1', '100.127.255.255']],
    ['multicast or reserved', ['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', 'ff02::1']],
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    [
      'a metadata service',
      ['169.254.169.254', 'fd00:ec2::254', '168.63.129.16', '192.0.0.192', '100.100.100.200'],
    ],
    [
      'IPv4 in disguise',
      [
        '::ffff:127.0.0.1',
        '::ffff:7f00:1',
        '::127.0.0.1',
        '::ffff:169.254.169.254',
        '64:ff9b::a9fe:a9fe',
        '2002:7f00:1::',
        '2001:0:7f00:1::',
        '::ffff:8.8.8.8',
      ],
    ],
    [
      'for documentation or tests',
      ['192.0.2.1', '198.51.100.1', '203.0.113.1', '198.18.0.1', '2001:db8::1', '3fff::1'],
    ],
    ['no address', ['', 'localhost', '1.2.3', '0x7f.1', '2130706433', '127.1', '1.1.1.1 ', '[::1]']],
  ])('[SBX16] what is %s is not public', (_name, addresses) => {
    expect(addresses.filter(isPublic)).toEqual([])
  })
})
