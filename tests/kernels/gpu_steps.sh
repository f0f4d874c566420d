#!/usr/bin/env bash
# ../gpu.sh with stand-ins for the GPU, CMake and everything that is built: what fails or takes too long
# leaves the rest, and another call goes on where the last one ended.
#   gpu_steps.sh SCRATCH
set -euo pipefail
command -v python3 >/dev/null || exit 77  # results are merged by it
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$1
rm -rf "$scratch"
mkdir -p "$scratch/stand-ins"
cd "$scratch"

stand_in() { { echo '#!/usr/bin/env bash'; cat; } >"stand-ins/$1" && chmod +x "stand-ins/$1"; }
stand_in nvidia-smi <<'END'
case "$*" in
  -L) echo "GPU 0: stand-in" ;;
  *compute_cap*) echo 9.0 ;;
  *clocks.sm*) echo "1980, 2619, 1980, 2619, 700.00, 41, 0x0000000000000000" ;;
  *driver*) echo 1.2 ;;
  *) echo "Stand-in 1" ;;
esac
END
# PyTorch is there if the file `torch` is; whatever else Python does it does.
real_python=$(command -v python3)
export real_python
stand_in python3 <<'END'
if [ "$1" = -c ]; then [ -f "$SCRATCH/torch" ]; exit; fi
if [[ $1 == *torch_peers.py ]]; then
  echo "$*" >>"$SCRATCH/calls"
  echo '{"torch": "t", "peers": [{"what": "sdpa flash"}], "refused_peers": [{"reason": "none such"}]}' >"$3"
  exit
fi
exec "$real_python" "$@"
END
# Building a target writes a program of that name; test_kernels_device does not build, and nothing is configured as long
# as the file `no-cmake` is there.
stand_in cmake <<'END'
echo "cmake $*" >>"$SCRATCH/calls"
case "$*" in
  -S*) [ ! -e "$SCRATCH/no-cmake" ] ;;
  *test_kernels_device*) echo "error: no such header"; exit 1 ;;
  *fovea_bench) mkdir -p "$FOVEA_BUILD/tests/kernels" && touch "$FOVEA_BUILD/tests/kernels/libfovea_bench.so" ;;
  *--build*) mkdir -p "$FOVEA_BUILD/bin" && cp "$SCRATCH/stand-ins/built" "$FOVEA_BUILD/bin/${*: -1}" ;;
