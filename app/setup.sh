# Sourced by app/run.sh and tests/run.sh: the packages Fovea needs, named once, and their set-up.
# Everything here speaks on standard error; standard output belongs to the program.

build_packages=(
  g++ cmake ninja-build ccache pkg-config
  qt6-base-dev libqt6opengl6-dev qt6-svg-dev libgl-dev
  libeigen3-dev libimgui-dev libfreetype-dev libstb-dev nlohmann-json3-dev libcli11-dev libzip-dev
)
run_packages=(libgl1-mesa-dri qt6-image-formats-plugins fonts-dejavu-core)
test_packages=(doctest-dev xvfb xauth poppler-utils)

missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
  done
}

# install PACKAGE...: what is missing, from Debian's packages.
install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "fovea: this is no Debian; make sure that you have the equivalents of: $*" >&2
    return 0
  fi
  local missing as_root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "fovea: missing packages: ${missing[*]}" >&2
      echo "fovea: install them as root:  apt-get install ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "fovea: installing ${missing[*]}" >&2
  {
    "${as_root[@]}" apt-get update -q
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -q -y --no-install-recommends "${missing[@]}"
  } >&2 || { echo "fovea: apt-get could not install: ${missing[*]}" >&2; return 1; }
}

# build PRESET [TARGET...]: configures when needed, builds what changed. Configuring speaks only when
# it fails.
build() {
  local preset=$1 words
  shift
  {
    words=$(cmake --preset "$preset" --log-level=WARNING 2>&1) || { echo "$words"; return 1; }
    cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}
  } >&2
}
