#!/usr/bin/env bash
# The tests that need a GPU, then checks, counts and timings on it, in one table. Under ten minutes, without a network.
#
#     PYTHON=python3.11 WHEELS=/path/to/wheels benchmarks/gpu_check.sh
#
# PYTHON: one with a PyTorch for CUDA (default: python3). gbfix need not be installed: the files of this checkout are
# used. WHEELS: a folder of wheels for what that Python lacks of libcst, msgspec, pathspec, filelock, typer, rich,
# hypothesis and pytest; they are unpacked into a temporary folder, and nothing is installed.
# Exits 2 where there is no CUDA device, 1 when a test fails or a rewrite is not found equal.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
python="${PYTHON:-python3}"
seconds_for_tests=240
seconds_for_checks=345

stop() {
    echo "gpu_check: $1" >&2
    exit 2
}

command -v "$python" > /dev/null || stop "$python: no such Python; set PYTHON"

scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

# The packages gbfix.X of this checkout, whatever is installed.
mkdir -p "$scratch/site/gbfix"
for folder in analysis cli codemods engine equivalence evidence; do
    ln -s "$root/$folder" "$scratch/site/gbfix/$folder"
done
if [[ -n "${WHEELS:-}" ]]; then
    wheels=("$WHEELS"/*.whl)
    [[ -e "${wheels[0]}" ]] || stop "$WHEELS: holds no wheels"
    for wheel in "${wheels[@]}"; do
        "$python" -m zipfile -e "$wheel" "$scratch/site" || stop "$wheel: cannot be unpacked"
    done
fi
export PYTHONPATH="$scratch/site${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONDONTWRITEBYTECODE=1

missing="$("$python" -c '
import importlib.util
names = ("torch", "libcst", "msgspec", "pathspec", "filelock", "typer", "rich", "hypothesis", "pytest")
print(*(name for name in names if importlib.util.find_spec(name) is None))
')" || stop "$python cannot be run"
[[ -z "$missing" ]] || stop "$python lacks: $missing (name a folder of wheels: WHEELS=FOLDER)"

"$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' \
    || stop "PyTorch finds no CUDA device here: nothing was checked."

status=0
cd "$root"
mapfile -t tests < <(grep -l 'pytest\.mark\.gpu' tests/test_*.py)
echo "== tests marked gpu"
timeout "$seconds_for_tests" "$python" -m pytest -m gpu -p no:cacheprovider -q "${tests[@]}" || status=1

echo "== checks, counts and timings"
timeout "$seconds_for_checks" "$python" benchmarks/gpu_check.py --seconds "$((seconds_for_checks - 125))" || status=1
exit "$status"
