#!/bin/sh
# The driver exports what an ICD loader looks up, and nothing that could replace a symbol of
# the application.
set -eu
found=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort | tr '\n' ' ')
wanted="clGetExtensionFunctionAddress clGetPlatformInfo clIcdGetPlatformIDsKHR "
if [ "$found" != "$wanted" ]; then
  echo "exported: $found"
  exit 1
fi

# It can be loaded at any time, however little room for thread-local memory of libraries is left.
if readelf -d "$1" | grep STATIC_TLS; then
  echo "$1 has thread-local variables that need room when it is loaded (initial-exec)"
  exit 1
fi
