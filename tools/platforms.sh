#!/bin/sh
# Runs the package on a clean Debian, in a root that debootstrap makes (up to 4 GB, in TMPDIR):
#   sh tools/platforms.sh bookworm|trixie|sid [demo] [test] [check]     (default: all three)
# The root contains the committed files and what tools/install.sh installs from the packages of that
# release. The last lines show result, CPU seconds and wall seconds of each part.
#
# FALLIBLE_ROOT is an absolute path where the root is made and kept; one that exists is used again.
# FALLIBLE_MIRROR is the mirror of Debian (default: the mirror of this machine's apt).
# Exits with 77 for users other than root, and without debootstrap.
set -eu
cd "$(dirname "$0")/.."
usage() {
  echo "usage: sh tools/platforms.sh bookworm|trixie|sid [demo] [test] [check]" >&2
  exit 2
}
release=${1-}
case $release in
  bookworm | trixie | sid) shift ;;
  *) usage ;;
esac
[ $# != 0 ] || set -- demo test check
for part; do
  case $part in demo | test | check) ;; *) usage ;; esac
done
[ "$(id -u)" = 0 ] || { echo "skipped: only root can run debootstrap and chroot" >&2; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped: debootstrap is missing" >&2; exit 77; }

tmp=$(mktemp -d)
root=${FALLIBLE_ROOT:-$tmp/root}
child=
trap '[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# Runs a command in a mount namespace and a process namespace. Both end with the command: no process
# of the root survives, and nothing is mounted where files are removed. In the background, because
# traps run during `wait`, but only after a foreground command.
contained() {
  unshare --mount --pid --fork --kill-child "$@" &
  child=$! code=0
  wait "$child" || code=$?
  child=
  return $code
}

# Runs a command. Its output is shown only if the command fails.
quietly() {
  "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
}

# Runs a script in the root, without the environment of this machine.
inside() {
  # shellcheck disable=SC2016 # for the inner shell
  contained sh -c '
    mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" &&
      mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit
    exec chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} sh -c "$2"
  ' inside "$root" "$1"
}

if [ ! -e "$root/etc/debian_version" ]; then
  echo "Making a root of $release"
  # shellcheck disable=SC2016 # a variable of apt
  mirror=${FALLIBLE_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' 'Label: Debian' | head -n 1)}
  quietly contained debootstrap --variant=minbase "$release" "$root" "$mirror"
fi
# The index of sid is valid for one week. Mirrors can be older.
{
  apt-config dump | grep -iE '^Acquire::(https?::|Check-)' || true
  echo 'Acquire::Check-Valid-Until "false";'
} >"$root/etc/apt/apt.conf.d/99machine"
rm -rf "$root/root/fallible"
mkdir -p "$root/root/fallible"
git archive HEAD | tar -x -C "$root/root/fallible"

# The check runs without the network (incoming checks, time) and without LaTeX. With Debian's flag
# -g, objects would be so large that the check reports a note. The package is compiled twice; ccache
# makes the second time fast.
# shellcheck disable=SC2016 # for the inner shell
check='sh tools/install.sh check && apt-get install -qq ccache >/dev/null || exit
  printf "CXX17 = ccache g++\nCXX17FLAGS = -O2 -Wall -pedantic\n" >/root/Makevars
  export R_MAKEVARS_USER=/root/Makevars CCACHE_NOHASHDIR=1 LANG=C.UTF-8 \
    MAKEFLAGS="-j$(getconf _NPROCESSORS_ONLN)" _R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_SYSTEM_CLOCK_=0
  cd .. && R CMD build fallible && R CMD check --as-cran --no-manual fallible_*.tar.gz &&
    grep -qx "Status: OK" fallible.Rcheck/00check.log'
failed=0
for part; do
  echo "== $release, $part"
  case $part in
    check) script=$check ;;
    *) script="sh tools/$part.sh" ;;
  esac
  begun=$(date +%s) result=passed
  rm -f "$root/root/code" "$root/root/cpu"
  inside "cd /root/fallible
    { ($script) 2>&1; echo \$? >/root/code; times >/root/cpu; } | tee /root/$part.log
    read -r code </root/code && exit \$code" || result=failed failed=1
  # In the second line of `times`, user and system time of the children: "1m2.5s 0m0.5s".
  cpu=$(awk -F '[ms ]+' 'NR == 2 { print int(60 * $1 + $2 + 60 * $3 + $4) }' "$root/root/cpu") || cpu='?'
  counts=$(grep -E '^([0-9]+ passed, |Status: )' "$root/root/$part.log" | tail -n 1)
  printf '%-5s %s: %s CPU s, %s s%s\n' "$part" $result "$cpu" $(($(date +%s) - begun)) \
    "${counts:+, $counts}" >>"$tmp/summary"
done
echo "== $release"
inside "R --version | head -n 1; c++ --version | head -n 1" || true
cat "$tmp/summary"
[ $failed = 0 ]
