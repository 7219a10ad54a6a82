#!/bin/sh
# Makes what the virtual board needs beside ordinary packages, in a folder of its own: Debian's kernel (unpacked, not
# installed), the modules gpio-sim and v4l2loopback for it, the first file system, and a Python with bumble.
# Nothing is done when all is there. A minute and 230 MB of downloads the first time.
#
# MDOC_VIRTUAL_BOARD=FOLDER is the folder; MDOC_VIRTUAL_KERNEL=RELEASE takes another kernel than the newest.
set -eu
cd "$(dirname "$0")/../.."
. Scripts/common.sh
here=$PWD/Scripts/virtual
board=${MDOC_VIRTUAL_BOARD:-$cache/virtual-board}
# One kernel and one foreign Bluetooth stack for everybody: corrections in air.py are for this version.
bumble=0.0.236

architecture=$(dpkg --print-architecture 2>/dev/null) || architecture=none
[ "$architecture" = amd64 ] ||
  die "the virtual board is an emulated PC with Debian's amd64 kernel, and this machine is $architecture" \
    "run it on an amd64 Debian machine"
Scripts/setup board

# Debian keeps only its newest kernels, so the one that its metapackage names now is the one that can be had.
newest() { apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: linux-image-\([0-9].*\)$/\1/p' | head -n 1; }
# Debian 12's 6.1.192 deletes the channel of a lost link twice (hci_chan_del: "list_del corruption") when the socket on it is
# closed a little later, and with that ends whoever closed it. The kernel of the point release before does not.
sound() {
  case $1 in
    6.1.0-5[567]-amd64) if apt-cache show linux-image-6.1.0-50-amd64 >/dev/null 2>&1; then echo 6.1.0-50-amd64; else echo "$1"; fi ;;
    *) echo "$1" ;;
  esac
}
# A fresh machine may have empty lists.
[ -n "${MDOC_VIRTUAL_KERNEL:-}$(newest)" ] || [ "$(id -u)" -ne 0 ] || apt-get update >/dev/null 2>&1 </dev/null || :
release=${MDOC_VIRTUAL_KERNEL:-$(sound "$(newest)")}
[ -n "$release" ] || die "the package lists name no kernel" "as root: apt-get update"

