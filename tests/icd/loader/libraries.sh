#!/bin/sh
# The driver is loaded into any application: it needs no library but the C library (and its files
# libm and the dynamic linker), and stays loaded after dlclose: its threads may be at their last
# instructions.
set -eu
needed=$(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
[ -n "$needed" ]
for library in $needed; do
  case $library in
    libc.so.* | libm.so.* | ld-linux*) ;;
    *)
      echo "needs $library"
      exit 1
      ;;
  esac
done
# A set-user-ID program reads no variable.
if nm -D --undefined-only "$1" | grep -E ' getenv(@|$)'; then
  echo "reads variables in set-user-ID programs"
  exit 1
fi
# Nothing waits by the wall clock, which can be set.
if nm -D --undefined-only "$1" | grep -E ' (pthread_(cond_timedwait|(mutex|rwlock)_timed[a-z]*lock)|sem_timedwait|mq_timed[a-z]*)(@|$)'; then
  echo "waits by CLOCK_REALTIME"
  exit 1
fi
if ! readelf -d "$1" | grep -q NODELETE; then
  echo "dlclose unloads it"
  exit 1
fi
