# Sourced by root-test and deb-root-test, which stand in the repository's root: a fresh Debian that has nothing but its base,
# in $root, until they end. As root, and with debootstrap: else, and where nothing can be fetched, they end with 77.
# LAPILLI_ROOTS: a folder in which such roots were made before, by the names of their releases (of another architecture:
# bookworm-arm64); a copy is taken.

skip() { echo "SKIP: $*" && exit 77; }

leave_root() {
  for place in $mounted; do umount -l "$root/$place" || :; done
  rm -rf --one-file-system "$root"
}

# need_emulator arm64: the kernel runs a root's programs by an emulator that is not in the root, so it must hold it open (flag F). This
# machine is not changed: who has registered none is told how.
need_emulator() {
  [ "$(uname -m)" != aarch64 ] || return 0
  grep -qs '^flags:.*F' /proc/sys/fs/binfmt_misc/qemu-aarch64 ||
    skip "the kernel knows no emulator for $1: install qemu-user-static, which registers one (binfmt_misc, flag F)"
}

# make_root RELEASE [ARCH]
make_root() {
  command -v debootstrap >/dev/null || skip "no debootstrap"
  command -v apt-get >/dev/null || skip "no apt, whose mirror is asked"
  mirror=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -v security | head -n 1)
  [ "$mirror" ] || skip "apt knows no mirror"
  debootstrap ${2:+"--arch=$2"} --variant=minbase "$1" "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 3 "$root.log" && rm -f "$root.log" && skip "debootstrap could not make a root of $1${2:+ for $2}"; }
  rm -f "$root.log"
}

# fresh_root RELEASE [ARCH]: bookworm, trixie; of this machine's architecture, or of arm64.
fresh_root() {
  [ "$(id -u)" -eq 0 ] || skip "not root"
  [ -z "${2:-}" ] || need_emulator "$2"
  made=${LAPILLI_ROOTS:-}/$1${2:+-$2}
  root=$(mktemp -d)
  mounted=
  trap leave_root EXIT
  trap 'exit 1' HUP INT TERM
  if [ -d "$made" ]; then cp -a "$made/." "$root"; else make_root "$@"; fi
  for place in proc sys dev; do
    mount --rbind "/$place" "$root/$place" && mounted="$place $mounted"
    mount --make-rslave "$root/$place" # what is unmounted here stays where it came from
  done
  # However the machine reaches its mirror, the root does so.
  cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
  cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
}

inside() {
  chroot "$root" /usr/bin/env -i DEBIAN_FRONTEND=noninteractive HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "$@"
}
