#!/usr/bin/env bash
# Sets up, builds and runs every test:  bash tests/run.sh [CTEST-ARG...]
set -euo pipefail
cd "$(dirname "$0")/.."
source app/setup.sh
install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
build dev
# Some tests measure wall-clock times of a window on a machine that others may use: one second try.
ctest --preset dev --repeat until-pass:2 "$@"
