# Sourced by tests/packages.sh: bare roots of Debian and Ubuntu, in build/package-roots, and what is run in them. Each
# command has mounts of its own, so that none remains, however it ends.
roots=$PWD/build/package-roots

fail() {
  echo "fovea: packages cannot be tried: $*" >&2
  exit 1
}

require_roots() {
  [ "$(id -u)" -eq 0 ] || fail "a change of root needs the rights of root"
  command -v debootstrap >/dev/null || fail "debootstrap is not installed (apt-get install debootstrap)"
  unshare --mount true 2>/dev/null || fail "this system does not allow a mount namespace"
  mirror=$(grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
    head -1 | tr -d ' ' || true)
  mirror=${mirror:-http://deb.debian.org/debian}
}

remove_roots() { rm -rf --one-file-system "$roots"; }

# make_base SUITE: the root that those of this suite are copies of, with what this machine needs to reach the network.
make_base() {
  local base=$roots/$1 from=$mirror components=main
  # Ubuntu's venv for Python is not in its main component. Without Ubuntu's keyring its signature is not checked.
  [ "$1" != jammy ] || from=http://archive.ubuntu.com/ubuntu components=main,universe
  mkdir -p "$base"
  # In mounts of its own: debootstrap may leave /proc behind in the root, which would then be copied.
  unshare --mount --propagation private \
    debootstrap --variant=minbase --include=ca-certificates --components=$components "$1" "$base" "$from" >"$base.log" ||
    { tail -n 20 "$base.log" >&2; fail "debootstrap has failed"; }
  cp -f /etc/resolv.conf "$base/etc/"
  grep -ls '^Acquire' /etc/apt/apt.conf.d/* | xargs -r cp -t "$base/etc/apt/apt.conf.d"
}

# make_root NAME SUITE
make_root() {
  rm -rf --one-file-system "${roots:?}/$1"
  cp -a --one-file-system "$roots/$2" "$roots/$1"
}

# in_root NAME COMMAND...: with nothing of this machine's environment but its proxies, and $DISPLAY if given.
in_root() {
  local root=$roots/$1 proxies
  shift
  mapfile -t proxies < <(env | grep -i '_proxy=' || true)
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp/home DEBIAN_FRONTEND=noninteractive \
    ${display:+DISPLAY=$display} "${proxies[@]}" \
    unshare --mount --propagation private --fork --kill-child sh -c \
    'mount --bind /proc "$0/proc" && mount --bind /dev "$0/dev" && exec chroot "$0" "$@"' "$root" "$@"
}

# show_window NAME PICTURE: opens the window in a root, on a screen of this machine, and keeps a picture of it.
show_window() {
  local folder screen program
  folder=$(mktemp -d)
  mkfifo "$folder/number"
  Xvfb -displayfd 3 -ac -nolisten tcp -fbdir "$folder" -screen 0 1664x1040x24 3<>"$folder/number" 2>"$folder/log" &
  screen=$!
  read -r -t 30 display <"$folder/number" || fail "Xvfb does not start: $(cat "$folder/log")"
  display=:$display in_root "$1" bash /srv/try_window.sh >"$folder/window.log" 2>&1 &
  program=$!
  for ((second = 0; second < 150; ++second)); do
    sleep 1
    kill -0 $program 2>/dev/null || break
    python3 tests/packages/picture.py "$folder/Xvfb_screen0" "$2" 2000 >/dev/null 2>&1 && ((second >= 15)) && break
  done
  kill $program 2>/dev/null || true
  wait $program 2>/dev/null || true
  python3 tests/packages/picture.py "$folder/Xvfb_screen0" "$2" 2000 ||
    { cat "$folder/window.log" >&2; kill $screen; fail "no window is seen"; }
  kill $screen && wait $screen 2>/dev/null || true
  rm -rf "$folder"
}
