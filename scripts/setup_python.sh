#!/bin/sh
# Creates the virtual environment of hone's Python parts (PyTorch as an opponent) from the pinned
# python/requirements.txt, in ${HONE_VENV:-.venv}. Does nothing when that is already done; runs again
# when the pins change. HONE_PYTHON_BASE names the Python to start from (default python3). With --begin it only
# creates the environment, without pip: a build may then begin, for which it must be there, while the rest is fetched. HONE_PINS,
# HONE_MODULE and HONE_VARIABLE make it an environment of another kind (make triton).
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
venv=${HONE_VENV:-$root/.venv}
pins=$root/${HONE_PINS:-python/requirements.txt}
module=${HONE_MODULE:-torch}
stamp=$venv/hone-requirements.txt
python=${HONE_PYTHON_BASE:-python3}

if ! [ -x "$venv/bin/python" ]; then
  echo "setup_python: creating $venv with $("$python" --version)"
  "$python" -m venv --without-pip "$venv"
fi
if [ "${1:-}" = --begin ]; then exit 0; fi
if ! [ -x "$venv/bin/pip" ]; then
  "$venv/bin/python" -m ensurepip --default-pip >/dev/null
fi
if cmp -s "$pins" "$stamp"; then
  echo "setup_python: $venv is up to date"
else
  echo "setup_python: installing ${HONE_PINS:-python/requirements.txt} ($module is large: this may take minutes)"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$pins"
  cp "$pins" "$stamp"
fi
"$venv/bin/python" -c "import $module; print('setup_python: $module', $module.__version__, 'works')"
echo "setup_python: hone finds it with ${HONE_VARIABLE:-HONE_PYTHON}=$venv/bin/python"
