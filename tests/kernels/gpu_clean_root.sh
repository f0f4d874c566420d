#!/usr/bin/env bash
# Lets ../gpu.sh configure and build all that it builds with nothing in PATH but a C++ compiler, CMake
# and the CUDA toolkit in a folder of its own, and with the headers of Eigen and doctest in another,
# those that are installed out of sight: as on a machine that is lent. A stand-in says that there is a
# GPU of compute capability 9.0; the steps that need one fail, as they must. Takes many minutes, and
# is therefore no test.
#   gpu_clean_root.sh SCRATCH [TOOLKIT]
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
scratch=$(cd "$1" && pwd)
toolkit=${2:-/usr/local/cuda}
mkdir -p "$scratch"/{programs,headers,nothing}

for program in bash sh env cat cp mv rm mkdir ls ln head tail cut tr sort find xargs cksum grep sed awk date nproc \
  timeout wc realpath uname dirname basename g++ gcc c++ cc as ld ar ranlib nm objcopy cmake ninja make python3; do
  if real=$(command -v "$program"); then ln -sf "$real" "$scratch/programs/$program"; fi
done
cat >"$scratch/programs/nvidia-smi" <<'END'
#!/usr/bin/env bash
case "$*" in
  -L) echo "GPU 0: none" ;;
  *compute_cap*) echo 9.0 ;;
  *name*) echo "no GPU" ;;
  *) echo 0 ;;
esac
END
chmod +x "$scratch/programs/nvidia-smi"
eigen=${FOVEA_EIGEN_HEADERS:-/usr/include/eigen3}
doctest=${FOVEA_DOCTEST_HEADERS:-/usr/include}
cp -r "$eigen/Eigen" "$doctest/doctest" "$scratch/headers"

# What is installed is out of sight.
hide() {
  local folder
  for folder in /usr/include/{eigen3,doctest} /usr/{share/eigen3,share/cmake/eigen3,lib/cmake/doctest}; do
    if [ -d "$folder" ]; then mount --bind "$1" "$folder"; fi
  done
  exec "${@:2}"
}
export -f hide
apart=(unshare --mount)
[ "$(id -u)" = 0 ] || apart+=(--map-root-user)

built() {
  local step
  for step in configure build-conformance build-kernels build-tests build-benchmark build-library; do
    grep -q ^passed "$scratch/build/steps/$step.status" 2>/dev/null || return 1
  done
}
for call in 1 2 3 4 5 6; do  # a build that ran out of time goes on with twice as much
  echo "call $call of gpu.sh"
  "${apart[@]}" bash -euc 'hide "$@"' hide "$scratch/nothing" env -i HOME="$scratch" \
    PATH="$scratch/programs:$toolkit/bin" FOVEA_BUILD="$scratch/build" FOVEA_RESULTS="$scratch" FOVEA_SECONDS=3000 \
    FOVEA_EIGEN_HEADERS="$scratch/headers" FOVEA_DOCTEST_HEADERS="$scratch/headers" \
    bash "$root/tests/gpu.sh" --quick >"$scratch/output" 2>&1 || true
  if built; then
    echo "gpu.sh: everything is built"
    exit 0
  fi
  grep "^\[" "$scratch/output"
done
echo "gpu.sh: not everything could be built; see $scratch/output"
exit 1
