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
