#!/bin/sh
# The driver exports what an ICD loader looks for, and nothing else that could
# take the place of a symbol of the application's.
set -eu
found=$(nm -D --defined-only "$1" | awk '{ print $3 }' | sort | tr '\n' ' ')
wanted="clGetExtensionFunctionAddress clGetPlatformInfo clIcdGetPlatformIDsKHR "
if [ "$found" != "$wanted" ]; then
  echo "exported: $found"
  exit 1
fi
