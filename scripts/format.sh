#!/usr/bin/env bash
# clang-format over our C++ sources. With --check it changes nothing and fails on a difference.
set -euo pipefail
cd "$(dirname "$0")/.."
if ! command -v clang-format >/dev/null; then
  echo "hone: clang-format is not installed (on Debian: apt-get install clang-format)" >&2
  exit 1
fi
mode=(-i)
if [[ ${1:-} == --check ]]; then mode=(--dry-run -Werror); fi
find src examples -name '*.h' -o -name '*.cc' | sort | xargs clang-format "${mode[@]}"