# Everything that the result depends on: a change of any of these makes the last steps again.
stamp="$release $bumble $(cat "$here/setup.sh" "$here/initramfs-init" "$here/guest-init" | cksum)"
if [ "$(cat "$board/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
mkdir -p "$board/packages" "$board/root" "$board/source" "$board/modules"
# One at a time; who waited may find it made.
exec 9>"$board/lock"
flock 9
if [ "$(cat "$board/stamp" 2>/dev/null)" = "$stamp" ]; then exit 0; fi
remark "virtual board: making kernel $release ready in $board"
board=$(cd "$board" && pwd)
cd "$board"
rm -f stamp

# The packages that the headers need: their names differ between Debian's releases.
needed_by_headers() {
  apt-cache depends "linux-headers-$release" | sed -n 's/.*Depends: \(linux-headers-.*-common\|linux-kbuild-.*\)$/\1/p'
}
series=$(printf '%s' "$release" | cut -d . -f 1,2)

# --- Download and unpack; no maintainer script runs ----------------------------------------------------------------
if [ ! -f "packages/$release" ]; then
  rm -rf packages root
  mkdir packages root
  # shellcheck disable=SC2046 # names of packages are meant to be split
  (cd packages && apt-get download "linux-image-$release" "linux-headers-$release" $(needed_by_headers) \
    "linux-source-$series" v4l2loopback-source busybox-static) >"$board/download.log" 2>&1 ||
    die "apt-get could not download the kernel: $(tail -n 1 "$board/download.log")" "as root: apt-get update; then try again"
  for package in packages/*.deb; do
    case $package in
      packages/linux-source-*) ;; # two files of it are taken out below
      *) dpkg-deb --extract "$package" root ;;
    esac
  done
  # The headers' Makefile includes an absolute path, and so do the links to kbuild in newer releases.
  sed -i "s#include /usr/src/#include $board/root/usr/src/#" "root/usr/src/linux-headers-$release/Makefile"
  touch "packages/$release"
fi
headers=$board/root/usr/src/linux-headers-$release
if [ -d root/usr/lib/modules ]; then modules=usr/lib/modules; else modules=lib/modules; fi

# module NAME: builds modules/NAME/NAME.ko from what is in that folder.
module() {
  # Without type information for BPF, which would take another program and the kernel's own.
  make -s -C "$headers" M="$board/modules/$1" CONFIG_DEBUG_INFO_BTF_MODULES= modules >"$board/$1.log" 2>&1 ||
    die "the module $1 does not build for $release: $(grep -m 1 -i error "$board/$1.log" || tail -n 1 "$board/$1.log")" \
      "all of it is in $board/$1.log"
}
is_built() { [ "$(modinfo -F vermagic "modules/$1/$1.ko" 2>/dev/null | cut -d ' ' -f 1)" = "$release" ]; }

# --- gpio-sim: Debian builds neither it nor the simulator of interrupts it uses -------------------------------------
# Every symbol of the two files is exported but irq_to_desc(), which irq_sim.c uses once, to call the flow handler of an
# interrupt; generic_handle_irq() is exported and does the same. A module may not be named as one of its parts is.
if ! is_built gpio-sim; then
  mkdir -p modules/gpio-sim
  tree=linux-source-$series
  dpkg-deb --fsys-tarfile "packages/$tree"_*.deb | tar -xO "./usr/src/$tree.tar.xz" |
    tar -C source -xJ "$tree/drivers/gpio/gpio-sim.c" "$tree/drivers/gpio/gpiolib.h" "$tree/kernel/irq/irq_sim.c"
  cp "source/$tree/drivers/gpio/gpio-sim.c" modules/gpio-sim/simulator.c
  cp "source/$tree/drivers/gpio/gpiolib.h" modules/gpio-sim/
  sed 's/handle_simple_irq(irq_to_desc(irqnum))/generic_handle_irq(irqnum)/' \
    "source/$tree/kernel/irq/irq_sim.c" >modules/gpio-sim/interrupts.c
  printf 'obj-m := gpio-sim.o\ngpio-sim-y := simulator.o interrupts.o\n' >modules/gpio-sim/Makefile
  module gpio-sim
fi

# --- v4l2loopback: a camera whose picture is written by a program ----------------------------------------------------
if ! is_built v4l2loopback; then
  mkdir -p modules/v4l2loopback
  tar -C source -xjf root/usr/src/v4l2loopback.tar.bz2
  cp source/modules/v4l2loopback*/*.[ch] modules/v4l2loopback/
  echo 'obj-m := v4l2loopback.o' >modules/v4l2loopback/Makefile
  module v4l2loopback
fi

mkdir -p "root/$modules/$release/extra"
for name in gpio-sim v4l2loopback; do
  # Without their debug sections they load faster in an emulated machine.
  strip --strip-debug -o "root/$modules/$release/extra/$name.ko" "modules/$name/$name.ko"
done
# depmod and modprobe want the folder where it always was.
[ -e root/lib ] || ln -s usr/lib root/lib
depmod -b "$board/root" "$release"

# --- The kernel, unpacked: an emulated machine would take seconds for that at each boot -----------------------------
python3 - "root/boot/vmlinuz-$release" vmlinux <<'END'
import lzma, sys
image = open(sys.argv[1], 'rb').read()
at = image.find(b'\xfd7zXZ\0')
if at >= 0:     # packed otherwise, it boots as it is, only slower
    image = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(image[at:])
open(sys.argv[2], 'wb').write(image)
END

# --- The first file system: only what mounts the host's. All other modules come from there --------------------------
rm -rf first
mkdir -p first/bin first/mods first/proc first/sys first/dev first/lower first/rw first/new
busybox=root/bin/busybox
[ -e "$busybox" ] || busybox=root/usr/bin/busybox
cp "$busybox" first/bin/busybox
for applet in sh mount mkdir cat insmod cp poweroff switch_root; do ln -s busybox "first/bin/$applet"; done
cp "$here/initramfs-init" first/init
cp "$here/guest-init" first/guest-init
chmod 755 first/init first/guest-init
: >first/mods/order
for top in virtio_pci 9pnet_virtio 9p overlay virtio_console; do
  modprobe -d "$board/root" -S "$release" --show-depends "$top" | sed -n 's/^insmod \([^ ]*\).*/\1/p' |
    while read -r file; do
      name=$(basename "$file")
      name=${name%.xz}
      [ ! -f "first/mods/$name" ] || continue
      case $file in
        *.xz) xz --decompress --stdout "$file" >first/mods/packed && strip --strip-debug -o "first/mods/$name" first/mods/packed ;;
        *) strip --strip-debug -o "first/mods/$name" "$file" ;;
      esac
      echo "$name" >>first/mods/order
    done
done
rm -f first/mods/packed
(cd first && find . | cpio --create --format newc --quiet | gzip -1) >first.gz

# --- The phone's Python ----------------------------------------------------------------------------------------------
if [ "$(cat python/version 2>/dev/null)" != "$bumble" ]; then
  rm -rf python
  { python3 -m venv python && python/bin/pip install --quiet "bumble==$bumble" segno; } >python.log 2>&1 </dev/null ||
    die "bumble $bumble could not be installed: $(tail -n 1 python.log)" "see that the Python package index can be reached"
  echo "$bumble" >python/version
fi
echo "$modules" >where-modules
echo "$stamp" >stamp
