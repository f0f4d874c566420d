#!/usr/bin/env bash
# Sets up, builds and runs every test:  bash tests/run.sh [CTEST-ARG...]
set -euo pipefail
cd "$(dirname "$0")/.."
source app/setup.sh
install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
build tests

# Tests labelled "timing" measure wall-clock times, which another program can spoil: they get a second try.
failed=0
options=()
[ -t 1 ] && options=(--progress)
# Runs one test more than there are processors, because many tests wait for timers or other programs.
ctest --preset tests -j $(($(nproc) + 1)) "${options[@]}" -LE '^timing$' "$@" || failed=1
echo
echo "Tests that measure wall-clock times:"
ctest --preset tests "${options[@]}" -L '^timing$' --repeat until-pass:2 "$@" || failed=1
if [ $failed = 1 ]; then
  echo "fovea: some tests failed; they are listed above" >&2
  exit 1
fi
