#!/usr/bin/env bash
# Checks that kernels have no local arrays of arrays of objects: in code for devices nvcc 13.0 initialises the objects of
# the first array alone. A struct that holds the inner array is initialised. (`Index` is a number.)
set -euo pipefail
cd "$(dirname "$0")/../.."
found=$(grep -rnE '^ +(const )?[A-Z][A-Za-z0-9]*(<[^;=]*>)? [a-z_0-9]+\[[^]]*\]\[' --include='*.cu' --include='*.cuh' kernels |
  grep -v ' Index ' || true)
[ -z "$found" ] || { echo "arrays of arrays of objects; expected an array of structs that hold one:"; echo "$found"; exit 1; }
