#!/bin/sh
# Which shared libraries a program asks for: none but glibc's, or exit status 1.
#   scripts/check_portable.sh PROGRAM
others=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -v -E '^(libc|libm|libdl|libpthread|librt|ld-linux-[a-z0-9-]*)\.so')
if [ -n "$others" ]; then
  echo "hone: $1 needs more than glibc:" $others >&2
  exit 1
fi
echo "hone: $1 needs glibc only, $(readelf -V "$1" | grep -o 'GLIBC_2\.[0-9]*' | sort -u -t. -k2 -n | tail -1) or later"
