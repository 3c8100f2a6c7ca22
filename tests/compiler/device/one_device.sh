#!/bin/bash
# The offline compiler defines the extensions and features of OpenCL C that the driver's device
# reports, except those that depend on the machine (SPIR-V, system memory) and C++ for OpenCL.
#   one_device.sh TEGRACLC
set -euo pipefail
words=$(clinfo --raw | awk '$2 ~ /^CL_DEVICE_(EXTENSIONS|OPENCL_C_FEATURES)$/' |
  grep -oE '\b(cl_[a-z]+_[a-z0-9_]+|__opencl_c_[a-z0-9_]+)' |
  grep -vxE 'cl_intel_unified_shared_memory|cl_khr_il_program|cl_(khr|intel)_spirv_.*|cl_ext_cxx_for_opencl' | sort -u)
count=$(wc -w <<<"$words")
if [ "$count" -lt 60 ]; then
  echo "clinfo reports $count extensions and features:" $words
  exit 1
fi
for word in $words; do
  printf '#ifndef %s\n#error the offline compiler lacks %s\n#endif\n' "$word" "$word"
done | "$1" -cl-std=CL3.0 --emit ir -o /dev/null -
