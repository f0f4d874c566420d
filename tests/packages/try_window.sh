# In a root: the window on the bundled example, for which a driver of graphics is needed, and nothing else.
set -euo pipefail
[ -e /usr/lib/x86_64-linux-gnu/dri/swrast_dri.so ] || {
  apt-get -qq update
  apt-get -qq install -y --no-install-recommends libglx-mesa0 libgl1-mesa-dri >/dev/null
}
cd /
export MESA_SHADER_CACHE_DISABLE=true  # which would lie in the home of root
exec "$(command -v fovea || echo /opt/venv/bin/fovea)"
