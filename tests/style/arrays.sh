#!/usr/bin/env bash
# Checks that kernels have no arrays of arrays of objects. In code for devices nvcc 13.0 initialises only the first array
# of such a local variable. A struct that holds the inner array is initialised. (Names of classes begin with a capital
# letter, and `Index` is a number.)
set -euo pipefail
cd "$(dirname "$0")/../.."
before='(const |constexpr |static |volatile |typename |alignas\([^)]*\) ?|\[\[\w+\]\] ?)*'
type='(::)?([A-Za-z_]\w*(<[^;={}]*>)?::)*(?!Index\b)[A-Z]\w*(<[^;={}]*>)?( const)?'
pattern="^ +$before$type "'([^;{}]*, *)?\w+ ?\[[^;={}]*\] ?\[[^;={}]*[;,{=]'
examples=("  RunningSum sums[2][3];" "  const PairSums a[rows(2)][columns(3)] = {};" "  Tile::Sum one(2), all[2][3];"
  "  static typename Tile<4>::Sum a [2][3];"
  "  alignas(16) fovea::Fragment<4> a[2][2]{};")
for example in "${examples[@]}"; do
  grep -qP "$pattern" <<<"$example" || { echo "the pattern of this check does not match its example: $example"; exit 1; }
done
status=0
found=$(grep -rnP "$pattern" --include='*.cu' --include='*.cuh' --include='*.h' kernels) || status=$?
[ $status = 1 ] && exit  # nothing was found
[ $status = 0 ] || { echo "grep -P failed with status $status"; exit 1; }
echo "arrays of arrays of objects; expected an array of structs that hold one:"
echo "$found"
exit 1
