#!/bin/sh
# icd/ and runtime/ take locks by base/lock.h alone, so that debug builds check their order.
cd "$(dirname "$0")/../.." || exit 1
grep -rnE 'pthread_(mutex|rwlock|spin)_|PTHREAD_MUTEX' icd runtime
status=$?
[ $status -eq 0 ] && echo 'these need base/lock.h, and a row in its table'
[ $status -eq 1 ]
