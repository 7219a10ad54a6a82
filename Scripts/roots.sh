# shellcheck shell=sh disable=SC2154 # cache is common.sh's
# Debian 13 roots, kept in $cache, where Debian's own compiler builds. Sourced after common.sh; all of it needs root.
#
#   trixie-ARCH-base   what debootstrap makes; packages are tried out on top of it, and it stays as it is
#   trixie-ARCH        a copy with swiftlang and the packages of packages.txt

# in_root ROOT COMMAND...: runs it there, in a mount name space of its own: nothing stays mounted, however it ends. /proc is
# there since the compiler does not start without it. `binds` says which folders and files are seen inside, as
# SOURCE:TARGET, separated by blanks. With `layer`, all changes go to that folder and the root stays as it is.
in_root() {
  # shellcheck disable=SC2016
  unshare --mount sh -c '
    set -e
    binds=$1 layer=$2 root=$3
    shift 3
    if [ -n "$layer" ]; then
      mkdir -p "$layer/changes" "$layer/work" "$layer/root"
      mount -t overlay -o "lowerdir=$root,upperdir=$layer/changes,workdir=$layer/work" overlay "$layer/root"
      root=$layer/root
    fi
    mount -t proc proc "$root/proc"
    for bind in $binds; do
      [ -f "${bind%%:*}" ] || mkdir -p "$root${bind#*:}"
      mount --bind "${bind%%:*}" "$root${bind#*:}"
    done
    exec chroot "$root" env -u MDOC_SHARED PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TMPDIR=/tmp \
      DEBIAN_FRONTEND=noninteractive SWIFT_BACKTRACE=enable=no "$@"' - "${binds:-}" "${layer:-}" "$@"
}

# can_enter ARCH: whether the kernel runs programs of that architecture.
can_enter() {
  [ "$1" != "$(dpkg --print-architecture)" ] || return 0
  registered=/proc/sys/fs/binfmt_misc/qemu-aarch64
  [ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc 2>/dev/null || :
  [ -e "$registered" ] || update-binfmts --enable qemu-aarch64 >/dev/null 2>&1 || :
  # F: the interpreter is held open, so that it is found inside the roots as well
  grep -qs '^flags:.*F' "$registered"
}

# make_base ARCH: makes trixie-ARCH-base where there is none.
make_base() {
  base=$cache/trixie-$1-base
  [ ! -d "$base" ] || return 0
  command -v debootstrap >/dev/null || die "debootstrap is missing" "apt-get install debootstrap"
  can_enter "$1" ||
    die "this kernel does not run $1 programs" \
      "apt-get install qemu-user-static binfmt-support; in a container, mount binfmt_misc on /proc/sys/fs/binfmt_misc first"
  remark "making a Debian 13 root for $1 in $base, which takes minutes"
  mkdir -p "$cache"
  rm -rf "$base.part"
  # What it mounts goes with it, however it ends
  unshare --mount debootstrap --arch="$1" --variant=minbase --include=ca-certificates trixie "$base.part" \
    >"$cache/debootstrap.log" 2>&1 </dev/null ||
    die "debootstrap failed; the end of $cache/debootstrap.log: $(tail -n 1 "$cache/debootstrap.log")" \
      "see that Debian's mirror can be reached, then try again"
  # These roots can be made again: nothing has to wait for the disk, and nobody reads translations or manuals there
  echo force-unsafe-io >"$base.part/etc/dpkg/dpkg.cfg.d/mdoc-reader"
  echo 'Acquire::Languages "none";' >"$base.part/etc/apt/apt.conf.d/90mdoc-reader"
  mv "$base.part" "$base"
}

# make_root ARCH PACKAGE...: makes trixie-ARCH where there is none, or adds the packages it has not.
make_root() {
  root_architecture=$1
  shift
  root=$cache/trixie-$root_architecture
  if [ ! -d "$root" ]; then
    make_base "$root_architecture"
    rm -rf "$root.part"
    cp -a "$base" "$root.part"
    mv "$root.part" "$root"
  fi
  can_enter "$root_architecture" ||
    die "this kernel does not run $root_architecture programs" \
      "apt-get install qemu-user-static binfmt-support; in a container, mount binfmt_misc on /proc/sys/fs/binfmt_misc first"
  if [ "$root_architecture" != "$(dpkg --print-architecture)" ]; then
    binds="$cache/trixie-$(dpkg --print-architecture):/native $PWD/Scripts/packaging/native:/usr/bin/dpkg-deb"
  fi
  # shellcheck disable=SC2016
  in_root "$root" sh -c 'states=$(dpkg-query -W -f="\${db:Status-Status}\n" "$@" 2>/dev/null) &&
      [ "$(echo "$states" | sort -u)" = installed ] ||
      { apt-get update && dpkg --configure -a && apt-get install --yes --no-install-recommends "$@"; }' \
    - "$@" >"$cache/apt-$root_architecture.log" 2>&1 </dev/null ||
    die "apt-get failed in $root; the end of $cache/apt-$root_architecture.log: $(tail -n 1 "$cache/apt-$root_architecture.log")" \
      "see that Debian's mirror can be reached, then try again"
  binds=
}

# copy_checkout FOLDER: the files of the checkout as they are now, ignored ones apart. What was built from them there stays, and a
# file that is the same keeps its time, so that a second run is quick even from another clone.
copy_checkout() {
  rm -rf "$1.new"
  mkdir -p "$1" "$1.new"
  git ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from=- --ignore-failed-read 2>/dev/null | tar --extract --directory "$1.new"
  (cd "$1" && find . -path ./.build -prune -o -type f -print) | while read -r file; do
    cmp -s "$1/$file" "$1.new/$file" || continue
    if [ -x "$1/$file" ]; then [ -x "$1.new/$file" ] || continue; else [ ! -x "$1.new/$file" ] || continue; fi
    mv "$1/$file" "$1.new/$file"
  done
  find "$1" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
  find "$1.new" -mindepth 1 -maxdepth 1 -exec mv {} "$1/" \;
  rmdir "$1.new"
}
