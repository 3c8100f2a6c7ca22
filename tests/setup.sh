# Set-up for the scripts in this folder (sourced by bash): Debian packages, NVRTC, build folders. It
# installs only what is missing, by sudo if the user is not root.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${TEGRACL_BUILD:-$top/build}

build_packages=(gcc libc6-dev meson ninja-build pkgconf python3 clang-15 llvm-15-dev
  libclang-common-15-dev opencl-c-headers ocl-icd-libopencl1 ocl-icd-opencl-dev libxxhash-dev
  libcmocka-dev libelf-dev llvm-spirv-15 spirv-tools libpng-dev libjpeg62-turbo-dev libssl-dev clinfo python-matplotlib-data)
check_packages=(binutils clang-format-14 clang-tidy-14 clpeak codespell cppcheck ffmpeg git
  groff-base hashcat hcxkeys leela-zero libclblast1 libclfft2 python3-numpy python3-pyopencl strace)
arm64_packages=(gcc-aarch64-linux-gnu qemu-user)

say() { printf '\n== %s\n' "$*"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need_packages NAME...: installs those of the Debian packages that are missing.
need_packages() {
  command -v dpkg-query >/dev/null || {
    echo "Not a Debian system: make sure that these are installed: $*"
    return
  }
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$name" 2>/dev/null)" = 'ii ' ] ||
      missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] && return
  say "Installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}

# fetch_nvrtc FOLDER REQUIREMENT: a PyPI package of NVRTC, unpacked into a folder.
fetch_nvrtc() {
  need_packages python3-pip
  say "Fetching NVRTC (PyPI package $2) into $1"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --no-warn-script-location --upgrade --target "$1" "$2"
}

# need_nvrtc FOLDER: makes sure that the build in FOLDER finds an NVRTC: that of JetPack or a CUDA
# toolkit, else PyPI's, which is fetched into $build, else that of Debian's non-free component.
need_nvrtc() {
  local found
  [ "$1" -ef "$build" ] || ln -sfn "$build/nvrtc" "$1/nvrtc"
  if ! found=$("$1/compiler/tegraclc" --print-path nvrtc 2>/dev/null); then
    if ! fetch_nvrtc "$build/nvrtc" nvidia-cuda-nvrtc; then
      echo "PyPI has none; trying Debian's non-free package libnvrtc11.2"
      as_root apt-get install -y -qq --no-install-recommends libnvrtc11.2 >/dev/null || {
        echo "No NVRTC. Install a CUDA toolkit (11.4 or newer), or set TEGRACL_NVRTC to the" \
          "folder of libnvrtc.so." >&2
        return 1
      }
    fi
    found=$("$1/compiler/tegraclc" --print-path nvrtc)
  fi
  echo "NVRTC: $found"
}

# Debian's arm64 libraries, which the cross build links and qemu loads (55 MB with the package list).
# They are only unpacked into a folder, not installed.
arm64_libraries=(libc6 libc6-dev linux-libc-dev libgcc-s1 libstdc++6 libllvm15 libffi8 libedit2
  libbsd0 libmd0 libtinfo6 libz3-4 libxml2 libicu72 liblzma5 zlib1g zlib1g-dev opencl-c-headers
  ocl-icd-libopencl1 ocl-icd-opencl-dev libxxhash-dev libcmocka0 libcmocka-dev libelf1 libelf-dev
  libpng16-16 libpng-dev libjpeg62-turbo libjpeg62-turbo-dev libssl3 libssl-dev)

# need_sysroot FOLDER: unpacks them there, once.
need_sysroot() {
  local folder=$1 file
  [ -f "$folder/complete" ] && return
  say "Fetching arm64 libraries into $folder"
  mkdir -p "$folder/packages/lists/partial"
  : >"$folder/packages/status"
  local apt=(apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o Dir::State="$folder/packages" -o Dir::State::status="$folder/packages/status"
    -o Dir::Cache="$folder/packages" -o Acquire::Languages=none -o APT::Sandbox::User=
    -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false)
  "${apt[@]}" update && (cd "$folder/packages" && "${apt[@]}" download "${arm64_libraries[@]}") ||
    return 1
  for file in "$folder/packages"/*.deb; do
    dpkg-deb -x "$file" "$folder" || return 1
  done
  find "$folder" -type l -lname '/*' -print0 | while IFS= read -r -d '' file; do
    ln -sfnr "$folder$(readlink "$file")" "$file" # not to this machine's root
  done
  rm -r "$folder/packages"
  touch "$folder/complete"
}

# need_cross_file FILE SYSROOT TEGRACLC: writes the paths that tests/arm64/cross.ini needs.
need_cross_file() {
  printf "[constants]\nsysroot = '%s'\n\n[binaries]\ntegraclc = '%s'\n" "$2" "$3" >"$1"
}

# need_khronos_loader FOLDER: puts Khronos's ICD loader there as libOpenCL.so.1, once. Debian 12
# has ocl-icd only; this one is from the PyPI package pyclesperanto-opencl (1.3 MB), for x86-64.
need_khronos_loader() {
  local folder=$1 wheel
  [ -e "$folder/libOpenCL.so.1" ] && return
  need_packages python3-pip
  say "Fetching Khronos's ICD loader (PyPI package pyclesperanto-opencl) into $folder"
  mkdir -p "$folder"
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: \
    --implementation cp --python-version 3.11 --abi cp311 --platform manylinux_2_28_x86_64 \
    --dest "$folder" pyclesperanto-opencl==0.25.1 || {
    echo "PyPI has no Khronos loader: the test \"icd loaders\" will fail" >&2
    return 1
  }
  wheel=$(echo "$folder"/*.whl)
  python3 -m zipfile -e "$wheel" "$folder"
  mv "$folder"/*/libOpenCL*.so* "$folder/libOpenCL.so.1"
  rm -r "$folder"/pyclesperanto*
}

# need_build FOLDER [meson options]: configures and builds.
need_build() {
  local folder=$1
  shift
  [ -f "$folder/build.ninja" ] || meson setup "$folder" "$top" "$@"
  ninja -C "$folder" -v >"$folder/build.log" 2>&1 || {
    grep -E -A12 'error:|FAILED:' "$folder/build.log" | head -60
    echo "The build failed; the whole log is $folder/build.log" >&2
    return 1
  }
}
