#!/bin/sh
# Puts a newer glibc beside the system's, on Debian and its relatives with x86-64, for the MongoDB engine of the tests: it
# needs 2.38, and Debian 12 has 2.36. Nothing of the system changes; only programs that are started with its loader use
# it. Does nothing where the system's own is new enough. Its argument is the folder, made if missing.
set -eu

folder=${1:?folder}
loader=$folder/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2

own=$(getconf GNU_LIBC_VERSION 2> /dev/null | awk '{ print $2 }')
if [ -n "$own" ] && [ "$(printf '%s\n2.38\n' "$own" | sort -V | head -n 1)" = 2.38 ]; then
  echo "glibc $own is new enough"
  exit 0
fi
if [ -x "$loader" ]; then
  echo "A newer glibc is installed: $folder"
  exit 0
fi
if ! command -v apt-get > /dev/null || [ "$(dpkg --print-architecture)" != amd64 ]; then
  echo "This script knows Debian and its relatives on x86-64 only." >&2
  exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial"
# apt drops its privileges for downloads.
chmod -R 755 "$work"
# Sources of the suite `trixie`, in the format and from the place of this machine's own first entry.
if [ -f /etc/apt/sources.list.d/debian.sources ]; then
  sources=$work/newer.sources
  awk 'BEGIN { RS = ""; ORS = "\n\n" } NR == 1' /etc/apt/sources.list.d/debian.sources |
    sed -E 's/^Types: .*/Types: deb/; s/^Suites: .*/Suites: trixie/' > "$sources"
else
  sources=$work/newer.list
  awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) $(i + 1) = "trixie"; print; exit }' \
    /etc/apt/sources.list > "$sources"
fi
cd "$work"
set -- -o "Dir::Etc::sourcelist=$sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
apt-get "$@" -qq update
apt-get "$@" -qq download libc6 libgcc-s1
for package in ./*.deb; do dpkg-deb -x "$package" "$work/root"; done
mkdir -p "$folder"
cp -a "$work/root/." "$folder/"
echo "A newer glibc is installed: $folder"
