#!/bin/sh
# The driver is loaded into any application: it brings nothing but the C library
# along (which has libm and the dynamic linker as files of their own), and stays when that
# is done with it: threads of its own may be at their last instructions.
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
# In a set-user-ID program no variable counts.
if nm -D --undefined-only "$1" | grep -E ' getenv(@|$)'; then
  echo "reads variables in set-user-ID programs"
  exit 1
fi
# Nothing waits by the clock that the user sets.
if nm -D --undefined-only "$1" | grep -E ' (pthread_(cond_timedwait|(mutex|rwlock)_timed[a-z]*lock)|sem_timedwait|mq_timed[a-z]*)(@|$)'; then
  echo "waits by CLOCK_REALTIME"
  exit 1
fi
if ! readelf -d "$1" | grep -q NODELETE; then
  echo "dlclose unloads it"
  exit 1
fi
