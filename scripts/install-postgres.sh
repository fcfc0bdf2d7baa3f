#!/bin/sh
# Installs PostgreSQL with pgvector on Debian and its relatives, for the storage tests. Does nothing where both are there.
# Needs root. Debian 12 has no pgvector package, so there its source is taken from a newer suite of the archive that this
# machine already uses, and built against the installed server.
set -eu

# The newest installed server, e.g. /usr/lib/postgresql/15/bin; empty if there is none.
server_bin() {
  for server in /usr/lib/postgresql/*/bin/postgres; do
    if [ -x "$server" ]; then dirname "$server"; fi
  done | sort -V | tail -n 1
}

has_vector() {
  version=$(basename "$(dirname "$1")")
  [ -f "/usr/share/postgresql/$version/extension/vector.control" ] &&
    [ -f "/usr/lib/postgresql/$version/lib/vector.so" ]
}

# Sources of the suite `trixie`, in the format and from the place of this machine's own first entry.
newer_sources() {
  if [ -f /etc/apt/sources.list.d/debian.sources ]; then
    awk 'BEGIN { RS = ""; ORS = "\n\n" } NR == 1' /etc/apt/sources.list.d/debian.sources |
      sed -E 's/^Types: .*/Types: deb-src/; s/^Suites: .*/Suites: trixie/' > "$1/newer.sources"
    echo "$1/newer.sources"
  else
    awk '$1 == "deb" { $1 = "deb-src"; for (i = 2; i <= NF; i++) if ($i ~ /:\/\//) $(i + 1) = "trixie"; print; exit }' \
      /etc/apt/sources.list > "$1/newer.list"
    echo "$1/newer.list"
  fi
}

build_vector() {
  bin=$1
  version=$(basename "$(dirname "$bin")")
  apt-get install -y --no-install-recommends "postgresql-server-dev-$version" dpkg-dev make gcc libc6-dev
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/lists/partial"
  # apt drops its privileges for downloads.
  chmod 755 "$work"
  sources=$(newer_sources "$work")
  (
    cd "$work"
    set -- -o "Dir::Etc::sourcelist=$sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$work/lists"
    apt-get "$@" update
    apt-get "$@" source --download-only pgvector
    tar xzf pgvector_*.orig.tar.gz
    cd pgvector-*/
    # No flags of the build machine: the result must run on any machine that shares the image.
    make OPTFLAGS="" with_llvm=no PG_CONFIG="$bin/pg_config"
    make install with_llvm=no PG_CONFIG="$bin/pg_config"
  )
}

bin=$(server_bin)
if [ -n "$bin" ] && has_vector "$bin"; then
  echo "PostgreSQL with pgvector is installed: $bin"
  exit 0
fi

if ! command -v apt-get > /dev/null; then
  echo "This script knows Debian and its relatives only: install PostgreSQL 15 or newer and pgvector by hand." >&2
  exit 1
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "Run this script as root: it installs packages." >&2
  exit 1
fi

export DEBIAN_FRONTEND=noninteractive
apt-get update
if [ -z "$bin" ]; then
  apt-get install -y --no-install-recommends postgresql
  bin=$(server_bin)
fi
version=$(basename "$(dirname "$bin")")
if apt-cache show "postgresql-$version-pgvector" > /dev/null 2>&1; then
  apt-get install -y --no-install-recommends "postgresql-$version-pgvector"
else
  build_vector "$bin"
fi
has_vector "$bin"
echo "PostgreSQL with pgvector is installed: $bin"
