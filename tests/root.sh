# Functions for tests in a clean root, $folder/root, which debootstrap makes (sourced by bash, after
# tests/setup.sh). They need root and a network. The user's cache folder keeps an archive of the
# root.

suite=${suite:-bookworm}
root=$folder/root
root_cache=${XDG_CACHE_HOME:-$HOME/.cache}/tegracl-tests
root_packages=ca-certificates,git,sudo

# mirror: prints the mirror of $suite: Ubuntu's, or the one of this machine's apt.
mirror() {
  case $suite in
    jammy) echo "http://archive.ubuntu.com/ubuntu" ;;
    *) apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" "Label: Debian" | head -n 1 ;;
  esac
}

# clean_root: makes the root; an old one is removed. It has an ordinary user, ann, who may use sudo. Its
# apt and pip use the proxies and indexes of this machine.
clean_root() {
  local components=main archive=$root_cache/$suite.tar
  need_packages debootstrap
  as_root rm -rf "$root"
  as_root mkdir -p "$root"
  if [ ! -f "$archive" ]; then
    say "debootstrap $suite"
    mkdir -p "$root_cache"
    [ "$suite" = jammy ] && components=main,universe
    as_root debootstrap --variant=minbase --components="$components" --include="$root_packages" \
      "$suite" "$root" "$(mirror)" >"$folder/debootstrap.log" || {
      tail "$folder/debootstrap.log"
      return 1
    }
    as_root tar -C "$root" -cf - . >"$archive.part"
    mv "$archive.part" "$archive"
  else
    as_root tar -C "$root" -xf "$archive"
  fi
  say "A clean root of $suite"
  as_root cp /etc/resolv.conf "$root/etc/"
  printf '127.0.0.1 localhost %s\n' "$(uname -n)" | as_root tee "$root/etc/hosts" >/dev/null
  as_root cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  apt-config dump 2>/dev/null | grep -E '^Acquire::[a-z]+::Proxy ' |
    as_root tee "$root/etc/apt/apt.conf.d/90proxy" >/dev/null || true
  echo 'APT::Get::Assume-Yes "true";' | as_root tee "$root/etc/apt/apt.conf.d/90yes" >/dev/null
  pip_configuration | as_root tee "$root/etc/pip.conf" >/dev/null
  inside useradd --create-home --shell /bin/bash ann
  echo 'ann ALL=(ALL) NOPASSWD: ALL' | as_root tee "$root/etc/sudoers.d/ann" >/dev/null
}

# pip_configuration: prints pip's indexes and proxy on this machine as a configuration file.
pip_configuration() {
  local option value
  echo "[global]"
  for option in index-url extra-index-url proxy; do
    value=PIP_${option^^}
    value=${value//-/_}
    value=${!value:-$(python3 -m pip config get "global.$option" 2>/dev/null || true)}
    [ -z "$value" ] || echo "$option = $value"
  done
}

# inside COMMAND...: runs it as root in the clean root, without this environment. Its child processes
# end with it.
inside() {
  as_root unshare --mount --pid --fork --kill-child sh -c '
    root=$1 && shift
    mount -t proc proc "$root/proc" && mount -t sysfs -o ro sysfs "$root/sys" &&
      mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" &&
      mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
      exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
        chroot "$root" "$@"' inside "$root" "$@"
}

# apt ARGUMENTS...: runs apt-get in the clean root, with output only if it fails. It does not sync
# files, which is faster.
apt() {
  inside apt-get -y -qq -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io "$@" >"$folder/apt.log" 2>&1 || {
    tail "$folder/apt.log"
    return 1
  }
}

# as_user COMMAND: runs a shell command as the ordinary user, after a login.
as_user() {
  inside su - ann -c "$1"
}

# shown WORDS COMMAND...: fails unless the output has the words. The exit status does not matter.
shown() {
  local words=$1 output
  shift
  output=$("$@" 2>&1) || true
  grep -qF -- "$words" <<<"$output" || {
    echo "\"$words\" is not in the output of $*:"
    echo "$output"
    return 1
  }
  echo "ok: $words"
}

# remove PACKAGE: removes it, and fails if files of tegracl are left. Removes the root.
remove() {
  local left
  say "apt remove $1"
  apt remove "$1"
  left=$(cd "$root" && as_root find etc usr var -ipath '*tegracl*' -o -path '*/OpenCL/vendors/*')
  [ -z "$left" ] || { echo "$left"; return 1; }
  as_root rm -rf "$root"
}
