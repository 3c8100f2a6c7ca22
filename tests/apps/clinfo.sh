#!/bin/bash
# Debian's clinfo, in all its forms: every query answered, no error line, a GPU.
set -euo pipefail
for form in "" --raw --list "--human --offline"; do
  out=$(clinfo $form 2>&1)
  if grep -nEi 'error|invalid|bad |fail|-[0-9]+>|CL_(INVALID|OUT)' <<<"$out" |
    grep -viE 'error.correction'; then
    echo "clinfo $form has these error lines"
    exit 1
  fi
done
clinfo --raw | grep -E 'CL_DEVICE_TYPE +CL_DEVICE_TYPE_GPU'
clinfo --raw | grep -E 'CL_DEVICE_MAX_COMPUTE_UNITS +[1-9]'
