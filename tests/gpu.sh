#!/usr/bin/env bash
# Builds the CUDA back end without Qt, tests it on this machine's GPU, measures it, and writes
# tests/gpu/results/DEVICE.json:
#
#   bash tests/gpu.sh            # all steps; those that an earlier call has ended are not repeated
#   bash tests/gpu.sh --quick    # the first steps: about eight minutes, and what is to be built
#   bash tests/gpu.sh NAME...    # these steps, and what is to be built
#   bash tests/gpu.sh --list     # the steps, in their order, and how long each may take
#   bash tests/gpu.sh --build 90 # needs no GPU: builds for compute capability 9.0, into build/gpu/programs
#
# Where a GPU is lent by the minute, build beforehand: FOVEA_PROGRAMS names a folder of programs that --build
# made on another machine, with the same CUDA and no newer C library; they are taken instead of built.
# Needs CMake, nvcc, a C++20 compiler and the headers of Eigen and doctest: installed, or in folders
# named by FOVEA_EIGEN_HEADERS (holds Eigen/Dense) and FOVEA_DOCTEST_HEADERS (holds doctest/doctest.h).
# FOVEA_COMMIT names the commit if there is no repository, FOVEA_RESULTS another folder for the
# results, FOVEA_BUILD another folder than build/gpu to build in, FOVEA_SECONDS the time limit for one
# call (530), FOVEA_PROGRAM a folder with bin/fovea, as its .tar.gz unpacks, to be tried too. Beside
# DEVICE.json lie logs.txt, with what every step has said, and the reports of ncu. On a bare machine,
# such as one that is lent for half an hour, bring both folders of headers along, and let FOVEA_RESULTS
# be the folder that comes back from it. kernels/gpu_clean_root.sh tries without a GPU whether all is
# built there.
# A step that fails or runs out of time does not keep the others from running, and the results are
# written after every step. Another call repeats what was not configured, not built or skipped, what
# ran out of time with twice the time, after all other steps, and all steps when sources, headers,
# nvcc, device or driver have changed.
# Exit status: 0 all passed, 77 no GPU, 75 no time was left for some steps: call it again; 1 some
# failed, which the last lines name; 2 the call is wrong, or headers are missing.
set -uo pipefail
export LC_ALL=C  # times have a point
for folder in FOVEA_PROGRAMS FOVEA_PROGRAM FOVEA_RESULTS FOVEA_BUILD; do  # of the folder where it is called
  [ -z "${!folder:-}" ] || declare -x "$folder=$(realpath -m "${!folder}")"
done
cd "$(dirname "$0")/.." || exit 1

began=$SECONDS
limit=${FOVEA_SECONDS:-530}
folder=${FOVEA_BUILD:-$PWD/build/gpu}
steps=$folder/steps
results=${FOVEA_RESULTS:-$PWD/tests/gpu/results}
[ -x /usr/local/cuda/bin/nvcc ] && PATH=$PATH:/usr/local/cuda/bin

left() { echo $((limit - (SECONDS - began))); }
say() { echo "[$((SECONDS - began)) s] $*"; }
status_of() { [ -f "$steps/$1.status" ] && printf '%s\n' "$(<"$steps/$1.status")"; }

# ---- What the steps do --------------------------------------------------------------------------
# Each runs in a shell of its own, which has these functions and $folder, $steps and $granted, its time limit.

set -a
built_before() { [ -n "${FOVEA_PROGRAMS:-}" ]; }
build() { built_before || cmake --build "$folder" -j "$(nproc)" --target "$@"; }
# Where the programs are.
bin() { if built_before; then echo "$FOVEA_PROGRAMS"; else echo "$folder/bin"; fi; }
# The library, if it is there.
library() {
  if built_before; then
    ls "$FOVEA_PROGRAMS/libfovea_bench.so" 2>/dev/null
  else
    find "$folder" -name libfovea_bench.so -not -path "$folder/programs/*" -print -quit
  fi
}
configure() {
  if built_before; then return; fi
  local architecture=${1:-} options
  [ -n "$architecture" ] ||
    architecture=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
  options=(-S . -B "$folder" -DCMAKE_BUILD_TYPE=Release -DFOVEA_APP=OFF -DFOVEA_CUDA=ON
    -DCMAKE_CUDA_ARCHITECTURES="$architecture-real")
  command -v ninja >/dev/null && options+=(-G Ninja)
  [ -n "${FOVEA_EIGEN_HEADERS:-}" ] && options+=(-DFOVEA_EIGEN_HEADERS="$FOVEA_EIGEN_HEADERS")
  [ -n "${FOVEA_DOCTEST_HEADERS:-}" ] && options+=(-DFOVEA_DOCTEST_HEADERS="$FOVEA_DOCTEST_HEADERS")
  cmake "${options[@]}" --log-level=WARNING
}
conformance() { "$(bin)/test_ptx_device" --no-colors; }
tests() { "$(bin)/test_kernels_device" --no-colors "$@"; }
few() { FOVEA_FEW_SHAPES=1 "$@"; }
without_wgmma() { FOVEA_WGMMA=0 "$@"; }

