#!/usr/bin/env bash
# Checks that no code of the program measures or waits by the wall clock, which may be set back: times are of the steady
# clock. Only what a person reads, and names of files, may tell the date.
set -euo pipefail
cd "$(dirname "$0")/../.."
wall=$(grep -rnE 'system_clock|file_clock|file_time_type::clock|high_resolution_clock|currentMSecsSinceEpoch|currentSecsSinceEpoch|gettimeofday|CLOCK_REALTIME|QTime::currentTime' \
  --include='*.cpp' --include='*.h' --include='*.cu' core app kernels || true)
[ -z "$wall" ] || { echo "the wall clock; expected steady_clock or QElapsedTimer:"; echo "$wall"; exit 1; }
