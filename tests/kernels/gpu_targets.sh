#!/usr/bin/env bash
# Which GPUs kernels/cuda.cmake compiles for, with stand-ins for nvcc and nvidia-smi.
#   gpu_targets.sh SCRATCH
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$1"
mkdir -p "$1"
cd "$1"
export PATH=$PWD:$PATH

cat >print.cmake <<'END'
cmake_minimum_required(VERSION 3.25)
set(CMAKE_CUDA_COMPILER nvcc)
include(${ROOT}/kernels/cuda.cmake)
execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${FOVEA_HAS_CUDA}: ${CMAKE_CUDA_ARCHITECTURES}")
END

# expect WHAT FOUND NVCC_KNOWS GPUS: with FOVEA_CUDA=WHAT FOUND is printed.
expect() {
  printf '#!/bin/sh\necho "%s"\n' "$3" >nvcc
  printf '#!/bin/sh\necho "%s"\n' "$4" >nvidia-smi
  chmod +x nvcc nvidia-smi
  local found
  found=$(cmake -DROOT="$root" -DFOVEA_CUDA="$1" -P print.cmake 2>/dev/null)
  [ "$found" = "$2" ] || { echo "$1 with $4, nvcc for $3: expected '$2', found '$found'"; exit 1; }
}

old="sm_75 sm_80 sm_86 sm_87 sm_89 sm_90"
new="$old sm_100 sm_101 sm_120"  # of CUDA 12.8
expect ON "ON: 75-real;80-real;86-real;89-real;90" "$old" ""
expect ON "ON: 75-real;80-real;86-real;89-real;90-real;100-real;120" "$new" ""
expect AUTO "ON: 86-real" "$new" 8.6
expect AUTO "ON: 120-real" "$new" 12.0
expect AUTO "ON: 120-real" "$new" 12.1  # code for 12.0 runs there
expect AUTO "ON: 100-real" "$new" 10.0
expect AUTO "ON: 121-real" "$new sm_121" 12.1
expect AUTO "ON: 90" "$old" 12.0
expect AUTO "ON: 90" "$new" 13.0
expect AUTO "ON: 75-real;120-real" "$new" "7.5
12.0
6.1"
expect AUTO "OFF: " "$new" 6.1
