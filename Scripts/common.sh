# What the scripts share. Sourced, with the working folder set to the top of the checkout.

export SWIFT_BACKTRACE=enable=no # a crash ends a run at once instead of starting a debugger
cache="${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/mdoc-reader"

# The flags of every debug build. `Scripts/check` looks at a strict one, where warnings are errors; it has a folder of its
# own, since a change of flags would build everything anew. With MDOC_STRICT=1 (CI) tests and demo use that one too, so
# that everything is built once.
strict_flags="--scratch-path .build/strict -Xswiftc -warnings-as-errors -Xcc -Werror"
build_flags=
[ "${MDOC_STRICT:-0}" != 1 ] || build_flags=$strict_flags

say() { printf '%s\n' "$*"; }
remark() { printf '%s\n' "$*" >&2; }

# die WHAT REMEDY
die() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  [ $# -lt 2 ] || printf '  %s\n' "$2" >&2
  exit 1
}

# The packages of the named groups, as packages.txt lists them.
packages() {
  for group in "$@"; do
    awk -v group="$group" '!/^#/ && $2 == group { print $1 }' Scripts/packages.txt
  done
}

# step NAME COMMAND...: runs it, says how long it took, keeps its exit status.
step() {
  step_name=$1
  shift
  step_start=$(date +%s)
  remark "== $step_name"
  step_status=0
  "$@" || step_status=$?
  step_seconds=$(($(date +%s) - step_start))
  if [ "$step_status" -ne 0 ]; then
    remark "== $step_name: FAILED with status $step_status after $step_seconds s"
    exit "$step_status"
  fi
  remark "== $step_name: passed in $step_seconds s"
}

can_sign() {
  "$1" -c 'from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.hashes import SHA256
ECDSA(SHA256(), deterministic_signing=True)' >/dev/null 2>&1 </dev/null
}

# A Python that can run the independent wallet: it needs `cryptography` 42 or later (deterministic ECDSA), which Debian 13
# has and Debian 12 has not. Prints the interpreter, or fails.
peer_python() {
  for candidate in "${MDOC_PYTHON:-python3}" /usr/bin/python3 "$cache/python/bin/python3"; do
    if can_sign "$candidate"; then
      command -v "$candidate"
      return 0
    fi
  done
  return 1
}
