# In a root: the .deb is installed with what it depends on, and lies where the tools of a desktop look for it.
set -euo pipefail
source /srv/try_program.sh
apt-get -qq update
apt-get -qq install -y --no-install-recommends desktop-file-utils shared-mime-info man-db bash-completion >/dev/null 2>&1
apt-get -s install --no-install-recommends /srv/fovea_*.deb | sed -n 's/^Inst \([^ ]*\).*/\1/p' | grep -vx fovea |
  xargs apt-get -qq install -y --no-install-recommends >/dev/null 2>&1
bash /srv/try_listing.sh >/srv/before
apt-get -qq install -y --no-install-recommends /srv/fovea_*.deb >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
dpkg -s fovea | sed -n '/^Status\|^Version\|^Installed-Size/p'
cd /
try_program fovea /usr/share/fovea/assets/minilm/minilm-l6.safetensors
desktop-file-validate /usr/share/applications/fovea.desktop
grep -q safetensors /usr/share/mime/globs2
grep -q 'application/x-safetensors=fovea.desktop' /usr/share/applications/mimeinfo.cache
man -w fovea
bash -c 'source /usr/share/bash-completion/completions/fovea; complete -p fovea'