# cases NAME [FILTER]: every test case, in a process of its own, up to eight at a time, which share out the processors.
# cases-NAME.names has them all, cases-NAME.tsv a line of each (one_case); more or fewer that run are a failure.
cases() {
  local label=$1 filter=${2:-*} names=$steps/cases-$1.names listed ran most
  tests --list-test-cases --test-case="$filter" | grep -v -e '^\[doctest\]' -e '^===' >"$names" || return
  listed=$(wc -l <"$names")
  most=$(($(nproc) / 2))
  most=$((most < 1 ? 1 : most > 8 ? 8 : most))
  : >"$steps/cases-$label.tsv"
  sort -u "$names" | xargs -d '\n' -n 1 -P $most --process-slot-var=slot \
    bash -c 'one_case "$@"' one_case "$label" $(($(nproc) / most)) || true
  ran=$(awk -F '\t' '{ sum += $2 } END { print sum + 0 }' "$steps/cases-$label.tsv")
  echo "$ran of $listed cases ran; those that failed:"
  ! awk -F '\t' '$1 != 0 { print $4; failed = 1 } END { exit !failed }' "$steps/cases-$label.tsv" || return
  [ "$ran" = "$listed" ]
}
# one_case LABEL PROCESSORS NAME: adds its status, how many cases of this name ran, its seconds and its name.
one_case() {
  local output status=0 ran pinned=() began=${EPOCHREALTIME/./} first=$((slot * $2))
  command -v taskset >/dev/null && pinned=(taskset -c "$first-$((first + $2 - 1))")
  output=$("${pinned[@]}" "$(bin)/test_kernels_device" --no-colors --test-case="${3//[,*\\\"]/?}" 2>&1) || status=$?
  ran=$(sed -n 's/^\[doctest\] test cases: *\([0-9]*\).*/\1/p' <<<"$output")
  if [ $status = 77 ]; then status=0 ran=1; fi  # skipped, since this device has no such instructions
  [ $status = 0 ] || printf '%s\n' "==== $3: status $status" "$output"
  printf '%s\t%s\t%s\t%s\n' $status "${ran:-0}" $(((${EPOCHREALTIME/./} - began) / 1000))e-3 "$3" >>"$steps/cases-$1.tsv"
}

