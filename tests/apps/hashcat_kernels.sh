#!/bin/bash
# Compiles the kernel files of Debian's hashcat, all of them or a random sample, with the
# options that hashcat 6.2.6 gives for a device like this.
#
#   hashcat_kernels.sh TEGRACLC                       all, many hours, most of them NVRTC's
#   hashcat_kernels.sh TEGRACLC COUNT [SEED [STAGE]]  so many of them; up to CUDA C if STAGE is cuda
set -euo pipefail
compiler=$1
count=${2:-all}
seed=${3:-1}
stage=${4:-cubin}
folder=/usr/share/hashcat/OpenCL

options=(-w -D KERNEL_STATIC -D "INCLUDE_PATH=$folder" -D 'XM2S(x)=#x' -D 'M2S(x)=XM2S(x)'
  -D LOCAL_MEM_TYPE=1 -D VENDOR_ID=2147483648 -D CUDA_ARCH=0 -D VECT_SIZE=1 -D DEVICE_TYPE=4
  -D DGST_R0=0 -D DGST_R1=1 -D DGST_R2=2 -D DGST_R3=3 -D DGST_ELEM=4 -D KERN_TYPE=0
  -D FIXED_LOCAL_SIZE=64 -D FIXED_LOCAL_SIZE_COMP=64
  -D SCRYPT_N=1024 -D SCRYPT_R=1 -D SCRYPT_P=1 -D SCRYPT_TMTO=1 -D SCRYPT_TMP_ELEM=8)
for name in ADD ADDC SUB SUBC VADD VADDC VADD_CO VADDC_CO VSUB VSUBB VSUB_CO VSUBB_CO VPERM VADD3 \
  VBFE BFE LOP3 MOV64 PRMT; do
  options+=(-D "HAS_$name=0")
done

# The options of a kernel file, by its name.
options_of() {
  case $1 in
    *_a0-*) echo "-D ATTACK_EXEC=11 -D ATTACK_KERN=0 -D ATTACK_MODE=0" ;;
    *_a1-*) echo "-D ATTACK_EXEC=11 -D ATTACK_KERN=1 -D ATTACK_MODE=1" ;;
    *_a3-*) echo "-D ATTACK_EXEC=11 -D ATTACK_KERN=3 -D ATTACK_MODE=3" ;;
    *) echo "-D ATTACK_EXEC=10 -D ATTACK_KERN=0 -D ATTACK_MODE=0" ;;
  esac
}

names=$(find "$folder" -name '*.cl' ! -name 'inc_*' -printf '%f\n' | sort)
[ "$count" = all ] || names=$(awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand(), $0 }' \
  <<<"$names" | sort -n | sed -n "1,${count}s/.* //p")
failed=0
for name in $names; do
  # shellcheck disable=SC2046
  if ! "$compiler" --emit "$stage" "${options[@]}" $(options_of "$name") "$folder/$name" \
    -o /dev/null; then
    echo "$name failed"
    failed=$((failed + 1))
  fi
done
echo "$(wc -l <<<"$names") kernel files, $failed failed"
[ "$failed" = 0 ]
