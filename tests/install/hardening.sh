#!/usr/bin/env bash
# Whether a program has the protections against faults in memory:  bash tests/install/hardening.sh PROGRAM [release]
# Those of the linker; for a release build those of the compiler, too.
set -euo pipefail
program=$1
missing=0
# has WHAT COMMAND...: WHAT is missing unless the command finds it.
has() {
  local what=$1
  shift
  "$@" >/dev/null || { echo "$program: no $what" >&2; missing=1; }
}
dynamic=$(readelf -dW "$program")
segments=$(readelf -lW "$program")
has "position-independent code" grep -q 'DYN (' <<<"$(readelf -hW "$program")"
has "segment that is read-only once it is linked (RELRO)" grep -q GNU_RELRO <<<"$segments"
has "linking before the start (BIND_NOW)" grep -qE 'BIND_NOW|FLAGS.*NOW' <<<"$dynamic"
has "stack without code" grep -qE 'GNU_STACK .* RW +0x' <<<"$segments"
if [ "${2:-}" = release ]; then
  symbols=$(nm -D --undefined-only "$program")
  has "stack protector" grep -q '__stack_chk_fail' <<<"$symbols"
  has "checked functions of the C library (_FORTIFY_SOURCE)" grep -qE '__(memcpy|memmove|read|snprintf|fdelt)_chk' <<<"$symbols"
  has "assertions of the standard library" grep -q '__glibcxx_assert_fail' <<<"$symbols"
  if [ "$(uname -m)" = x86_64 ]; then
    # Look at our own code, as the linker writes a note only if all libraries that are linked in have one. The program's first
    # instructions give the address of main to the C library: a stripped program has no name for it.
    entry=$(readelf -hW "$program" | sed -n 's/.*Entry point address: *//p')
    main=$(objdump -d --start-address="$entry" --stop-address=$((entry + 48)) "$program" |
      sed -n 's/.*,%rdi *# \([0-9a-f]*\).*/0x\1/p')
    has "control-flow protection" grep -q endbr64 <<<"$(objdump -d --start-address="$main" --stop-address=$((main + 4)) "$program")"
    readelf -nW "$program" | grep -o 'x86 feature: .*' || echo "$program: no note of control-flow protection"
  fi
fi
exit $missing
