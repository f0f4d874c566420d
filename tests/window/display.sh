#!/usr/bin/env bash
# X servers without a screen for the tests of the window. CTest starts them once, before the first of these
# tests, and stops them after the last.
#
#   display.sh start FOLDER NAME WIDTHxHEIGHT   starts a server on a free display, noted in FOLDER/NAME
#   display.sh stop FOLDER NAME
#   display.sh run FOLDER NAME COMMAND...       runs a command on a display, on that of FOVEA_DISPLAY if it is set
set -euo pipefail
task=$1 folder=$2
shift 2

# stop NAME: stops the server noted in FOLDER/NAME, if it still runs.
stop() {
  local display process
  [ -s "$folder/$1" ] || return 0
  read -r display process <"$folder/$1"
  if [ "$(cat "/proc/$process/comm" 2>/dev/null)" = Xvfb ]; then kill "$process"; fi
  rm -f "$folder/$1"
}

case $task in
  start)
    mkdir -p "$folder"
    stop "$1"
    number=$folder/$1.number
    rm -f "$number"
    # Xvfb chooses the display and writes its number to the file. Without -noreset it starts anew
    # whenever its last client leaves, and refuses the next one meanwhile.
    setsid Xvfb -displayfd 3 -screen 0 "$2x24" -nolisten tcp -noreset 3>"$number" >"$folder/$1.log" 2>&1 </dev/null &
    process=$!
    for ((i = 0; i < 300; ++i)); do
      if [ -s "$number" ]; then
        echo ":$(cat "$number") $process" >"$folder/$1"
        exit 0
      fi
      kill -0 "$process" 2>/dev/null || break
      sleep 0.1
    done
    kill "$process" 2>/dev/null || true
    cat "$folder/$1.log" >&2
    echo "display.sh: Xvfb did not start" >&2
    exit 1
    ;;
  stop) stop "$1" ;;
  run)
    name=${FOVEA_DISPLAY:-$1}
    shift
    # Listing the test cases, while building, needs no display.
    if [ -s "$folder/$name" ]; then
      read -r DISPLAY _ <"$folder/$name"
      export DISPLAY
    fi
    exec "$@"
    ;;
esac
