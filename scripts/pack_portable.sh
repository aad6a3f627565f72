#!/bin/sh
# Ends PROGRAM with a pack of the kernels of tasks/kernelbench/level1 for Hopper, built here, where there is a compiler for them.
#   scripts/pack_portable.sh PROGRAM [SUITE]
# PACK=none leaves it out. No compiler is no failure: the program compiles where it runs, then.
set -eu
program=$(realpath "$1")
cd "$(dirname "$0")/.."
suite=${2:-tasks/kernelbench/level1} arch=sm_90a most=24
if [ "${PACK:-}" = none ]; then
  echo "hone: $program ships no kernels built: PACK=none"
  exit 0
fi
if ! HONE_PACKS=none "$program" targets --json | grep -q '"name":"cuda"'; then
  echo "hone: $program ships no kernels built: neither nvcc nor NVRTC is here (docs/gpu_builds.md)"
  exit 0
fi
HONE_PACKS=none "$program" pack "$program.pack" "$suite" -w full --target cuda:$arch --most $most --into "$program"
