#!/usr/bin/env bash
# Sets up, builds and runs every test:  bash tests/run.sh [CTEST-ARG...]
set -euo pipefail
cd "$(dirname "$0")/.."
source app/setup.sh
install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
build tests

options=()
[ -t 1 ] && options=(--progress)
# Runs one test more than there are processors, because many tests wait for timers or other programs.
if ! ctest --preset tests -j $(($(nproc) + 1)) --output-junit results.xml "${options[@]}" "$@"; then
  python3 tests/failures.py build/tests/results.xml >&2
  echo "fovea: some tests failed; they are listed above" >&2
  exit 1
fi
