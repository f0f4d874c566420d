#!/usr/bin/env bash
# Installs a build into a folder of its own:  bash tests/install/run.sh BUILD
# The files are those of files.txt, and the tree works where it is moved to. Commands that check what is installed are
# asked where this machine has them.
set -euo pipefail
build=$(realpath "$1")
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/first" >"$scratch/log" || { cat "$scratch/log"; exit 1; }
(cd "$scratch/first" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort) >"$scratch/files"
# The Python package is installed as it is in the sources.
(cat files.txt && cd ../../app/python && find fovea -name '*.py' | sed 's,^,share/fovea/python/,') | LC_ALL=C sort >"$scratch/expected"
diff "$scratch/expected" "$scratch/files" || { echo "expected the files of tests/install/files.txt and of app/python/fovea (<)"; exit 1; }
mv "$scratch/first" "$scratch/moved to"
tree="$scratch/moved to"

# From a folder, a link and an environment that know nothing of it.
ln -s "$tree/bin/fovea" "$scratch/link"
cd /
env -i "$scratch/link" --version | grep -q '^fovea '
env -i HOME="$scratch" "$scratch/link" paper column-spread --json >/dev/null  # of the captured heads
env -i HOME="$scratch" "$scratch/link" compute bundled:text --text "The cat sat." --variant exact >/dev/null

if command -v desktop-file-validate >/dev/null; then
  desktop-file-validate "$tree/share/applications/fovea.desktop"
fi
if command -v update-mime-database >/dev/null; then
  XDG_DATA_DIRS=$tree/share update-mime-database "$tree/share/mime"
  grep -q ':application/x-safetensors:\*.safetensors' "$tree/share/mime/globs2"
fi
if command -v man >/dev/null; then
  warnings=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -l "$tree/share/man/man1/fovea.1.gz" 2>&1 >/dev/null || true)
  [ -z "$warnings" ] || { echo "$warnings"; exit 1; }
fi

# Completion in bash, as a person meets it.
source "$tree/share/bash-completion/completions/fovea"
# completes EXPECTED WORD...: the last of which is not finished.
completes() {
  local expected=$1
  shift
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _fovea || true  # as no word fits
  [ "${COMPREPLY[*]}" = "$expected" ] || { echo "$*: '${COMPREPLY[*]}'; expected '$expected'"; exit 1; }
}
completes compute fovea comp
completes "cpu cuda" fovea compute --backend c
completes cuda fovea compute --backend = cu
completes neurips fovea render head.npz --preset neu
completes "" fovea info head
if command -v zsh >/dev/null; then zsh -n "$tree/share/zsh/site-functions/_fovea"; fi
if command -v fish >/dev/null; then fish -n "$tree/share/fish/vendor_completions.d/fovea.fish"; fi
