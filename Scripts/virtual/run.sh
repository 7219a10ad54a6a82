#!/bin/sh
# Boots the virtual board, runs a command in it, prints what it says, and exits as it does.
#
#   run.sh [OPTIONS] -- COMMAND [ARGUMENT]...
#     --gpio "NAME NAME..."  a gpiochip with these lines; their state is in /run/gpio/NAME/value
#     --gpio-label LABEL     of the chip (default pinctrl-bcm2711)
#     --pull-up "NAME..."    lines that are high while nobody drives them
#     --camera               /dev/video0 is a loopback: who writes to it (lens.py) is what it sees
#     --vivid                /dev/video0 is the kernel's test camera, which can be unplugged and fail
#     --hci SOCKET           a Bluetooth controller on a serial line, served on this socket (phone.py)
#     --fast-hci             that line is a virtio console, five times as fast
#     --control SOCKET       a line of shell sent here is run beside the command; answered by its output and "=STATUS"
#     --env NAME=VALUE       set there; may be repeated
#     --share FOLDER         is /run/share there, to read and write
#     --timeout SECONDS      the board is ended after this long (default 120), exit status 124
#     --console FILE         the kernel's log
#
# The root there is the host's own, with memory on top: a command is a path that is valid here, and sees the same files.
# Exit status 125 when the board did not finish. Standard input is not passed.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/Scripts/common.sh"
board=${MDOC_VIRTUAL_BOARD:-$cache/virtual-board}

# The text as one word of a shell
quoted() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")"; }

run=$(mktemp -d "${TMPDIR:-/tmp}/board.XXXXXX")
qemu=
# shellcheck disable=SC2317 # called by the trap
finish() {
  status=$?
  trap - EXIT
  [ -z "$qemu" ] || { kill "$qemu" 2>/dev/null || :; wait "$qemu" 2>/dev/null || :; }
  rm -rf "$run"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM

printf 'export PATH=%s\n' "$(quoted "$PATH")" >"$run/facts"
fact() { printf '%s=%s\n' "$1" "$(quoted "$2")" >>"$run/facts"; }
hci='' line=ttyS1 control='' share='' timeout=120 console=$run/console
while [ $# -gt 0 ]; do
  case $1 in
    --camera | --vivid | --fast-hci | --) ;;
    --*) [ $# -gt 1 ] || die "$1 needs a value" "run.sh says at its top what there is" ;;
  esac
  case $1 in
    --gpio) fact gpio "$2"; shift ;;
    --gpio-label) fact gpio_label "$2"; shift ;;
    --pull-up) fact gpio_pull_up "$2"; shift ;;
    --camera) fact camera 1 ;;
    --vivid) fact vivid 1 ;;
    --hci) hci=$2; shift ;;
    --fast-hci) line=hvc0 ;;
    --control) control=$2; shift ;;
    --env) printf 'export %s=%s\n' "${2%%=*}" "$(quoted "${2#*=}")" >>"$run/facts"; shift ;;
    --share) share=$(cd "$2" && pwd); shift ;;
    --timeout) timeout=$2; shift ;;
    --console) console=$2; shift ;;
    --) shift; break ;;
    *) die "unknown option $1" "run.sh says at its top what there is" ;;
  esac
  shift
done
[ $# -gt 0 ] || die "no command" "Scripts/virtual-board run -- COMMAND"
[ -f "$board/stamp" ] || die "the virtual board is not set up" "Scripts/virtual-board setup"

[ -z "$hci" ] || fact hci "/dev/$line"
[ -z "$share" ] || cat >>"$run/facts" <<'END'
mkdir -p /run/share
mount -t 9p -o trans=virtio,version=9p2000.L,msize=262144,cache=none share /run/share
END
for word; do quoted "$word"; printf ' '; done >"$run/command"
echo >>"$run/command"

# Each device on the virtual bus costs 0.3 s of boot, so there are only two: one folder (the host's root, which holds all
# else) and one serial device with many ports. Never KVM: where virtualisation is itself emulated it can hang.
share_how=security_model=none,multidevs=remap
set -- -nodefaults -no-user-config -display none -no-reboot -accel tcg,thread=multi -M q35 -cpu Nehalem -m 1024 \
  -kernel "$board/vmlinux" -initrd "$board/first.gz" \
  -append "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off nokaslr tsc=reliable random.trust_cpu=on no_timer_check cryptomgr.notests board.run=$run board.modules=$board/root/$(cat "$board/where-modules")" \
  -chardev "file,id=console,path=$console" -serial chardev:console \
  -virtfs "local,path=/,mount_tag=host,readonly=on,$share_how" \
  -device virtio-serial-pci \
  -add-fd fd=8,set=1 -chardev file,id=out,path=/dev/fdset/1,append=on \
  -add-fd fd=9,set=2 -chardev file,id=err,path=/dev/fdset/2,append=on \
  -chardev "file,id=status,path=$run/status" \
  -device virtserialport,chardev=out,name=out -device virtserialport,chardev=err,name=err \
  -device virtserialport,chardev=status,name=status
if [ -n "$hci" ]; then
  set -- "$@" -chardev "socket,id=hci,path=$hci,server=off"
  if [ $line = ttyS1 ]; then set -- "$@" -serial chardev:hci; else set -- "$@" -device virtconsole,chardev=hci; fi
fi
[ -z "$control" ] ||
  set -- "$@" -chardev "socket,id=control,path=$control,server=on,wait=off" -device virtserialport,chardev=control,name=control
[ -z "$share" ] || set -- "$@" -virtfs "local,path=$share,mount_tag=share,$share_how"

# Passed as sets of descriptors, since qemu would truncate a file that standard output is redirected to; it refuses 0 to 2.
exec 8>&1 9>&2
timeout -k 5 "$timeout" qemu-system-x86_64 "$@" </dev/null &
qemu=$!
status=0
wait "$qemu" || status=$?
qemu=
[ "${MDOC_VIRTUAL_VERBOSE:-0}" != 1 ] || grep '^board:' "$console" >&2 || :
[ ! -s "$run/status" ] || exit "$(cat "$run/status")"
remark "run.sh: the board did not finish (qemu ended with $status); the end of its console:"
tail -n 30 "$console" >&2 || :
[ "$status" -eq 0 ] || exit "$status"
exit 125
