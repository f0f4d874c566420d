#!/usr/bin/env bash
# keep_resources.sh COMMAND... -o OBJECT...: runs nvcc, and keeps what `-Xptxas -v` says of each kernel
# in OBJECT.resources. Everything else that nvcc says is printed as ever.
set -uo pipefail
object=""
previous=""
for word in "$@"; do
  [ "$previous" = -o ] && object=$word
  previous=$word
done
said=${object:-$PWD/nvcc.$$}.said
trap 'rm -f "$said"' EXIT
status=0
"$@" -Xptxas -v 2>"$said" || status=$?
of_ptxas='^ptxas info|bytes stack frame, '
grep -vE "$of_ptxas" "$said" >&2
[ -n "$object" ] && grep -E "$of_ptxas|^ptxas warning" "$said" >"$object.resources"
exit $status
