#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the autograder's image.
set -euo pipefail
AUTOGRADER=${AUTOGRADER:-/autograder}

apt-get update -qq
apt-get install -y -qq --no-install-recommends python3 python3-venv bubblewrap
python3 -m venv "$AUTOGRADER/venv"
"$AUTOGRADER/venv/bin/python" -m pip install --quiet -c "$AUTOGRADER/source/kata/constraints.txt" \
  --extra-index-url https://download.pytorch.org/whl/cpu -e "$AUTOGRADER/source/kata"
