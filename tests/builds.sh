#!/usr/bin/env bash
# Builds the program and all tests with each compiler, with and without CUDA, and the library without the program, for
# which neither Qt nor libzip is needed; warnings as errors:
#
#   bash tests/builds.sh [COMPILER[:CUDA[:APP]]...]
#
# CUDA and APP are ON or OFF; by default all of g++-12:ON g++-12:OFF g++-12:OFF:OFF clang++-14:ON clang++-14:OFF. A
# compiler that is not installed is skipped, and so is CUDA without nvcc. g++ compiles one source at a time, so that each
# one names what it includes; clang++ several at once, which takes a third of the time. Exit status: 0 all were built,
# 1 some failed, 77 some were skipped.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
skipped=0 failed=0
[ $# -gt 0 ] || set -- g++-12:ON g++-12:OFF g++-12:OFF:OFF clang++-14:ON clang++-14:OFF
for wanted in "$@"; do
  IFS=: read -r compiler cuda app <<<"$wanted"
  cuda=${cuda:-OFF} app=${app:-ON}
  if ! command -v "$compiler" >/dev/null; then
    echo "skipped $wanted: $compiler is not installed"
    skipped=1
    continue
  fi
  if [ $cuda = ON ] && ! command -v nvcc /usr/local/cuda/bin/nvcc >/dev/null; then
    echo "skipped $wanted: nvcc is not installed"
    skipped=1
    continue
  fi
  preset=dev
  [[ $compiler != clang* ]] || preset=tests
  folder=build/builds/$compiler-$cuda-$app
  mkdir -p "$folder"
  if cmake --preset $preset -B "$folder" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CUDA_HOST_COMPILER="$compiler" \
    -DFOVEA_CUDA="$cuda" -DCMAKE_CUDA_ARCHITECTURES=80 -DFOVEA_QUICK_TESTS=OFF \
    -DFOVEA_APP="$app" >"$folder/log" 2>&1 && cmake --build "$folder" -j "$(nproc)" -- -k 0 >>"$folder/log" 2>&1; then
    echo "built $wanted"
  else
    failed=1
    echo "FAILED $wanted; all of its output is in $folder/log:"
    grep -E 'error|FAILED|CMake Error' "$folder/log" | head -20
  fi
done
[ $failed = 0 ] || exit 1
[ $skipped = 0 ] || exit 77