# Of the time of their step: what the programs have begun by then may take longer.
measuring_seconds() { echo $((granted * 2 / 3)); }
# measure NAME OPTION...: figures-NAME.json.
measure() {
  local name=$1
  shift
  "$(bin)/bench_kernels" --seconds "$(measuring_seconds)" --out "$steps/figures-$name.json" "$@"
}
# peers NAME OPTION...: peers-NAME.json; ours beside them where the library was built.
peers() {
  local name=$1 ours
  shift
  python3 -c 'from importlib.util import find_spec; assert find_spec("torch")' || { echo "no PyTorch"; return 66; }
  ours=$(library)
  python3 tests/bench/torch_peers.py --out "$steps/peers-$name.json" --seconds "$(measuring_seconds)" \
    ${ours:+--library "$ours"} "$@"
}
# ncu-PRECISION.ncu-rep of one launch of exact attention, 12 heads of 16384 tokens, and all of them in words in ncu.txt.
profile() {
  local ncu precision report missing=0
  ncu=$(command -v ncu) || { echo "no ncu"; return 66; }
  for precision in bf16 fp32-split fp32; do
    report=$steps/ncu-$precision.ncu-rep
    "$ncu" --clock-control none --set full -k regex:attend --launch-count 1 --kill yes -f -o "${report%.ncu-rep}" \
      "$(bin)/bench_kernels" --what exact --precisions $precision --lengths 16384 --heads 12 --causal no --rounds 1
    if [ -s "$report" ]; then
      echo "==== $precision" && "$ncu" --import "$report" --page details && "$ncu" --import "$report" --page source --csv
    else
      missing=1
    fi
  done >"$steps/ncu.txt" 2>&1
  grep -v '^"' "$steps/ncu.txt" | head -400
  return $missing
}
# The programs ablation_*, each of which prints results as lines of JSON.
ablation() {
  local program found=0 status failed=0
  for program in "$(bin)"/ablation_*; do
    if [[ ${program##*/} == *.* || ! -f $program ]]; then continue; fi
    found=1 status=0
    "$program" >"$steps/ablation-${program##*/}.jsonl" || status=$?
    cat "$steps/ablation-${program##*/}.jsonl"
    [ $status = 0 ] || { echo "${program##*/}: status $status" && failed=1; }
  done
  [ $found = 1 ] || { echo "there are no programs ablation_*"; return 66; }
  return $failed
}
check_memory() {
  local checker tool=$1
  checker=$(command -v compute-sanitizer) || { echo "no compute-sanitizer"; return 66; }
  FOVEA_FEW_SHAPES=1 "$checker" --tool "$tool" --error-exitcode 99 "$(bin)/test_kernels_device" --no-colors \
    --test-case="$2"
}
# The program itself, as installed, with settings of its own, for no more than $at_most seconds where that is set.
program() {
  [ -n "${FOVEA_PROGRAM:-}" ] || { echo "FOVEA_PROGRAM names no folder of the program"; return 66; }
  mkdir -p -m 700 "$steps/home"
  HOME=$steps/home XDG_RUNTIME_DIR=$steps/home QT_QPA_PLATFORM=offscreen \
    ${at_most:+timeout --foreground -k 2 $at_most} "$FOVEA_PROGRAM/bin/fovea" "$@"
}
program_self_test() {
  local finding
  finding=$(program self-test --precision "$1") || { status=$?; echo "$finding"; return $status; }
  echo "$finding"
  grep -q '"finding": *""' <<<"$finding"
}
program_compute() { program compute 'synthetic:clusters?n=4096&d=64' --backend cuda --variant "$1"; }
program_render() {
  program render 'synthetic:clusters?n=131072&d=64' --backend cuda --variant exact --view heatmap -o "$steps/render.png"
}
# For twelve seconds: that it is still there then is what passes.
program_window() {
  local status=0
  at_most=12 program 'synthetic:clusters?n=16384&d=64' || status=$?
  if [ $status = 124 ]; then return 0; fi
  return $((status == 0 ? 1 : status))
}
set +a

programs=(test_ptx_device test_kernels_device bench_kernels)
commit_here() { git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown; }
# build_for ARCHITECTURE: all programs, without debug information, and their commit into $folder/programs.
build_for() {
  local made=$folder/programs
  unset FOVEA_PROGRAMS
  rm -rf "$made"
  mkdir -p "$made" && configure "$1" && build "${programs[@]}" fovea_bench &&
    cp "${programs[@]/#/$folder/bin/}" "$(library)" "$made" &&
    (cd "$made" && strip "${programs[@]}" libfovea_bench.so) &&
    echo "${FOVEA_COMMIT:-$(commit_here)}" >"$made/commit" || return 1
  say "built for $1: $made"
}

# ---- The steps, those first that say most about a new device: NAME SECONDS NEEDS COMMAND... --------

short="--spread .01 --causal no"
no_flex="--no-flex --what exact --precisions bf16 --d 64,128 --spread .01"
plan=(
  "configure            60  -                    configure"
  "build-conformance    60  configure            build test_ptx_device"
  "conformance           6  build-conformance    conformance"
  "build-kernels       240  configure            build fovea_kernels"
  "build-tests         120  build-kernels        build test_kernels_device"
  "build-benchmark      60  build-kernels        build bench_kernels"
  "build-library        30  build-kernels        build fovea_bench"
  "self-test            12  build-tests          few tests --test-case=the?self-test*"
  "laws-few-shapes      20  build-tests          few cases laws-few-shapes law:*,cuda:?causal?features*"
  "laws                 84  build-tests          cases laws"
  "laws-mma             23  build-tests          without_wgmma cases laws-mma tensor*"
  "ablation             45  -                    ablation"
  "timings-16k          30  build-benchmark      measure timings-16k $short --what exact,hyper,h1d --lengths 16384 --heads 12"
  "timings-16k-128      10  build-benchmark      measure timings-16k-128 $short --what exact --precisions bf16 --d 128 --lengths 16384 --heads 12"
  "timings-4k           12  build-benchmark      measure timings-4k $short --what exact,hyper,h1d --lengths 4096 --heads 12"
  "timings-131k-1       22  build-benchmark      measure timings-131k-1 $short --what exact,hyper,h1d --lengths 131072 --heads 1"
  "timings-131k         14  build-benchmark      measure timings-131k $short --what exact --precisions bf16 --lengths 131072 --heads 12"
  "timings-maps         20  build-benchmark      measure timings-maps --spread .01 --only maps --lengths 131072"
  "program-self-test     8  -                    program_self_test fp32"
  "program-devices      10  -                    program info --devices"
  "program-exact         5  -                    program_compute exact"
  "program-h1d           5  -                    program_compute h1d"
  "program-hyper         5  -                    program_compute hyper"
  "program-tf            5  -                    program_compute tf"
  "program-render        7  -                    program_render"
  "program-window       14  -                    program_window"
  "peers                45  -                    peers peers $no_flex --lengths 16384,4096"
  "races                20  build-tests          check_memory racecheck few?warpgroups*,query?tiles:?a?key*"
  "barriers             10  build-tests          check_memory synccheck few?warpgroups*,query?tiles:?a?key*"
  "profile              48  build-benchmark      profile"
  "the-rest              0  -                    true"
  "attention-16k        70  build-benchmark      measure attention-16k --only attention --lengths 16384 --heads 12"
  "attention-4k         40  build-benchmark      measure attention-4k --only attention --lengths 4096 --heads 12"
  "attention-131k-1     60  build-benchmark      measure attention-131k-1 --only attention --lengths 131072 --heads 1"
  "attention-131k      150  build-benchmark      measure attention-131k --only attention --lengths 131072 --heads 12"
  "peers-flex          220  -                    peers peers-flex --lengths 16384,4096"
  "memory-races         90  build-tests          check_memory racecheck cuda:*"
  "memory              120  build-tests          check_memory memcheck cuda:*"
  "attention-16k-mma    60  build-benchmark      without_wgmma measure attention-16k-mma --only attention --lengths 16384 --heads 12"
  "maps                 60  build-benchmark      measure maps --only maps --lengths 16384"
  "peers-long          300  -                    peers peers-long --lengths 131072,65536"
  "attention-others    200  build-benchmark      measure attention-others --only attention --lengths 65536,16384,4096 --heads 1"
  "attention-65k       120  build-benchmark      measure attention-65k --only attention --lengths 65536 --heads 12"
)

case ${1:-} in
  --list) printf '%s\n' "${plan[@]}" | grep -v '^the-rest'; exit 0 ;;
  --build)
    [[ ${2:-} =~ ^[0-9]+$ ]] || { echo "gpu.sh: --build needs a compute capability without its point: 90 for 9.0"; exit 2; }
    ;;
  "" | --quick) [ $# -le 1 ] || { echo "gpu.sh: --quick takes no names of steps"; exit 2; } ;;
  -*) echo "gpu.sh: unknown option $1; expected --quick, --build, --list or names of steps"; exit 2 ;;
  *)
    for name in "$@"; do
      printf '%s\n' "${plan[@]}" | grep -q "^$name " && continue
      echo "gpu.sh: there is no step $name; --list shows all of them"
      exit 2
    done
    ;;
