#!/usr/bin/env bash
# Checks that no title of a test case holds a semicolon, at which CMake would cut it in two: neither half would run.
set -euo pipefail
cd "$(dirname "$0")/../.."
cut=$(grep -rPzoh --include='*.cpp' 'TEST_CASE\(\s*("[^"]*"\s*)*"[^"]*;[^"]*"' tests | tr '\0' '\n' || true)
[ -z "$cut" ] || { echo "titles with semicolons; expected commas or two cases:"; echo "$cut"; exit 1; }
