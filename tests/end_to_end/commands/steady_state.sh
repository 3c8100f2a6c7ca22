#!/bin/bash
# steady_state.sh PROGRAM: no system call between the two getppid calls of its main
# thread, by strace.
set -euo pipefail
trace=$(mktemp)
trap 'rm -f "$trace"' EXIT
strace -f -o "$trace" "$1"
main=$(awk 'NR == 1 {print $1}' "$trace")
calls=$(awk -v main="$main" '$1 == main && /getppid/ {if (/getppid\(/) inside = !inside; next}
  $1 == main && inside' "$trace")
marks=$(grep -c "^$main *getppid" "$trace")
if [ "$marks" != 2 ]; then
  echo "the trace holds $marks marks instead of 2"
  exit 1
fi
if [ -n "$calls" ]; then
  echo "system calls on the enqueue path:"
  head -20 <<<"$calls"
  exit 1
fi
echo "no system call on the enqueue path"