esac
# Whether a step is among those that the call names, if it names any.
chosen() { [[ ${named:-} == "" || $1 == configure || $1 == build-* || " $named " == *" $1 "* ]]; }
named=$*
[[ $named == -* ]] && named=

# require_headers FILE VARIABLE FOLDER...: the folder that the variable names, or else one of the others, holds the file.
require_headers() {
  local file=$1 variable=$2 folder
  shift 2
  for folder in "${!variable:-$@}"; do [ -e "$folder/$file" ] && return; done
  echo "gpu.sh: $file is not in ${!variable:-$*}; install it, or let $variable name the folder that holds $file"
  return 1
}
headers() {
  require_headers Eigen/Dense FOVEA_EIGEN_HEADERS /usr/include/eigen3 /usr/local/include/eigen3 &&
    require_headers doctest/doctest.h FOVEA_DOCTEST_HEADERS /usr/include /usr/local/include
}
if [ "${1:-}" = --build ]; then
  headers || exit 2
  build_for "$2"
  exit
fi
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
  echo "gpu.sh: no GPU here"
  exit 77
fi
if built_before; then
  for name in "${programs[@]}" libfovea_bench.so commit; do
    [ -s "$FOVEA_PROGRAMS/$name" ] && continue
    echo "gpu.sh: FOVEA_PROGRAMS=$FOVEA_PROGRAMS has no $name; expected a folder that gpu.sh --build has written"
    exit 2
  done
  runnable=("${programs[@]/#/$FOVEA_PROGRAMS/}")
  for name in "$FOVEA_PROGRAMS"/ablation_*; do [ -f "$name" ] && runnable+=("$name"); done
