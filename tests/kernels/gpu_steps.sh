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
  *clocks.max*) echo "1980, 2619, 700.00" ;;
  *clocks.sm*)
    while sleep .2; do
      echo "$(date "+%Y/%m/%d %H:%M:%S.%3N"), 1965, 2619, 650.00, 41, 100, 0x0000000000000004"
    done
    ;;
  *driver*) echo 1.2 ;;
  *) echo "Stand-in 1" ;;
esac
END
# PyTorch is there if the file `torch` is; whatever else Python does it does.
real_python=$(command -v python3)
export real_python
stand_in python3 <<'END'
if [[ $1 == -c && $2 == *torch* ]]; then [ -f "$SCRATCH/torch" ]; exit; fi
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
# Test case `law: b, c` fails as long as the file `failing` is there, and `law: d` crashes as long as `crashing`
# is.
stand_in built <<'END'
call="${0##*/} $*"
echo "$call" >>"$SCRATCH/calls"
while [ $# -gt 1 ]; do
  if [ "$1" = --out ]; then echo '{"commit": "c", "figures": [{"what": "'"${2##*/}"'"}]}' >"$2"; fi
  shift
done
case "$call" in
  test_ptx_device*) echo "skipped: no driver"; exit 77 ;;
  *--list-test-cases*)
    echo "[doctest] listing all test case names"
    echo "==============================================================================="
    printf 'law: %s\n' a "b, c" d "of warpgroups"
    echo "==============================================================================="
    echo "[doctest] unskipped test cases passing the current filters: 4"
    ;;
  *--test-case=law:?of?warpgroups) echo "skipped: no instructions"; exit 77 ;;
  *"--test-case=law: b? c")
    echo "[doctest] test cases: 1 | 0 passed | 1 failed | 3 skipped"
    if [ -f "$SCRATCH/failing" ]; then echo "ERROR: 2 is not 1"; exit 1; fi
    ;;
  *"--test-case=law: d")
    if [ -f "$SCRATCH/crashing" ]; then kill -SEGV $$; fi
    echo "[doctest] test cases: 1 | 1 passed | 0 failed | 3 skipped"
    ;;
  *--test-case=*) echo "[doctest] test cases: 1 | 1 passed | 0 failed | 3 skipped" ;;
esac
END
stand_in compute-sanitizer <<'END'
echo "compute-sanitizer $*" >>"$SCRATCH/calls"
END
# A report of fp32 is too large to be brought back.
stand_in ncu <<'END'
echo "ncu $*" >>"$SCRATCH/calls"
[ "$1" = --import ] && echo "details of ${2##*/}" && exit
while [ $# -gt 1 ]; do
  if [ "$1" = -o ]; then echo report >"$2.ncu-rep"; [[ $2 == *fp32 ]] && truncate -s 20000000 "$2.ncu-rep"; fi
  shift
done
exit 9
END
# The step whose command the file `time-up` holds runs out of time at once, and leaves one figure if it measures.
real_timeout=$(command -v timeout)
export real_timeout
stand_in timeout <<'END'
if [[ -f $SCRATCH/time-up && "$*" == *" step $(cat "$SCRATCH/time-up")"* ]]; then
  echo "timeout $*" >>"$SCRATCH/calls"
  read -r what name <"$SCRATCH/time-up"
  [ $what = measure ] && echo '{"figures": [{"what": "one"}]}' >"$steps/figures-$name.json"
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

# What had less than all of its time, since that of the call was up, has it in the next call.
echo "measure timings-16k " >time-up
echo 1000 >"$FOVEA_BUILD/steps/timings-16k.seconds"
expect 1 --quick
said calls "cmake -S .*-DFOVEA_EIGEN_HEADERS=$scratch/headers -DFOVEA_DOCTEST_HEADERS=$scratch/headers"
said output "build-tests: failed"
said output "conformance: failed: skipped: no driver"
said output "FAILED: conformance build-tests self-test laws-few-shapes"
said output "no time was left for: timings-16k"
said calls "cmake --build .*--target fovea_bench"
said calls "ncu .* -k regex:attend .*bench_kernels .*--precisions fp32-split"
said "$result" '"step": "timings-16k", "what": "one"'  # what there was when the time was up
said "$result" '"power_w": 700'
[ -s "$FOVEA_RESULTS/ncu-bf16.ncu-rep" ] && [ ! -e "$FOVEA_RESULTS/ncu-fp32.ncu-rep" ]
said "$FOVEA_RESULTS/ncu.txt" "details of ncu-fp32.ncu-rep"
said "$FOVEA_RESULTS/logs.txt" "==== build-tests: failed"
said "$FOVEA_RESULTS/logs.txt" "error: no such header"

rm time-up
: >calls
expect 1 --quick
said calls "--build .*test_kernels_device"
silent calls "--build .*bench_kernels"
silent calls "ncu "
said calls "--seconds 3[45][0-9] .*--what exact,hyper,h1d --lengths 16384"
silent calls "--lengths 131072"
said "$result" "failed: needs build-tests"
said "$result" '"ablation": "skipped: there are no programs'
said "$result" '"program-exact": "skipped: FOVEA_PROGRAM names no folder'

: >calls
expect 1
silent calls "--what exact,hyper,h1d --lengths 16384"
said calls "65536"
said output "FAILED: conformance build-tests self-test laws-few-shapes laws laws-mma races barriers memory-races memory"
said "$result" '"peers": "skipped: no PyTorch'
said "$result" '"peers-long": "skipped: no PyTorch'

# With PyTorch and another nvcc: from the beginning.
touch torch
echo "release 2" >nvcc-version
: >calls
expect 1
said calls "torch_peers.py --out .*peers-peers.json --seconds 30 --library .*/libfovea_bench.so --no-flex .*--lengths 16384,4096"
said calls "--lengths 131072,65536"
said calls "--build .*bench_kernels"
said "$result" '"step": "peers", "what": "sdpa flash"'
said "$result" '"reason": "none such"'

# What runs out of time has twice as much in the next call, and again, but never most of a call; what it has measured
# by then is in the result, and more that was measured before stays.
rm "$FOVEA_BUILD/steps"/{timings-maps.status,figures-timings-maps.json}
echo "measure timings-maps " >time-up
: >calls
expect 1 --quick
said calls "timeout -k 5 20 .* step measure timings-maps "
said calls "timeout -k 5 40 .* step measure timings-maps "  # in the time that was left
said output "timings-maps: time was up"
said output "FAILED: .* timings-maps"
said "$result" '"what": "one"'
echo '{"figures": [{"what": "before"}, {"what": "and another"}]}' >"$FOVEA_BUILD/steps/figures-timings-maps.json"
echo 240 >"$FOVEA_BUILD/steps/timings-maps.seconds"
: >calls
expect 1 --quick
said calls "timeout -k 5 240 .* step measure timings-maps "
silent calls "--lengths 4096"
said "$result" '"what": "and another"'
: >calls
expect 1 --quick
said calls "timeout -k 5 353 .* step measure timings-maps "
rm time-up
: >calls
expect 1 --quick
said calls "bench_kernels --seconds 235 --out .*figures-timings-maps.json"
said "$result" '"timings-maps": "passed'

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
# The whole first part, with a case that fails and one that crashes, programs that fail, crash and take too long, and
# all that comes back.
printf '%s\n' '#!/usr/bin/env bash' "echo '{\"build\": \"as is\", \"ms\": 2.5}'" >build-before/programs/ablation_a
printf '%s\n' '#!/usr/bin/env bash' 'echo broken; exit 3' >build-before/programs/ablation_b
echo nothing >build-before/programs/ablation_a.cubin
mkdir -p program/bin
stand_in fovea <<'END'
echo "fovea $*" >>"$SCRATCH/calls"
case "$*" in
  self-test*) echo '{"finding":"","seconds":1.0}' ;;
  *h1d*) echo "fovea: no such thing" >&2; exit 4 ;;
  *hyper*) kill -SEGV $$ ;;
  synthetic*) exec sleep 60 ;;
