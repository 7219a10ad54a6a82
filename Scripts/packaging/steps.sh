# shellcheck shell=sh disable=SC2154,SC2034,SC2016 # variables of common.sh, for in_root, and for the shell inside
# The steps of Scripts/package. Sourced after common.sh and roots.sh. `step` takes their status, so that `set -e` does not
# end them: what may fail says `|| return` or dies.

output=$PWD/.build/package
architectures="amd64 arm64"
# Where the checkout is seen in every root: one place, so that the programs do not depend on where this is run.
inside=/build/package
amd64=$cache/trixie-amd64
arm64=$cache/trixie-arm64

make_roots() {
  # shellcheck disable=SC2046
  make_root amd64 swiftlang $(packages build test) debhelper lintian systemd tzdata man-db
  # shellcheck disable=SC2046
  make_root arm64 swiftlang $(packages build test) debhelper
}

# What is packed: the commit, marked when the checkout has changes. Files are as old as the commit, so that packing the same
# commit again gives the same bytes.
commit=$(git rev-parse --short=8 HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
version=$(awk '/^## / { print ($3 == "unreleased") ? $2 "~" : $2; exit }' CHANGELOG.md | tr -d ,)
case $version in
  *~) version=${version}git$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M%S).$commit ;;
  "") die "CHANGELOG.md has no section" "give it one: ## VERSION, unreleased" ;;
esac
[ -z "$(git status --porcelain)" ] || version=$version+changed

# How to build for arm64 on amd64: the sysroot is the arm64 root, with the same compiler's library. $1: swift_static or swift,
# the library to link; $2: more flags of the compiler.
destination() {
  gcc=$(ls "$arm64/usr/lib/gcc/aarch64-linux-gnu")
  cat <<JSON
{"version":1,"sdk":"/sysroot-arm64","toolchain-bin-dir":"/usr/libexec/swift/bin","target":"aarch64-unknown-linux-gnu",
 "dynamic-library-extension":"so","extra-cc-flags":["-fPIC"],
 "extra-swiftc-flags":["-sdk","/sysroot-arm64","-tools-directory","/usr/libexec/swift/bin",
  "-resource-dir","/sysroot-arm64/usr/libexec/swift/lib/$1"$2,"-use-ld=lld",
  "-Xclang-linker","--sysroot=/sysroot-arm64","-L/sysroot-arm64/usr/lib/gcc/aarch64-linux-gnu/$gcc"],
 "extra-cpp-flags":["-lstdc++"]}
JSON
}

# swift_build ARCH OPTION...: a build in the amd64 root, in a folder of its own for each architecture. With `again`, it is one
# that nothing else uses.
again=
swift_build() {
  built_for=$1
  shift
  case $built_for in
    amd64) in_root "$amd64" sh -c 'cd /build/package && scratch=$1 && shift &&
      exec swift build --scratch-path "$scratch" "$@"' - ".build/amd64$again" "$@" ;;
    arm64)
      binds=$arm64:/sysroot-arm64
      in_root "$amd64" env PKG_CONFIG_PATH=/sysroot-arm64/usr/lib/aarch64-linux-gnu/pkgconfig \
        PKG_CONFIG_LIBDIR=/sysroot-arm64/usr/lib/aarch64-linux-gnu/pkgconfig:/sysroot-arm64/usr/share/pkgconfig \
        PKG_CONFIG_SYSROOT_DIR=/sysroot-arm64 \
        sh -c 'cd /build/package && scratch=$1 && shift &&
        exec swift build --scratch-path "$scratch" "$@"' - ".build/arm64$again" "$@" || return
      binds=
      ;;
  esac </dev/null
}

# Once the program runs, the tables of what it calls can no longer be written.
# lld does so, the linker that Swift 6.0.3 takes by itself (gold) does not.
hardened="-Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now"
# Stacks of C and C++ have a guard. _FORTIFY_SOURCE is not for us: Swift reads the same headers, and finds `read` twice then.
for language in -Xcc -Xcxx; do hardened="$hardened $language -fstack-protector-strong"; done

step_build() {
  copy_checkout "$amd64$inside"
  mkdir -p "$amd64$inside/.build"
  destination swift_static ',"-static-stdlib"' >"$amd64$inside/.build/static.json"
  for program in mdoc-reader mdoc-wallet; do
    # shellcheck disable=SC2086
    swift_build amd64 -c release --static-swift-stdlib -Xswiftc -use-ld=lld $hardened --product "$program" || return
    # shellcheck disable=SC2086
    swift_build arm64 -c release --destination .build/static.json $hardened --product "$program" || return
  done
}

