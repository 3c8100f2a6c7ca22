#!/bin/sh
# icd/ and runtime/ use only the locks of base/lock.h, whose order debug builds check.
cd "$(dirname "$0")/../.." || exit 1
grep -rnE 'pthread_(mutex|rwlock|spin)_|PTHREAD_MUTEX' icd runtime
status=$?
[ $status -eq 0 ] && echo 'use base/lock.h here, and add a row to its table'
[ $status -eq 1 ]
