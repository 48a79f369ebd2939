#!/bin/sh
# Runs the package on a clean Debian, in a root that debootstrap makes:
#   sh tools/platforms.sh bookworm|trixie|sid [demo] [test] [check]     (default: all three)
# The root contains the committed files and what tools/install.sh installs from the packages of
# that release. The last lines show result, CPU seconds and wall seconds of each part.
#
# FALLIBLE_ROOT is an absolute path where the root is made and kept; one that exists is used again.
# FALLIBLE_MIRROR is the mirror of Debian (default: the mirror of this machine's apt).
# Exits with 77 for users other than root, and without debootstrap.
set -eu
cd "$(dirname "$0")/.."
release=${1-}
[ $# = 0 ] || shift
[ $# != 0 ] || set -- demo test check
for argument in "$release" "$@"; do
  case $argument in
    bookworm | trixie | sid | demo | test | check) ;;
    *) release= ;;
  esac
done
case $release in
  bookworm | trixie | sid) ;;
  *) echo "usage: sh tools/platforms.sh bookworm|trixie|sid [demo] [test] [check]" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || { echo "skipped: only root can make a root" >&2; exit 77; }
command -v debootstrap >/dev/null || { echo "skipped: debootstrap is missing" >&2; exit 77; }

tmp=$(mktemp -d)
child=
# A namespace ends with its first process, and its mounts with it: nothing of this machine is
# mounted in the root when the root is removed.
trap '[ -z "$child" ] || kill -KILL "$child" 2>/dev/null || true; wait; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
root=${FALLIBLE_ROOT:-$tmp/root}

# Runs a command in namespaces for mounts and processes. Traps wait for a foreground command, but
# not for `wait`.
contained() {
  unshare --mount --pid --fork --kill-child "$@" &
  child=$!
  code=0
  wait "$child" || code=$?
  child=
  return "$code"
}

# Runs a command in silence; its output is shown only when it fails.
quietly() {
  "$@" >"$tmp/log" 2>&1 || { cat "$tmp/log" >&2; exit 1; }
}

# Runs a script, which is an argument, in the folder of the package in the root.
inside() {
  # shellcheck disable=SC2016 # for the inner shells
  contained sh -c '
    mount -t proc proc "$1/proc" && mount -t sysfs sysfs "$1/sys" &&
      mount -t tmpfs -o mode=1777 tmpfs "$1/dev/shm" || exit
    # A whole session must end with its shell, also services that it has started.
    chroot "$1" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb \
      ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
      sh -c "cd /root/fallible && $2"
  ' inside "$root" "$1"
}

if [ ! -e "$root/etc/debian_version" ]; then
  # shellcheck disable=SC2016 # apt's variables
  mirror=${FALLIBLE_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' \
    'Created-By: Packages' 'Label: Debian' | head -n 1)}
  echo "Making a root of $release"
  quietly contained debootstrap --variant=minbase "$release" "$root" "$mirror"
fi
# The index of sid is valid for a week only, and a mirror may be older.
{
  apt-config dump | grep -iE '^Acquire::(https?::|Check-)' || true
  echo 'Acquire::Check-Valid-Until "false";'
} >"$root/etc/apt/apt.conf.d/99machine"
rm -rf "$root/root/fallible"
mkdir -p "$root/root/fallible"
git archive HEAD | tar -x -C "$root/root/fallible"

# Without the network of CRAN's incoming checks and without LaTeX. The flags are those of CRAN;
# Debian's -g makes objects so large that the check notes it.
check='sh tools/install.sh check &&
  printf "CXX17FLAGS = -O2 -Wall -pedantic\n" >/root/Makevars &&
  export R_MAKEVARS_USER=/root/Makevars MAKEFLAGS="-j$(getconf _NPROCESSORS_ONLN)" LANG=C.UTF-8 \
    _R_CHECK_CRAN_INCOMING_=FALSE _R_CHECK_SYSTEM_CLOCK_=0 &&
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
  inside "($script); code=\$?; times >/root/times; exit \$code" >"$tmp/$part" 2>&1 || result=failed
  wall=$(($(date +%s) - begun))
  cat "$tmp/$part"
  [ $result = passed ] || failed=1
  # "1m2.5s 0m0.5s": user and system seconds of the children.
  cpu=$(tail -n 1 "$root/root/times" | awk -F '[ms ]+' '{ printf "%.0f", 60 * $1 + $2 + 60 * $3 + $4 }')
  counts=$(grep -E '^([0-9]+ passed, .*|Status: .*)$' "$tmp/$part" | tail -n 1)
  printf '%-6s %s, %s CPU s, %s s%s\n' "$part" $result "$cpu" "$wall" "${counts:+, $counts}" >>"$tmp/summary"
done
echo "== $release, $(inside 'R --version | head -n 1; c++ --version | head -n 1' | paste -sd ' ')"
cat "$tmp/summary"
[ "$failed" = 0 ]
