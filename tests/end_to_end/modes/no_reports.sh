#!/bin/bash
# no_reports.sh PROGRAM [ARGUMENT...]: in check mode the program succeeds, and nothing is
# reported.
set -euo pipefail
export TEGRACL_EMULATOR=check
out=$("$@" 2>&1) || { echo "$out"; exit 1; }
echo "$out"
if grep -q '^tegracl: check:' <<<"$out"; then
  echo "check mode reports a program that is right"
  exit 1
fi