else
  runnable=()
  headers || exit 2
fi
[ -z "${FOVEA_PROGRAM:-}" ] || runnable+=("$FOVEA_PROGRAM/bin/fovea")
for name in "${runnable[@]}"; do  # some ways of copying forget that they are programs
  [ -x "$name" ] || chmod +x "$name" || { echo "gpu.sh: $name cannot be run; make it executable"; exit 2; }
done

device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
FOVEA_DRIVER=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
FOVEA_COMMIT=${FOVEA_COMMIT:-$(if built_before; then cat "$FOVEA_PROGRAMS/commit"; else commit_here; fi)}
export FOVEA_DRIVER FOVEA_COMMIT
say "$device, driver $FOVEA_DRIVER, commit $FOVEA_COMMIT"

# What an earlier call has left counts for the same sources, tools and device.
mkdir -p "$steps" "$results"
key="$(find CMakeLists.txt core kernels tests -type f ! -path "tests/gpu/*" ! -path "*/__pycache__/*" | sort | xargs -d '\n' cat | cksum)
$device, $FOVEA_DRIVER
Eigen: ${FOVEA_EIGEN_HEADERS:-installed}, doctest: ${FOVEA_DOCTEST_HEADERS:-installed}
the program: $([ -z "${FOVEA_PROGRAM:-}" ] || cksum "$FOVEA_PROGRAM/bin/fovea")
$(if built_before; then cksum "$FOVEA_PROGRAMS"/*; else nvcc --version 2>&1; fi)"
if [ "$(cat "$steps/key" 2>/dev/null)" != "$key" ]; then
  rm -rf "$steps"
  mkdir -p "$steps"
  echo "$key" >"$steps/key"
fi
# What may go otherwise with the same sources is not kept.
for name in $(printf '%s\n' "${plan[@]}" | cut -d' ' -f1); do
  case "$name: $(status_of "$name")" in
    configure:*failed* | build*:*failed* | *": failed: needs "* | *": skipped"*) rm "$steps/$name.status" ;;
  esac
done
file=$(echo "$device" | tr '[:upper:] ' '[:lower:]-' | tr -cd 'a-z0-9.-')

most_bytes=15000000  # of a file beside the results

# The results, what the steps have said, and the reports of ncu.
write_results() {
  local each
  for each in $(printf '%s\n' "${plan[@]}" | cut -d' ' -f1); do
    [ -f "$steps/$each.log" ] && echo "==== $each: $(status_of "$each")" && tail -c 400000 "$steps/$each.log"
  done | head -c $most_bytes >"$results/logs.txt"
  for each in "$steps"/ncu*.{txt,ncu-rep}; do
    [ -s "$each" ] && [ "$(wc -c <"$each")" -le $most_bytes ] && cp "$each" "$results"
  done
  command -v python3 >/dev/null || return 0
  python3 tests/bench/merge_results.py "$steps" >"$results/$file.json.new" &&
    mv "$results/$file.json.new" "$results/$file.json"
}

# Clocks, power and what slows the device down, five times a second as long as the steps run, into load.csv.
sample_load() {
  local by_line=() asked=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,utilization.gpu
  asked+=,clocks_throttle_reasons.active
  nvidia-smi -i 0 --query-gpu=clocks.max.sm,clocks.max.mem,power.limit --format=csv,noheader,nounits >"$steps/limits.csv"
  command -v stdbuf >/dev/null && by_line=(stdbuf -oL)
  "${by_line[@]}" nvidia-smi -i 0 --query-gpu="$asked" --format=csv,noheader,nounits -lms 200 \
    >>"$steps/load.csv" 2>/dev/null &
  trap "kill $! 2>/dev/null" EXIT
}

# keep_more FILE STATUS: what was measured before (FILE.before) stays where more was than now, and now something went
# wrong.
keep_more() {
  [ -f "$1.before" ] || return 0
  if [ "$2" != 0 ] && [ "$(wc -c <"$1.before")" -gt "$(wc -c <"$1")" ]; then mv "$1.before" "$1"; fi
  rm -f "$1.before"
}

# step AGAIN NAME SECONDS NEEDS COMMAND...; AGAIN: yes for what ran out of time, and what needs it.
step() {
  local again=$1 name=$2 seconds=$3 needs=$4 status=0 rest measured
  shift 4
  case $(status_of "$name") in
    "") ;;
    "time was up"* | "failed: needs "*) [ "$again" = yes ] || return ;;
    *) return ;;
  esac
  [ -f "$steps/$name.seconds" ] && seconds=$(cat "$steps/$name.seconds")
  if [ "$needs" != - ] && [[ "$(status_of "$needs")" != passed* ]]; then
    [ -n "$(status_of "$needs")" ] && echo "failed: needs $needs" >"$steps/$name.status"
    return
  fi
  rest=$(left)
  if [ "$rest" -lt $((seconds < 20 ? seconds : 20)) ]; then return; fi
  local limited=
  if [ "$rest" -lt "$seconds" ]; then
    [[ $(status_of "$name") == "time was up"* ]] && return
    limited=yes seconds=$rest
  fi
  local start=$SECONDS since=$EPOCHREALTIME
  for measured in "$steps"/{figures,peers}-"$name".json; do
    [ -f "$measured" ] && cp "$measured" "$measured.before"
  done
  # In a process group of its own, so that nothing it started outlives it.
  folder=$folder steps=$steps granted=$seconds timeout -k 5 "$seconds" bash -uo pipefail -c '"$@"' step "$@" \
    >"$steps/$name.log" 2>&1 || status=$?
  echo "$name,$since,$EPOCHREALTIME" >>"$steps/times.csv"
  for measured in "$steps"/{figures,peers}-"$name".json; do keep_more "$measured" "$status"; done
  local took="$((SECONDS - start)) s"
  case $status in
    0) echo "passed in $took" >"$steps/$name.status" ;;
    66) echo "skipped: $(tail -1 "$steps/$name.log")" >"$steps/$name.status" ;;
    77) echo "failed: $(tail -1 "$steps/$name.log")" >"$steps/$name.status" ;;  # there is a GPU
    124 | 137) echo "time was up after $took" >"$steps/$name.status" ;;
    *) echo "failed ($status) after $took" >"$steps/$name.status" ;;
  esac
  say "$name: $(status_of "$name")"
  if [[ $status == 124 || $status == 137 ]]; then
    # It gets all of its time in the next call, or twice as much, but never most of a call.
    if [ -n "$limited" ]; then
      rm "$steps/$name.status"
    else
      local most=$((limit * 2 / 3 > seconds ? limit * 2 / 3 : seconds))
      echo $((2 * seconds < most ? 2 * seconds : most)) >"$steps/$name.seconds"
    fi
  fi
  case $(status_of "$name") in
    passed*) [[ $name == build* || $name == configure ]] || tail -12 "$steps/$name.log" ;;
    skipped*) ;;
    *) tail -40 "$steps/$name.log" ;;
  esac
  write_results
}

sample_load
wanted=()
for line in "${plan[@]}"; do
  if [[ $line == the-rest* ]]; then
    [ "${1:-}" = --quick ] && break
    continue
  fi
  if chosen "${line%% *}"; then wanted+=("$line"); fi
done
for again in no yes; do
  for line in "${wanted[@]}"; do
    read -r -a words <<<"$line"
    step "$again" "${words[@]}"
  done
done
say "wrote $results/$file.json"

# What became of the steps that were wanted.
failures=()
waiting=()
for line in "${wanted[@]}"; do
  name=${line%% *}
  case $(status_of "$name") in
    passed* | skipped*) ;;
    "") waiting+=("$name") ;;
    *) failures+=("$name") ;;
  esac
done
if [ ${#waiting[@]} -gt 0 ]; then say "no time was left for: ${waiting[*]}"; fi
if [ ${#failures[@]} -gt 0 ]; then
  say "FAILED: ${failures[*]}"
  exit 1
fi
[ ${#waiting[@]} -gt 0 ] && exit 75
say "all passed"
