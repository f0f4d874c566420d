#!/usr/bin/env bash
# Random use of the real window for as long as one likes, on a display of its own:
#
#   bash tests/endurance/run.sh 600         ten minutes
#   bash tests/endurance/run.sh 7200 5      two hours, with the draws of seed 5
#
# The log endurance-SEED.log in the build folder names each action before it is done, and the same seed draws the
# same actions again. PRESET=asan runs it under the address sanitizer. Further words go to the program:
# `bash tests/endurance/run.sh 600 5 --only dock` does only actions with "dock" in their names.
set -euo pipefail
cd "$(dirname "$0")/../.."
source app/setup.sh
seconds=${1:-600} seed=${2:-1} preset=${PRESET:-tests}
install_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
build "$preset" endurance
# What libraries of the system never free is not asked about at the end.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
log=build/$preset/endurance-$seed.log
status=0
xvfb-run -a -s "-screen 0 1920x1200x24" "build/$preset/bin/endurance" --seconds "$seconds" --seed "$seed" \
  --log "$log" "${@:3}" || status=$?
# The last actions, and where the program crashed if it did.
[ $status -eq 0 ] || tail -n 80 "$log" >&2
exit $status
