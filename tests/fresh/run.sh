#!/usr/bin/env bash
# Runs the project in a bare Debian 12, a minimal root without any of its packages:
#
#   bash tests/fresh/run.sh          installs the packages and configures the presets (about 80 s)
#   bash tests/fresh/run.sh --all    runs both commands of the README to the end
#
# Needs root, debootstrap and a Debian mirror; exit status 77 and a reason where one of them is missing.
# The root lies in build/fresh-root. It is mounted into in a mount namespace of its own, so that no mount
# remains, however this script ends.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD/build/fresh-root

skip() {
  echo "skipped: $*"
  exit 77
}

if [ "${1:-}" != --inside ]; then
  [ "$(id -u)" -eq 0 ] || skip "a change of root needs the rights of root"
  command -v debootstrap >/dev/null || skip "debootstrap is not installed"
  unshare --mount true 2>/dev/null || skip "this system does not allow a mount namespace"
  mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
    head -1 | tr -d ' ' || true)
  mirror=${mirror:-http://deb.debian.org/debian}
  wget -q --tries=1 --timeout=15 -O /dev/null "$mirror/dists/bookworm/Release" || skip "$mirror cannot be reached"
  rm -rf --one-file-system "$root"
  trap 'rm -rf --one-file-system "$root"' EXIT
  mkdir -p "$root"
  unshare --mount --propagation private \
    debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$mirror" >"$root.log" ||
    { cat "$root.log"; exit 1; }
  unshare --mount --propagation private --fork --kill-child bash "$0" --inside "$@"
  exit
fi
shift

# What this machine needs to reach the network, its root needs as well.
cp -f /etc/resolv.conf "$root/etc/"
grep -ls '^Acquire' /etc/apt/apt.conf.d/* | xargs -r cp -t "$root/etc/apt/apt.conf.d"
mapfile -t proxies < <(env | grep -i '_proxy=' || true)

mount --bind /proc "$root/proc"
mount --bind /dev "$root/dev"
mkdir -p "$root/srv/fovea"
tar -c --exclude=./build --exclude='./build-*' --exclude=./.git . | tar -x -C "$root/srv/fovea"

command='source app/setup.sh &&
  install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}" &&
  cmake --preset dev && cmake --preset tests && cmake --preset release'
[ "${1:-}" = --all ] && command='bash tests/run.sh && bash app/run.sh variants'
env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "${proxies[@]}" \
  chroot "$root" bash -o pipefail -c "cd /srv/fovea && $command"