esac
END
mv stand-ins/fovea program/bin
chmod -x build-before/programs/* program/bin/fovea
touch failing crashing
echo "program_compute exact" >time-up
: >calls
FOVEA_EIGEN_HEADERS=$scratch/none FOVEA_BUILD=build-there FOVEA_RESULTS=there FOVEA_PROGRAMS=build-before/programs \
  FOVEA_PROGRAM=program expect 1 --quick
result=$scratch/there/stand-in-1.json
said output "build-tests: passed"
said output "FAILED: conformance laws-few-shapes laws laws-mma ablation program-exact program-h1d program-hyper$"
silent calls "cmake"
said calls "test_kernels_device --no-colors --test-case=the"
said calls "torch_peers.py .*--library $scratch/build-before/programs/libfovea_bench.so"
said output "commit of-the-build"
said output "3 of 4 cases ran; those that failed:"
said "$result" '"step": "laws", "cases": 4, "ran": 3, "not_ended": \[\], "failed": \["law: b, c: status 1", "law: d: status 139"\]'
said "$result" '"program": "ablation_a", "build": "as is", "ms": 2.5'
said "$result" '"program": "ablation_b", "text": "broken"'
said "$result" '"step": "program-h1d", "status": "failed (4) after 0 s", "said": \["fovea: no such thing"\]'
said "$result" '"program-exact": "time was up'
said "$result" '"program-hyper": "failed (139)'
said "$result" '"program-window": "passed in 1'
said "$result" '"step": "program-window", "seconds": 1.*"sm_mhz": {"median": 1965.0.*"slowed_by": {"0x0000000000000004": 1.0}'
said "$result" '"barriers": "passed'
for part in limits peers figures load; do said "$result" "\"$part\": [[{]"; done
said there/logs.txt "ERROR: 2 is not 1"
[ "$(find there -type f | wc -l)" -le 8 ]
[ -z "$(find there -mindepth 1 ! -name '*[!A-Za-z0-9._-]*' -prune -o -print | grep -v '^there$')" ]
[ -z "$(pgrep -f "stand-ins/nvidia-smi.*-lms" || true)" ]  # nothing goes on
# Steps by their names.
expect 2 no-such-step
said output "there is no step no-such-step"
FOVEA_BUILD=build-named FOVEA_RESULTS=named FOVEA_PROGRAMS=build-before/programs expect 0 self-test
said output "self-test: passed"
silent output "laws"
seconds=$(bash "$root/tests/gpu.sh" --list | sed '/^attention-16k /,$d; /^configure\|^build-/d' | awk '{ sum += $2 } END { print sum }')
[ "$seconds" -le 480 ] || { echo "the first part may take $seconds s, beside what is built"; exit 1; }
echo "gpu.sh: all as expected"