esac
END
# The benchmark of 4096 tokens writes figures, and then hangs as long as the file `slow` is there.
stand_in built <<'END'
echo "${0##*/} $*" >>"$SCRATCH/calls"
while [ $# -gt 1 ]; do
  if [ "$1" = --out ]; then echo '{"commit": "c", "figures": [{"what": "'"${2##*/}"'"}]}' >"$2"; fi
  shift
done
if [[ ${0##*/} == test_ptx_device ]]; then echo "skipped: no driver"; exit 77; fi
if [[ $(tail -1 "$SCRATCH/calls") == *"--lengths 4096 --heads 12"* && -f "$SCRATCH/slow" ]]; then sleep 60; fi
END
stand_in compute-sanitizer <<'END'
exit 0
END
# The step whose command the file `time-up` holds runs out of time at once, and leaves one figure.
real_timeout=$(command -v timeout)
export real_timeout
stand_in timeout <<'END'
if [[ -f $SCRATCH/time-up && "$*" == *" step $(cat "$SCRATCH/time-up")"* ]]; then
  echo "timeout $*" >>"$SCRATCH/calls"
  echo '{"figures": [{"what": "one"}]}' >"$steps/figures-maps.json"
  exit 124
fi
exec "$real_timeout" "$@"
END
stand_in nvcc <<'END'
cat "$SCRATCH/nvcc-version"
END
echo "release 1" >nvcc-version
mkdir -p headers/Eigen headers/doctest
touch headers/Eigen/Dense headers/doctest/doctest.h
export SCRATCH=$scratch PATH=$scratch/stand-ins:$PATH FOVEA_BUILD=$scratch/build FOVEA_RESULTS=$scratch/results
export FOVEA_EIGEN_HEADERS=$scratch/headers FOVEA_DOCTEST_HEADERS=$scratch/headers
result=$FOVEA_RESULTS/stand-in-1.json

expect() { # STATUS, then what gpu.sh is called with
  local status=0
  bash "$root/tests/gpu.sh" "${@:2}" >output 2>&1 || status=$?
  if [ "$status" != "$1" ]; then
    cat output
    echo "gpu.sh ${*:2}: status $status, expected $1"
    exit 1
  fi
}
said() { grep -q -- "$2" "$1" || { cat "$1"; echo "not in $1: $2"; exit 1; }; }
silent() { if grep -q -- "$2" "$1"; then cat "$1"; echo "in $1: $2"; exit 1; fi; }

# Without the headers nothing is begun.
FOVEA_EIGEN_HEADERS=$scratch/none expect 2
said output "Eigen/Dense is not in $scratch/none; .* let FOVEA_EIGEN_HEADERS name"
FOVEA_DOCTEST_HEADERS=$scratch/none expect 2
said output "doctest/doctest.h is not in"
[ ! -e calls ] || { echo "a step was begun without headers"; exit 1; }

# What was not configured or built is tried again, with what needs it.
touch no-cmake
expect 1 --quick
said output "configure: failed"
said "$result" '"build-kernels": "failed: needs configure"'
silent calls "--build"
rm no-cmake

touch slow
# Of its 40 s there must be more than 20 left for attention-4k, and less than all.
FOVEA_SECONDS=39 expect 1 --quick
said calls "cmake -S .*-DFOVEA_EIGEN_HEADERS=$scratch/headers -DFOVEA_DOCTEST_HEADERS=$scratch/headers"
said output "build-tests: failed"
said output "conformance: failed: skipped: no driver"
said output "FAILED: conformance build-tests self-test laws-few-shapes"
said output "no time was left for: attention-4k"
said calls "cmake --build .*--target fovea_bench"
said calls "bench_kernels .*--lengths 16384"
said "$result" "figures-attention-16k"
said "$result" "figures-attention-4k"  # what there was when the time was up
said "$result" '"step": "attention-16k", "when": "after", "sm_mhz": 1980.0'

rm slow
: >calls
expect 1 --quick
said calls "--build .*test_kernels_device"
silent calls "--build .*bench_kernels"
silent calls "--lengths 16384 --heads 12"
said calls "--lengths 4096 --heads 12"
said calls "--lengths 131072 --heads 12"
silent calls "65536"
said "$result" "failed: needs build-tests"

: >calls
expect 1
silent calls "--lengths 4096 --heads 12"
said calls "65536"
said output "FAILED: conformance build-tests self-test laws-few-shapes laws laws-mma memory-races memory"
said "$result" '"peers": "skipped: no PyTorch'
said "$result" '"peers-long": "skipped: no PyTorch'

# With PyTorch and another nvcc: from the beginning.
touch torch
echo "release 2" >nvcc-version
: >calls
expect 1
said calls "torch_peers.py --out .*peers-peers.json --seconds 146 --lengths 16384,4096 --library .*/libfovea_bench.so"
said calls "--lengths 131072,65536"
said calls "--build .*bench_kernels"
said "$result" '"step": "peers", "when": "before"'
said "$result" '"what": "sdpa flash"'
said "$result" '"reason": "none such"'

# What runs out of time has twice as much in the next call, and again, but never most of a call; what it has measured
# by then is in the result, and more that was measured before stays.
rm "$FOVEA_BUILD/steps"/{maps.status,figures-maps.json}
echo "measure maps " >time-up
: >calls
expect 1 --quick
said calls "timeout -k 5 60 .* step measure maps "
said calls "timeout -k 5 120 .* step measure maps "  # in the time that was left
said output "maps: time was up"
said output "FAILED: .* maps"
said "$result" '"what": "one"'
echo '{"figures": [{"what": "before"}, {"what": "and another"}]}' >"$FOVEA_BUILD/steps/figures-maps.json"
: >calls
expect 1 --quick
said calls "timeout -k 5 240 .* step measure maps "
silent calls "--lengths 4096"
said "$result" '"what": "and another"'
: >calls
expect 1 --quick
said calls "timeout -k 5 353 .* step measure maps "
rm time-up
: >calls
expect 1 --quick
said calls "bench_kernels --seconds 235 --out .*figures-maps.json"
said "$result" '"maps": "passed'

# On a machine without a GPU the programs are built, and where there is one they are taken: without CMake, headers or
# nvcc.
expect 2 --build
said output "--build needs a compute capability"
: >calls
(stand_in cmake <<'END'
echo "cmake $*" >>"$SCRATCH/calls"
case "$*" in
  -S*) ;;
  *) mkdir -p "$FOVEA_BUILD/bin" "$FOVEA_BUILD/tests/kernels" && cd "$FOVEA_BUILD/bin" &&
     for name in test_ptx_device test_kernels_device bench_kernels ../tests/kernels/libfovea_bench.so; do
       cp "$SCRATCH/stand-ins/built" "$name"
     done ;;
esac
END
)
stand_in strip <<'END'
END
mv stand-ins/nvidia-smi hidden-nvidia-smi
mv stand-ins/strip hidden-strip
stand_in strip <<'END'
exit 3
END
FOVEA_BUILD=$scratch/build-before expect 1 --build 90
silent output "built for"
mv hidden-strip stand-ins/strip
FOVEA_COMMIT=of-the-build FOVEA_BUILD=$scratch/build-before FOVEA_PROGRAMS=$scratch/none expect 0 --build 90
said calls "-DCMAKE_CUDA_ARCHITECTURES=90-real"
said output "built for 90: $scratch/build-before/programs"
mv hidden-nvidia-smi stand-ins/nvidia-smi
stand_in cmake <<'END'
echo "cmake $*" >>"$SCRATCH/calls"
exit 1
END
said build-before/programs/commit "^of-the-build$"
for missing in libfovea_bench.so bench_kernels commit; do
  mv "build-before/programs/$missing" missing
  FOVEA_PROGRAMS=$scratch/build-before/programs expect 2
  said output "has no $missing; expected a folder that gpu.sh --build has written"
  mv missing "build-before/programs/$missing"
done
chmod -x build-before/programs/*
: >calls
FOVEA_EIGEN_HEADERS=$scratch/none FOVEA_BUILD=$scratch/build-there FOVEA_PROGRAMS=build-before/programs \
  expect 1 --quick
said output "build-tests: passed"
said output "FAILED: conformance$"  # which the stand-in says was skipped
silent calls "cmake"
said calls "test_kernels_device --no-colors --test-case=the"
said calls "torch_peers.py .*--library $scratch/build-before/programs/libfovea_bench.so"
said output "commit of-the-build"
echo "gpu.sh: all as expected"
