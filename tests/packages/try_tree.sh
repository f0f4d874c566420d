# In a root without Qt, graphics and fonts: the .tar.gz runs where it was unpacked, where it is moved to, and by a link.
set -euo pipefail
source /srv/try_program.sh
[ -z "$(find / -xdev -name 'libQt6*' -o -xdev -name '*.ttf' -o -xdev -name 'libGL*' | grep -v '^/srv' || true)" ]
cd /
mkdir -p "/opt/a folder"
tar -x -C /opt -f /srv/fovea-*.tar.gz
try_program /opt/fovea-*/bin/fovea /opt/fovea-*/share/fovea/assets/minilm/minilm-l6.safetensors
mv /opt/fovea-* "/opt/a folder/fovea"
ln -s "/opt/a folder/fovea/bin/fovea" /usr/local/bin/fovea
fovea --version | head -n 1
fovea paper leaf-distributions | head -n 1  # computed on the captured heads, which the program finds itself
