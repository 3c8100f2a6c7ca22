#!/bin/bash
# Debian's clpeak: its tests end and print numbers greater than zero.
#
#   tests/apps/clpeak.sh          kernel latency and transfer bandwidth (half a minute)
#   tests/apps/clpeak.sh --all    also single precision, integer and global bandwidth: each
#                                 some 10^12 operations, many minutes on the software Orin
set -euo pipefail
tests=(kernel-latency transfer-bandwidth)
[ "${1:-}" = --all ] && tests+=(global-bandwidth compute-sp compute-integer)
for test in "${tests[@]}"; do
  out=$(clpeak "--$test" 2>&1)
  echo "$out"
  numbers=$(grep -cE ' : +([0-9.]*[1-9][0-9.]*|inf)( us)?$' <<<"$out" || true)
  if grep -qiE 'error|fail|skipped|exception' <<<"$out" || [ "$numbers" = 0 ]; then
    echo "clpeak --$test failed"
    exit 1
  fi
done
