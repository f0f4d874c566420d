#!/usr/bin/env bash
# Checks that a build of everything compiles every source: tests in a file that no CMakeLists.txt names would not run.
#   compiled.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
export LC_ALL=C  # lengths are of bytes
# What only nvcc compiles, or only clang for libFuzzer.
elsewhere='^(tests/kernels/(conformance|device_main|resources)/|tests/fuzz/target\.cpp$)'
prefix=$(sed 's/[^A-Za-z0-9_/]/./g' <<<"$PWD/")  # as a regular expression
sources=$(find core kernels app tests -name '*.cpp' -o -name '*.cu' | grep -vE "$elsewhere" | sort)
mapfile -t units < <(find "$build" -path '*/Unity/unity_*.cxx')
compiled=$(cat "$build/compile_commands.json" "${units[@]}" | grep -oE "$prefix[A-Za-z0-9_/.-]+\.(cpp|cu)\b" | cut -c $((${#PWD} + 2))- | sort -u)
missing=$(comm -23 <(echo "$sources") <(echo "$compiled"))
[ -z "$missing" ] && exit
echo "compiled by nothing; expected in the CMakeLists.txt of its folder:"
echo "$missing"
exit 1
