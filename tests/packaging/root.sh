# A clean root made with debootstrap, in $folder/root, and what the tests of packages do
# in it (sourced by bash, after tests/setup.sh). Needs root and a network.

suite=${suite:-bookworm}
root=$folder/root

# The mirror of this machine's apt, if it is a Debian and SUITE is Debian's.
mirror() {
  case $suite in
    jammy) echo "http://archive.ubuntu.com/ubuntu" ;;
    *) apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" "Label: Debian" | head -n 1 ;;
  esac
}

# Makes it, or makes it anew; debootstrap's work is kept for the next time.
clean_root() {
  local components=main
  if [ ! -f "$folder/$suite.tar" ]; then
    say "debootstrap $suite"
    as_root rm -rf "$root"
    [ "$suite" = jammy ] && components=main,universe
    as_root debootstrap --variant=minbase --components="$components" "$suite" "$root" "$(mirror)" \
      >"$folder/debootstrap.log" || { tail "$folder/debootstrap.log"; exit 1; }
    as_root tar -C "$root" -cf "$folder/$suite.tar" .
  fi
  say "A clean root of $suite"
  as_root rm -rf "$root"
  as_root mkdir "$root"
  as_root tar -C "$root" -xf "$folder/$suite.tar"
  as_root cp /etc/resolv.conf "$root/etc/"
  inside useradd --create-home --shell /bin/bash ann
}

# inside COMMAND...: as root in the clean root, with nothing of this environment.
inside() {
  as_root unshare --mount --pid --fork --mount-proc="$root/proc" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"
}

# apt ARGUMENTS...: apt-get in the clean root, with output only if it fails. The root need
# not survive a power cut.
apt() {
  inside apt-get -y -qq -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io "$@" >"$folder/apt.log" 2>&1 || {
    tail "$folder/apt.log"
    return 1
  }
}

# as_user COMMAND: a shell's command as an ordinary user.
as_user() {
  inside su - ann -c "$1"
}

# shown WORDS COMMAND...: its output has the words, whatever its exit status.
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

# Nothing of the package's is left when it is removed, under its name or under another's.
remove() {
  local left
  say "apt remove $1"
  apt remove "$1"
  left=$(cd "$root" && as_root find etc usr var -ipath '*tegracl*' -o -path '*/OpenCL/vendors/*')
  [ -z "$left" ] || { echo "$left"; return 1; }
  as_root rm -rf "$root"
}