# debian/changelog in the form of Debian, from CHANGELOG.md.
debian_changelog() {
  awk -v version="$version" -v now="$(date -u -R -d "@$SOURCE_DATE_EPOCH")" '
    function close_entry() {
      if (open) printf "\n -- mdoc-reader maintainers <maintainers@mdoc-reader.example>  %s\n\n", date
    }
    function item() {
      if (text == "") return
      line = "  *"
      count = split(text, words, " ")
      for (i = 1; i <= count; i++) {
        if (length(line) + 1 + length(words[i]) > 78) { print line; line = "   " }
        line = line " " words[i]
      }
      print line
      text = ""
    }
    /^## / {
      item(); close_entry()
      sub(/,$/, "", $2)
      printf "mdoc-reader (%s) trixie; urgency=medium\n\n", open ? $2 : version
      date = now
      if ($3 != "unreleased") { "date -u -R -d " $3 | getline date; close("date -u -R -d " $3) }
      open = 1
      next
    }
    !open { next }
    /^$/ { item(); next }
    /^- / { item(); text = substr($0, 3); next }
    { gsub(/^ +/, ""); text = text (text == "" ? "" : " ") $0 }
    END { item(); close_entry() }' CHANGELOG.md
}

# Stages the sources of the packages in the folder $1.
stage() {
  rm -rf "$1"
  mkdir -p "$1/man"
  cp -R Scripts/packaging/debian "$1/debian"
  debian_changelog >"$1/debian/changelog"
  for page in Scripts/packaging/man/*; do
    sed -e "s/@VERSION@/$version/" -e "s/@DATE@/$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)/" "$page" \
      >"$1/man/${page##*/}"
  done
  cp -R board "$1/board"
  # Beside the installed file there is no place for pictures and sockets
  sed -e 's|^pictures = "pictures"$|pictures = "/run/mdoc-reader/pictures"|' \
    -e 's|^air = "air"$|air = "/run/mdoc-reader/air"|' config/reader.toml >"$1/reader.toml"
  [ "$(grep -cE '^(pictures|air) = "/run' "$1/reader.toml")" -eq 2 ] ||
    die "config/reader.toml has no line pictures or air that can be changed" "see stage in Scripts/packaging/steps.sh"
}

