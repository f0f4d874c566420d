#!/usr/bin/env bash
# Checks that kernels have no arrays of arrays of objects: of a local one nvcc 13.0 initialises, in code for devices, only
# the first array. A struct that holds the inner array is initialised. (Names of classes begin with a capital letter, and
# `Index` is a number.)
set -euo pipefail
cd "$(dirname "$0")/../.."
found=$(grep -rnP '^ +(const )?([a-z_]+::)*(?!Index\b)[A-Z]\w*(<[^;=]*>)? ([^;(=]*, *)?\w+\[[^;=]*\]\[[^;=(]*[;,{=]' \
  --include='*.cu' --include='*.cuh' --include='*.h' kernels || true)
[ -z "$found" ] || { echo "arrays of arrays of objects; expected an array of structs that hold one:"; echo "$found"; exit 1; }
