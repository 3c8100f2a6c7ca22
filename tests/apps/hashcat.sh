#!/bin/bash
# Debian's hashcat: its self-test, and the search for the password of its example hash, in
# several hash modes. hashcat's cache of kernels is empty.
#
#   tests/apps/hashcat.sh                 MD5 and SHA-256
#   tests/apps/hashcat.sh --all           sixteen modes, half an hour
#   tests/apps/hashcat.sh 0 100 1400 ..   these modes
set -euo pipefail
# MD5, SHA-1, MD4, NTLM, SHA-256, SHA-512, MySQL 4.1, phpass, md5crypt, half MD5,
# RIPEMD-160, Whirlpool, GOST R 34.11-94, PBKDF2-HMAC-SHA-256, SHA3-256, WPA. None with RC4:
# docs/applications.md, hashcat.
all=(0 100 900 1000 1400 1700 300 400 500 5100 6000 6100 6900 10900 17400 22000)
modes=("$@")
[ $# = 0 ] && modes=(0 1400)
[ "${1:-}" = --all ] && modes=("${all[@]}")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache XDG_DATA_HOME=$folder/data
mkdir "$XDG_CACHE_HOME" "$XDG_DATA_HOME"
# On a busy machine, NVRTC takes longer than the default for the large kernels.
export TEGRACL_COMPILER_TIMEOUT=${TEGRACL_COMPILER_TIMEOUT:-3600}
for mode in "${modes[@]}"; do
  # as JSON: the other form cuts long hashes
  example=$(hashcat -m "$mode" --example-hashes --machine-readable | sed -n '/^{/,$p')
  value() { python3 -c "import json, sys
print(json.load(sys.stdin)['$mode']['example_$1'])" <<<"$example"; }
  # one work-group, no tuning
  if ! hashcat -m "$mode" -a 3 -O -n 1 -T 32 --force --potfile-disable \
    --outfile "$folder/found" --session "tegracl$mode" "$(value hash)" "$(value pass)" \
    >"$folder/log" 2>&1 || ! grep -q ":$(value pass)\$" "$folder/found"; then
    tail -40 "$folder/log"
    echo "hashcat mode $mode failed"
    exit 1
  fi
  grep -a '^Hash.Mode' "$folder/log"
  rm "$folder/found"
done
echo "${#modes[@]} hash modes passed"
