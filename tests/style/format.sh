#!/usr/bin/env bash
# Checks that every source is formatted by .clang-format, and how its comments begin:  bash tests/style/format.sh [--fix]
# Versions of clang-format differ in details, so another one than Debian 12's (14) checks nothing: exit status 77.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(command -v clang-format-14 || command -v clang-format) ||
  { echo "skipped: clang-format is not installed"; exit 77; }
version=$("$program" --version | grep -oE 'version [0-9]+' | grep -oE '[0-9]+')
[ "$version" = 14 ] || { echo "skipped: clang-format 14 is needed, found version $version"; exit 77; }
action=(--dry-run -Werror)
[ "${1:-}" = --fix ] && action=(-i)
# CONTRIBUTING.md: comments begin with the noun or the verb.
if grep -rnE '//+ *<? *Of ' --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' core app kernels tests; then
  echo 'expected comments that begin with the noun or the verb, not with "Of"'
  exit 1
fi
find core app kernels tests -regex '.*\.\(cpp\|h\|cu\|cuh\)' -print0 | xargs -0 -P "$(nproc)" -n 40 "$program" "${action[@]}"
