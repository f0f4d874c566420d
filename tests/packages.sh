#!/usr/bin/env bash
# Makes the packages and tries each in a bare Debian 12, a minimal root of its own; the .tar.gz and the wheel in Debian 13,
# too, and the wheel in Ubuntu 22.04:  bash tests/packages.sh [DISTDIR]
#
# The .deb, the .tar.gz with its own libraries, and the wheel are written to DISTDIR (build/dist); with the CUDA back
# end where nvcc is found, or where CUDACXX names one. Takes some 10 minutes, with nvcc half an hour at first. Needs root,
# debootstrap and mirrors of Debian and Ubuntu; where one is missing it says so and fails. Pictures of the windows lie in
# build/packages/tried.
set -euo pipefail
cd "$(dirname "$0")/.."
source app/setup.sh
source tests/packages/root.sh
dist=$(realpath -m "${1:-build/dist}")

require_roots
install_packages "${build_packages[@]}" "${run_packages[@]}" dpkg-dev file gzip python3-venv xvfb
cuda=OFF
compiler=(${CUDACXX:+-DCMAKE_CUDA_COMPILER="$CUDACXX"})
[ -n "${CUDACXX:-}" ] || command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] && cuda=ON
echo "== the program, CUDA back end $cuda"
cmake --preset packages -DFOVEA_CUDA=$cuda "${compiler[@]}" --log-level=NOTICE >/dev/null
build packages
tree=fovea-$(sed -n 's/^project(fovea VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)-linux-$(uname -m)

echo "== the packages"
rm -rf "$dist" && mkdir -p "$dist"
(cd build/packages && rm -rf _CPack_Packages && cpack -B "$dist" && rm -rf "$dist/_CPack_Packages")
scratch=build/packages/wheel
rm -rf $scratch && mkdir -p $scratch
tar -x -C $scratch -f "$dist/$tree.tar.gz"
cp -r app/python $scratch/python
python3 -m venv $scratch/venv
$scratch/venv/bin/pip install -q --upgrade setuptools wheel auditwheel  # which knows what systems have
FOVEA_TREE=$PWD/$scratch/$tree $scratch/venv/bin/pip wheel -q --no-deps --no-build-isolation -w "$dist" $scratch/python
(cd "$dist" && du -h --apparent-size -- *)

# One binary for machines with and without a GPU: the driver is no dependency, it is looked for when the program runs.
echo "== no library of CUDA is needed"
for binary in build/packages/bin/fovea $scratch/$tree/bin/fovea; do
  ! readelf -d $binary | grep -iE 'NEEDED.*(cuda|nvidia|nvrtc|cublas|curand)'
  [ $cuda = OFF ] || grep -q 'libcuda\.so\.1' $binary
done
! dpkg-deb -f "$dist"/fovea_*.deb Depends Recommends Pre-Depends | grep -iE 'cuda|libnvidia'

echo "== protections against faults in memory"
for binary in build/packages/bin/fovea $scratch/$tree/bin/fovea; do
  bash tests/install/hardening.sh $binary release
done

tried=$PWD/build/packages/tried
rm -rf "$tried" && mkdir -p "$tried"
remove_roots
packages=(deb-bookworm tree-bookworm wheel-bookworm tree-trixie wheel-trixie wheel-jammy)
for package in "${packages[@]}"; do
  echo "== $package"
  kind=${package%-*} suite=${package#*-}
  [ -d "$roots/$suite" ] || make_base "$suite"
  make_root "$package" "$suite"
  cp "$dist"/* "$roots/$package/srv/"
  cp tests/packages/try_*.sh "$roots/$package/srv/"
  in_root "$package" bash "/srv/try_$kind.sh"
  cp "$roots/$package"/tmp/tried/heads.* "$tried/" && mv "$tried/heads.png" "$tried/$package-heads.png"
done

echo "== from the sources, the Python package stays pure, and the sources as they are"
rm -rf $scratch/venv $scratch/python && cp -r app/python $scratch/python && python3 -m venv $scratch/venv
find $scratch/python | sort >$scratch/before
$scratch/venv/bin/pip install -q $scratch/python
find $scratch/python | sort | diff $scratch/before -
(cd / && "$OLDPWD/$scratch/venv/bin/python" -c 'import fovea; print(fovea.__version__)')
[ ! -e $scratch/venv/bin/fovea ]
[ -z "$(find $scratch/venv -path '*fovea/program/*')" ]

echo "== windows"
for package in "${packages[@]}"; do
  show_window "$package" "$tried/$package-window.png"
done

echo "== removed"
in_root deb-bookworm bash /srv/try_removal.sh
remove_roots
echo "fovea: all packages work: $dist"
