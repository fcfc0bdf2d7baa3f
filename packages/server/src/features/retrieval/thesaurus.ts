import { lightStem } from './light-stem.ts'

/**
 * Words that programmers use for one another, one group a line, common abbreviations with their long forms. Written by hand
 * from general usage; a group is symmetric, but groups that share a word are not joined.
 */
const groups = `
retry again repeat reattempt attempt
delay wait sleep backoff pause timeout
timeout deadline expire
interval period timer schedule
remove delete drop discard clear erase prune purge strip evict unset
create make build construct generate new produce
get fetch retrieve obtain load acquire read
find search locate lookup
choose pick select decide
check validate verify ensure assert allow
compare equal match
combine merge join concat together
split divide separate partition
convert transform turn into to
parse decode deserialize read
write serialize encode stringify
cancel abort stop interrupt
kill terminate destroy stop
start begin init initialize launch open setup
end finish close complete done shutdown dispose
error exception failure fail throw
size length large big limit max bytes exceed
count number counter total increment inc
uri url link
host hostname server address
option setting config configuration preference
user account
password secret credential key
login authenticate auth signin
permission authorize access
encrypt cipher
hash digest checksum
message msg
request req
response res reply answer
context ctx
parameter param argument arg
directory dir folder
database db
document doc
identifier id
index idx
function fn func callback cb
temporary tmp temp
source src
destination dst dest target
previous prev last
current cur
asynchronous async
environment env
property prop field
element el
attribute attr
string str text
minimum min
maximum max
average avg mean
reference ref
expression expr
statement stmt
variable var
object obj
array arr list
buffer buf
connection conn socket
application app
package pkg
repository repo
image img
event evt
value val
utility util helper
concurrent parallel simultaneous concurrency
cache memo memoize
stale expire fresh ttl
random rand jitter
time timestamp date now
millisecond ms
second sec
similar similarity distance
guess detect infer sniff
type kind
secret sensitive redact mask censor
redirect follow
compress deflate gzip
escape sanitize quote
sort order rank
filter exclude ignore skip
latency rtt ping
heartbeat keepalive ping
throttle rate limit
broken invalid malformed corrupt
repair fix recover
grow expand resize increase
reduce shrink decrease
empty blank null
show display render draw print
width wide
height high
copy clone duplicate
same identical equal
lock mutex
prevent avoid block forbid deny protect
listen subscribe observe watch
send emit dispatch publish
receive accept incoming
default fallback
duplicate dedupe unique
nested deep recursive
wrap enclose
dependency dep
version ver
permission role
regular regex regexp pattern
partial incomplete truncate cut
mail email
english en
german de
french fr
spanish es
portuguese pt
dutch nl
swedish sv
danish da
polish pl
czech cs
ukrainian uk
russian ru
turkish tr
arabic ar
hebrew he
japanese ja
korean ko
chinese zh
upload send
download fetch
hide hidden invisible
enable activate
disable deactivate
update modify change set
compute calculate
execute run invoke call
`

export interface Thesaurus {
  /** Stems that may stand for a stem; none for most. */
  synonymsOf(stem: string): ReadonlySet<string>
}

const none: ReadonlySet<string> = new Set()

export function createThesaurus(): Thesaurus {
  const synonyms = new Map<string, Set<string>>()
  for (const line of groups.trim().split('\n')) {
    const stems = new Set(line.split(' ').map(lightStem))
    for (const stem of stems) {
      const own = synonyms.get(stem) ?? new Set()
      for (const other of stems) if (other !== stem) own.add(other)
      synonyms.set(stem, own)
    }
  }
  return { synonymsOf: (stem) => synonyms.get(stem) ?? none }
}
