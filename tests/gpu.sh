#!/usr/bin/env bash
# Builds the CUDA back end without Qt, tests it on this machine's GPU, measures it, and writes
# tests/gpu/results/DEVICE.json:
#
#   bash tests/gpu.sh
#
# Needs CMake, nvcc, a C++20 compiler and the headers of Eigen and doctest: installed, or in folders
# named by FOVEA_EIGEN_HEADERS (holds Eigen/Dense) and FOVEA_DOCTEST_HEADERS (holds doctest/doctest.h).
# FOVEA_COMMIT names the commit if there is no repository, FOVEA_RESULTS another folder for the
# result, FOVEA_SECONDS the time limit for all of it (540). Everything is built in build/gpu.
# Exit status: 0 all passed, 77 no GPU; otherwise the last lines name what failed.
set -euo pipefail
cd "$(dirname "$0")/.."

began=$SECONDS
limit=${FOVEA_SECONDS:-540}
folder=$PWD/build/gpu
results=${FOVEA_RESULTS:-$PWD/tests/gpu/results}
[ -x /usr/local/cuda/bin/nvcc ] && PATH=$PATH:/usr/local/cuda/bin
failures=()

left() { echo $((limit - (SECONDS - began))); }
say() { echo "[$((SECONDS - began)) s] $*"; }

# within SECONDS COMMAND...: runs it no longer than that, nor than the time left for all of it.
within() {
  local most=$1 rest
  shift
  rest=$(left)
  [ "$rest" -lt 5 ] && { echo "no time left for: $*"; return 124; }
  timeout -k 5 "$((most < rest ? most : rest))" "$@"
}

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  echo "gpu.sh: no GPU here"
  exit 77
fi
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
FOVEA_DRIVER=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
FOVEA_COMMIT=${FOVEA_COMMIT:-$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)}
export FOVEA_DRIVER FOVEA_COMMIT
say "$device, driver $FOVEA_DRIVER, commit $FOVEA_COMMIT"

architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
configure=(-S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DFOVEA_APP=OFF -DFOVEA_CUDA=ON
  -DCMAKE_CUDA_ARCHITECTURES="$architecture-real")
command -v ninja >/dev/null && configure+=(-G Ninja)
[ -n "${FOVEA_EIGEN_HEADERS:-}" ] && configure+=(-DFOVEA_EIGEN_HEADERS="$FOVEA_EIGEN_HEADERS")
[ -n "${FOVEA_DOCTEST_HEADERS:-}" ] && configure+=(-DFOVEA_DOCTEST_HEADERS="$FOVEA_DOCTEST_HEADERS")
within 240 cmake "${configure[@]}" --log-level=WARNING
within 240 cmake --build "$folder" -j "$(nproc)" --target test_kernels_device bench_kernels >"$folder/build.log" 2>&1 ||
  { tail -40 "$folder/build.log"; echo "gpu.sh: the build failed"; exit 1; }
say "built"

tests=$folder/bin/test_kernels_device
if within 120 "$tests" --no-colors >"$folder/tests.log" 2>&1; then
  verdict=passed
else
  verdict="failed ($?)"
  failures+=("tests")
fi
tail -30 "$folder/tests.log"
say "tests $verdict"

# The memory checker, if it can use the device on this machine.
checked="not run"
checker=$(command -v compute-sanitizer || true)
probe=(--test-case="*every width*")
if [ -n "$checker" ] && FOVEA_FEW_SHAPES=1 within 60 "$checker" "$tests" "${probe[@]}" >"$folder/probe.log" 2>&1 ||
  grep -q "ERROR SUMMARY: [1-9]" "$folder/probe.log" 2>/dev/null; then
  checked=""
  for tool in memcheck racecheck; do
    status=0
    FOVEA_FEW_SHAPES=1 within 45 "$checker" --tool "$tool" --error-exitcode 99 "$tests" \
      --test-case="cuda: *" >"$folder/$tool.log" 2>&1 || status=$?
    case $status in
      0) checked+="$tool clean; " ;;
      124 | 137) checked+="$tool: time was up, nothing found; "
        grep -q "========= \(Invalid\|Error: Race\)" "$folder/$tool.log" && failures+=("$tool") ;;
      *) checked+="$tool: failed ($status); "
        failures+=("$tool")
        tail -30 "$folder/$tool.log" ;;
    esac
  done
fi
say "memory checker: $checked"

mkdir -p "$results"
name=$(echo "$device" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9.-')
figures=$folder/figures.json
# The time left, less a minute for the peers, the files and the end of the last round.
seconds=$(($(left) - 100))
[ "$seconds" -gt 170 ] && seconds=170
if [ "$seconds" -lt 20 ] ||
  ! within $((seconds + 60)) "$folder/bin/bench_kernels" --seconds "$seconds" --out "$figures"; then
  failures+=("benchmark")
fi
say "measured"

# Peers, if PyTorch is installed, each with its name.
peers=$folder/peers.json
rm -f "$peers"
if python3 -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null; then
  within 80 python3 tests/bench/torch_peers.py --out "$peers" --seconds $(($(left) - 10)) || say "peers stopped early"
fi
if [ -f "$figures" ]; then
  if command -v python3 >/dev/null; then
    python3 tests/bench/merge_results.py "$figures" "$peers" "$verdict" "$checked" >"$results/$name.json"
  else
    cp "$figures" "$results/$name.json"
  fi
  say "wrote $results/$name.json"
fi

if [ ${#failures[@]} -gt 0 ]; then
  say "FAILED: ${failures[*]}"
  exit 1
fi
say "all passed"
