#!/usr/bin/env bash
# Runs the checks of .clang-tidy over core/ and app/:  bash tests/style/tidy.sh [PATH-REGEX]
# Checks the sources of a unity build, because each header is then read only a few times: about 5 minutes of
# processor time instead of 20. Left out: core/backend/isa, whose vectors are those of GCC, and what Qt's moc has
# written. Exit status 77 where clang-tidy 14 is missing.
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$PWD/build/tidy
program=$(command -v clang-tidy-14 || command -v clang-tidy) || { echo "skipped: clang-tidy is not installed"; exit 77; }
version=$("$program" --version | grep -oE 'LLVM version [0-9]+' | grep -oE '[0-9]+')
[ "$version" = 14 ] || { echo "skipped: clang-tidy 14 is needed, found version $version"; exit 77; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Qt's generated sources are part of the unity sources; nothing else has to be built for the checks.
{
  cmake --preset release -B "$folder" -DFOVEA_CUDA=OFF -DCMAKE_AUTOGEN_ORIGIN_DEPENDS=OFF
  ninja -C "$folder" -t targets all | grep -oE '^[^ ]*_autogen:' | tr -d : | sort -u |
    xargs ninja -C "$folder"
} >"$log" 2>&1 || { cat "$log"; exit 1; }

mapfile -t sources < <(grep -oE '"file": "[^"]+"' "$folder/compile_commands.json" | cut -d'"' -f4 |
  grep -E "${1:-.}" | grep -v /fovea_cpu_ | sort -u)
# The output is the findings alone; clang's count of suppressed warnings is left out.
printf '%s\0' "${sources[@]}" | xargs -0 -P "$(nproc)" -n 1 "$program" -p "$folder" --quiet \
  --header-filter="^$PWD/(app|core|kernels)/" 2>/dev/null
