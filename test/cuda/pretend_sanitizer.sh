#!/bin/sh
# compute-sanitizer for tests: runs the command; its racecheck finds something.
tool=$2
while [ $# -gt 0 ]; do
  case $1 in
    --*) shift 2 ;;
    *) break ;;
  esac
done
echo "========= COMPUTE-SANITIZER"
HONE_PRETEND_WATCHED=1 "$@" || exit $?
if [ "$tool" = racecheck ]; then
  echo "========= Error: Race reported between Write access at k+0xb0 in kernel.cu:8"
  echo "=========     and Read access at k+0xc0 in kernel.cu:8 [2048 hazards]"
  echo "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)"
  exit 77
fi
echo "========= ERROR SUMMARY: 0 errors"
