#!/usr/bin/env bash
# Sets up, builds and runs Fovea:  bash app/run.sh [ARG...]  is  fovea ARG...
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source "$here/setup.sh"
(
  cd "$here/.."
  install_packages "${build_packages[@]}" "${run_packages[@]}"
  build release fovea
) >&2  # standard output is the program's
exec "$here/../build/release/bin/fovea" "$@"
