# Sourced by the scripts that build, such as app/run.sh and tests/run.sh: the packages that Fovea needs, their
# installation, and the build. All messages go to standard error; standard output belongs to the program.

build_packages=(
  g++ cmake ninja-build ccache pkg-config
  qt6-base-dev libqt6opengl6-dev qt6-svg-dev libgl-dev
  libeigen3-dev libimgui-dev libfreetype-dev libstb-dev nlohmann-json3-dev libcli11-dev libzip-dev libssl-dev libicu-dev
)
run_packages=(libgl1-mesa-dri qt6-image-formats-plugins fonts-dejavu-core)
test_packages=(doctest-dev xvfb xauth poppler-utils clang-format clang-tidy python3-numpy)
fuzz_packages=(clang-14 libclang-rt-14-dev)  # what only tests/fuzz/run.py needs

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

# show_status LINE: on a terminal it replaces the line before; elsewhere one line every half minute.
show_status() {
  if [ -t 2 ]; then
    printf '\r\033[K%.*s' "$(($(tput cols 2>/dev/null || echo 80) - 1))" "$1" >&2
  elif ((SECONDS >= next_status)); then
    echo "$1" >&2
    next_status=$((SECONDS + 30))
  fi
}
clear_status() { if [ -t 2 ]; then printf '\r\033[K' >&2; fi; }

# install_packages PACKAGE...: installs those that are missing from Debian's packages.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    cat >&2 <<EOF
fovea: This system does not use Debian's packages, so nothing was installed. Make sure that you have a C++20
fovea: compiler, CMake, Ninja, pkg-config, Qt 6.4 (base, OpenGL, SVG, image formats), OpenGL, Eigen 3.4,
fovea: Dear ImGui, FreeType, stb, nlohmann/json, CLI11, libzip, OpenSSL and ICU, with their headers. In Debian these are
fovea: $*
EOF
    return 0
  fi
  local missing as_root=() log step next_status=0
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "fovea: These packages are missing: ${missing[*]}" >&2
      echo "fovea: Install them as root:  apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "fovea: installing ${missing[*]}" >&2
  log=$(mktemp)
  # apt reports its progress as dlstatus:FILE:PERCENT:TEXT, then as pmstatus:PACKAGE:PERCENT:TEXT.
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive bash -c '
    apt-get update -q >&2 &&
      apt-get install -q -y --no-install-recommends -o APT::Status-Fd=3 "$@" 3>&1 >&2
  ' apt "${missing[@]}" 2>"$log" </dev/null | while IFS= read -r line; do
    [[ $line =~ ^(dl|pm)status:.*:([0-9]+)\.[0-9]+: ]] || continue
    step=installing
    [ "${BASH_REMATCH[1]}" = dl ] && step=downloading
    show_status "fovea: $step packages: ${BASH_REMATCH[2]} %"
  done || {
    clear_status
    cat "$log" >&2
    echo "fovea: apt-get could not install these packages: ${missing[*]}" >&2
    rm -f "$log"
    return 1
  }
  clear_status
  rm -f "$log"
}

# show_progress: Ninja's lines as one line with the time left; all others, such as a compiler's messages, as
# they are. Expects NINJA_STATUS="$ninja_status".
ninja_status='@%f %t %e@'
show_progress() {
  local line finished total elapsed left next_status=0
  while IFS= read -r line; do
    if [[ $line =~ ^@([0-9]+)\ ([0-9]+)\ ([0-9]+)[0-9.]*@ ]]; then
      finished=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]} elapsed=${BASH_REMATCH[3]}
      ((finished > 0)) || continue
      left=""
      if ((finished >= 5 && elapsed >= 5)); then
        left=$((elapsed * (total - finished) / finished))
        left=$(printf ', about %d:%02d left' $((left / 60)) $((left % 60)))
      fi
      show_status "fovea: building: step $finished of $total$left"
    elif [ "$line" != "ninja: no work to do." ]; then
      clear_status
      printf '%s\n' "$line" >&2
    fi
  done
  clear_status
}

# build PRESET [TARGET...]: configures and builds what has changed. Configuration prints its output only when
# it fails, or, the first time, what it decided.
build() {
  local preset=$1 output first=1
  shift
  [ -e "build/$preset/build.ninja" ] && first=0
  output=$(cmake --preset "$preset" --log-level=NOTICE 2>&1) || { echo "$output" >&2; return 1; }
  if [ $first = 1 ]; then grep '^fovea: ' <<<"$output" >&2 || true; fi
  NINJA_STATUS=$ninja_status cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"} 2>&1 | show_progress
}
