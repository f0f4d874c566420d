# In a root: every file with its sum, every link and folder; without the records of apt, dpkg and caches, and without
# /tmp, where the home of the trials is.
set -euo pipefail
cd /
skip=(-path ./proc -o -path ./dev -o -path ./sys -o -path ./tmp -o -path ./srv -o -path ./var/cache -o -path ./var/log
  -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./etc/ld.so.cache)
LC_ALL=C
export LC_ALL
find . \( "${skip[@]}" \) -prune -o -type f -print0 | sort -z | xargs -0 sha256sum
find . \( "${skip[@]}" \) -prune -o ! -type f -printf '%y %p %l\n' | sort
