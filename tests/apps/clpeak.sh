#!/bin/bash
# Debian's clpeak: each of its tests of this list runs to its end and gives
# numbers greater than zero.
set -euo pipefail
for test in compute-sp compute-integer global-bandwidth transfer-bandwidth kernel-latency; do
  out=$(timeout 280 clpeak --$test 2>&1)
  echo "$out"
  if grep -qiE 'error|fail|skipped|exception' <<<"$out" ||
    ! grep -qE ': +[0-9.]*[1-9]' <<<"$(sed 1,6d <<<"$out")"; then
    echo "clpeak --$test failed"
    exit 1
  fi
done
