# In the root of try_deb.sh: removed, the package leaves every file of the system as it was before.
set -euo pipefail
apt-get -qq purge -y fovea >/dev/null 2>&1
bash /srv/try_listing.sh >/srv/after
diff /srv/before /srv/after && echo "nothing is left: $(wc -l </srv/before) files, links and folders of the system are as they were"
