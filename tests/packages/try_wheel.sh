# In a root with Python, without Qt: the wheel in a fresh virtual environment.
set -euo pipefail
source /srv/try_program.sh
apt-get -qq update
apt-get -qq install -y --no-install-recommends python3-venv >/dev/null 2>&1
cd /
python3 -m venv /opt/venv
find /opt/venv ! -name '*.pyc' | sort >/srv/before
/opt/venv/bin/pip install -q --no-index --disable-pip-version-check /srv/fovea_attention-*.whl
data=$(/opt/venv/bin/python -c 'import fovea, os; print(os.path.dirname(fovea.__file__))')/program/share/fovea
try_program /opt/venv/bin/fovea "$data/assets/minilm/minilm-l6.safetensors"
/opt/venv/bin/python - "$data/assets/minilm/minilm-l6.safetensors" <<'PYTHON'
import sys
import fovea
figure = fovea.figure(sys.argv[1], variants=["exact", "hyper"])
print(fovea.__version__, figure)
PYTHON
# Uninstalled it leaves nothing; then it is installed again, for its window.
/opt/venv/bin/pip uninstall -q -y fovea-attention
find /opt/venv ! -name '*.pyc' ! -name __pycache__ | sort | comm -13 /srv/before - | tee /tmp/left
[ ! -s /tmp/left ]
/opt/venv/bin/pip install -q --no-index --disable-pip-version-check /srv/fovea_attention-*.whl
