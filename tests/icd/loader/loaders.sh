#!/bin/bash
# OCL_ICD_VENDORS with the build's folder leads programs to the driver through both ICD loaders:
# Debian's ocl-icd, and Khronos's, which Python packages contain.
#
#   loaders.sh VENDORS KHRONOS PROGRAM      KHRONOS: the folder that tests/setup.sh fills
set -u
vendors=$1 khronos=$2 program=$3

if [ ! -e "$khronos/libOpenCL.so.1" ]; then
  echo "Khronos's loader is not in $khronos. tests/check fetches it; or, alone:" \
    "bash -c '. tests/setup.sh && need_khronos_loader $khronos'"
  exit 1
fi

status=0
# try LOADER FOLDER: with LD_LIBRARY_PATH=FOLDER (empty: the system's loader)
try() {
  local loader=$1 folder=$2 form shown
  for form in "$vendors" "$vendors/"; do
    shown=$(LD_LIBRARY_PATH=$folder OCL_ICD_VENDORS=$form clinfo 2>&1)
    grep -q "ICD loader Name  *$loader" <<<"$shown" || {
      echo "clinfo does not run with $loader: $(grep 'ICD loader' <<<"$shown")"
      status=1
    }
    grep -q "Number of platforms  *1$" <<<"$shown" && grep -q "Platform Name  *tegracl" <<<"$shown" || {
      echo "$loader, OCL_ICD_VENDORS=$form: the platforms are not tegracl alone"
      status=1
    }
    LD_LIBRARY_PATH=$folder OCL_ICD_VENDORS=$form "$program" || {
      echo "$loader, OCL_ICD_VENDORS=$form: $program fails"
      status=1
    }
  done
}

try 'OpenCL ICD Loader' '' # ocl-icd's name for itself
try 'Khronos OpenCL ICD Loader' "$khronos"
exit $status