step_pack() {
  # What was said of other packages is not of these
  rm -f "$output"/*.deb "$output"/*.log
  for architecture in $architectures; do
    root=$cache/trixie-$architecture
    stage "$root/build/packing/mdoc-reader" || return
    mkdir -p "$root/build/packing/bin"
    for program in mdoc-reader mdoc-wallet; do
      cp "$amd64$inside/.build/$architecture$again/release/$program" "$root/build/packing/bin/" ||
        die "$program for $architecture is not built" "Scripts/package build"
    done
    rm -f "$root/build/packing"/*.deb
    binds=
    if [ "$architecture" != amd64 ]; then
      binds=$amd64:/native
      for native in dpkg-deb perl file; do binds="$binds $PWD/Scripts/packaging/native:/usr/bin/$native"; done
    fi
    in_root "$root" env MDOC_BINARIES=/build/packing/bin SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" \
      sh -c 'cd /build/packing/mdoc-reader && umask 022 && debian/rules binary' </dev/null >"$output/pack-$architecture.log" 2>&1 ||
      die "debhelper failed for $architecture: $(tail -n 1 "$output/pack-$architecture.log")" "see $output/pack-$architecture.log"
    binds=
    cp "$root/build/packing"/*.deb "$output/"
  done
  count=$(find "$output" -name '*.deb' | wc -l)
  [ "$count" -eq 4 ] || die "$count packages instead of 4 in $output" "see $output/pack-*.log"
  (cd "$output" && ls -l ./*.deb && sha256sum ./*.deb)
}

# Everything once more from nothing: the packages must be the same to the byte. Takes as long as the first build.
step_again() {
  [ -n "$(find "$output" -maxdepth 1 -name '*.deb')" ] || die "the packages are not made" "Scripts/package build pack"
  (cd "$output" && sha256sum ./*.deb) >"$output/sha256"
  first=$output
  output=$first/again again=-again
  mkdir -p "$output"
  rm -rf "$amd64$inside/.build/"*-again
  { step_build && step_pack; } || return
  rm -rf "$amd64$inside/.build/"*-again
  (cd "$output" && sha256sum --check --strict "$first/sha256") || return
  output=$first again=
}

step_lint() {
  rm -rf "$amd64/build/lint"
  mkdir -p "$amd64/build/lint"
  cp "$output"/*.deb Scripts/packaging/check-manual "$amd64/build/lint/"
  logged "$output/lintian.log" in_root "$amd64" sh -c 'cd /build/lint && lintian --allow-root \
    --fail-on error,warning,info,pedantic --pedantic --display-info --show-overrides ./*.deb' ||
    die "lintian has something to say" "mend it, or override it in Scripts/packaging/debian with the reason"
  in_root "$amd64" sh -c 'cd /build/lint && mkdir tree && for deb in ./*_amd64.deb; do dpkg-deb -x "$deb" tree; done &&
    exec sh ./check-manual tree' </dev/null
}

# A layer over the root $1, named $2, with nothing in it, and the packages for $3 in its folder /packages.
fresh_layer() {
  layer=$cache/layer-$2
  rm -rf "$layer"
  mkdir -p "$layer/changes/packages"
  cp "$output"/*_"$3".deb Scripts/packaging/try-installed "$layer/changes/packages/"
}

step_try() {
  make_base arm64
  fresh_layer "$cache/trixie-arm64-base" try arm64
  logged "$output/arm64.log" in_root "$cache/trixie-arm64-base" sh /packages/try-installed || return
  rm -rf "$layer"
  layer=
}

step_unit() {
  fresh_layer "$amd64" unit amd64
  cp Scripts/packaging/try-unit "$layer/changes/packages/"
  logged "$output/unit.log" Scripts/packaging/boot "$amd64" "$layer" /packages/try-unit || return
  rm -rf "$layer"
  layer=
}

step_board() {
  Scripts/virtual-board setup || return
  folder=$amd64/build/board
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$output"/mdoc-reader_*_amd64.deb "$folder/" || die "the packages are not made" "Scripts/package build pack"
  dpkg-deb -x "$output"/mdoc-wallet_*_amd64.deb "$folder/wallet" || return
  # Of Debian 13, whatever this machine is
  cat >"$folder/mdoc-wallet" <<PROGRAM
#!/bin/sh
exec $amd64/lib64/ld-linux-x86-64.so.2 --library-path $amd64/usr/lib/x86_64-linux-gnu $folder/wallet/usr/bin/mdoc-wallet "\$@"
PROGRAM
  chmod +x "$folder/mdoc-wallet"
  logged "$output/board.log" "${MDOC_VIRTUAL_BOARD:-$cache/virtual-board}/python/bin/python" -B Scripts/packaging/board.py "$amd64" "$folder"
}

# The tests themselves are not optimised (Package.swift); what they test is, as it is shipped, or they do not come to their end in an hour here.
step_tests() {
  copy_checkout "$amd64$inside"
  destination swift '' >"$amd64$inside/.build/dynamic.json"
  swift_build arm64 -c release --build-tests -Xswiftc -enable-testing --destination .build/dynamic.json || return
  binds="$amd64$inside:$inside"
  # The tests are linked to the compiler's shared libraries, which no search path of the linked file leads to in this root. One
  # after the other: an emulated processor is slow, and deadlines are for one test at a time.
  logged "$output/arm64-tests.log" in_root "$arm64" env MDOC_STRIDE=5 LD_LIBRARY_PATH=/usr/libexec/swift/lib/swift/linux \
    sh -c 'cd /build/package && uname -m && exec .build/arm64/release/mdoc-readerPackageTests.xctest --testing-library swift-testing --no-parallel' || return
  binds=
}

# logged FILE COMMAND...: what it says is in the file as well; its status is kept (POSIX sh has no pipefail).
logged() {
  log=$1
  shift
  { status=0; "$@" </dev/null || status=$?; echo "$status" >"$log.status"; } 2>&1 | tee "$log"
  status=$(cat "$log.status")
  rm -f "$log.status"
  return "$status"
}

# What there is at the end.
summary() {
  for file in "$output"/*.deb; do say "$(stat -c '%9s' "$file") ${file#"$PWD/"}"; done
  [ ! -f "$output/lintian.log" ] ||
    say "lintian: nothing but $(grep -c '^O:' "$output/lintian.log" || :) findings that debian/*.lintian-overrides explain: ${output#"$PWD/"}/lintian.log"
  [ ! -f "$output/arm64.log" ] || say "arm64, emulated: ${output#"$PWD/"}/arm64.log: $(tail -n 1 "$output/arm64.log")"
  [ ! -f "$output/unit.log" ] || say "the unit under systemd: ${output#"$PWD/"}/unit.log: $(tail -n 1 "$output/unit.log")"
  [ ! -f "$output/arm64-tests.log" ] ||
    say "the tests on arm64, emulated: ${output#"$PWD/"}/arm64-tests.log: $(tail -n 1 "$output/arm64-tests.log")"
}
