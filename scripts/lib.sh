# Shared by the scripts in this folder: sourced after cd to the repository's root. POSIX sh.

say() { printf 'lapilli: %s\n' "$*" >&2; }

have_cmd() { command -v "$1" >/dev/null 2>&1; }
have_header() {
  for header_dir in /usr/include /usr/local/include ${VULKAN_SDK:+"$VULKAN_SDK/include"}; do
    [ -e "$header_dir/$1" ] && return 0
  done
  return 1
}
# have_any PATTERN...: one of the patterns names a file (patterns are globs, given quoted).
have_any() {
  for any_pattern in "$@"; do
    for any_file in $any_pattern; do
      [ -e "$any_file" ] && return 0
    done
  done
  return 1
}
have_driver() {
  [ -n "${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-}" ] ||
    have_any '/usr/share/vulkan/icd.d/*.json' '/usr/local/share/vulkan/icd.d/*.json' '/etc/vulkan/icd.d/*.json'
}

# Wine's 64-bit program: Debian puts it where nothing is searched for.
find_wine() {
  for wine in wine64 wine /usr/lib/wine/wine64; do
    ! have_cmd "$wine" || break
  done
  echo "$wine"
}

# find_qemu PROCESSOR: Debian's packages qemu-user and qemu-user-static name it differently.
find_qemu() {
  for qemu in "qemu-$1-static" "qemu-$1"; do
    ! have_cmd "$qemu" || break
  done
  echo "$qemu"
}

# own_headers DIR: header-only libraries are the same for every system, but the rest of /usr/include is not: a compiler for
# another system is shown only these, in DIR.
own_headers() {
  mkdir -p "$1"
  for own_name in vulkan vk_video nlohmann CLI stb spirv; do
    for own_from in ${VULKAN_SDK:+"$VULKAN_SDK/include"} /usr/local/include /usr/include; do
      [ ! -e "$own_from/$own_name" ] || { ln -sfn "$own_from/$own_name" "$1/$own_name" && break; }
    done
  done
}

# missing_packages WHAT: the Debian names of what is not there, for WHAT = run | test | cross. It looks for the things
# themselves, not for packages: what came another way (an SDK, another distribution) counts, and the look costs nothing.
missing_packages() {
  have_cmd cmake || echo cmake
  have_cmd ninja || have_cmd make || echo ninja-build
  have_cmd c++ || have_cmd g++ || have_cmd clang++ || echo g++
  have_cmd glslangValidator || have_cmd glslang || echo glslang-tools
  have_header vulkan/vulkan_core.h || echo libvulkan-dev
  have_any '/usr/lib/*/libvulkan.so.1' '/usr/lib*/libvulkan.so.1' '/usr/local/lib*/libvulkan.so.1' || echo libvulkan1
  have_driver || echo mesa-vulkan-drivers
  have_header nlohmann/json.hpp || echo nlohmann-json3-dev
  have_header stb/stb_truetype.h || have_header stb_truetype.h || echo libstb-dev
  have_header webp/decode.h || echo libwebp-dev
  have_header tiffio.h || have_any '/usr/include/*/tiffio.h' || echo libtiff-dev
  have_header utf8proc.h || echo libutf8proc-dev
  have_header pcre2.h || echo libpcre2-dev
  have_header zlib.h || echo zlib1g-dev
  have_header md4c.h || echo libmd4c-dev
  have_header zstd.h || echo libzstd-dev
  have_header sndfile.h || echo libsndfile1-dev
  have_header samplerate.h || echo libsamplerate0-dev
  have_header CLI/CLI.hpp || echo libcli11-dev
  have_header curl/curl.h || have_any '/usr/include/*/curl/curl.h' || echo libcurl4-openssl-dev
  have_header boost/beast/http/basic_parser.hpp || echo libboost-dev
  have_header cld2/public/compact_lang_det.h || echo libcld2-dev
  [ "$1" != run ] || return 0
  # Tests always run on lavapipe, also where there is a GPU.
  have_any '/usr/share/vulkan/icd.d/lvp_icd*.json' '/usr/local/share/vulkan/icd.d/lvp_icd*.json' ||
    echo mesa-vulkan-drivers
  have_any '/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json' \
    '/usr/local/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json' || echo vulkan-validationlayers
  have_header gtest/gtest.h || echo libgtest-dev
  have_header gmock/gmock.h || echo libgmock-dev
  have_header spirv/unified1/spirv.h || echo spirv-headers
  have_cmd spirv-val || echo spirv-tools
  have_any '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf' || echo fonts-dejavu-core
  [ -n "${LAPILLI_TEST_UNICODE_DATA:-}" ] || [ -e /usr/share/unicode/auxiliary/SentenceBreakTest.txt ] || echo unicode-data
  have_cmd espeak-ng || echo espeak-ng
  # The sample game's window, and what xvfb-run asks for (scripts/portable mingw).
  have_header SDL2/SDL.h || echo libsdl2-dev
  have_cmd Xvfb || echo xvfb
  have_cmd xauth || echo xauth
  have_cmd pkg-config || have_cmd pkgconf || echo pkgconf
  have_cmd readelf || echo binutils
  # Tools that pack and check a deb are of use only on Debian.
  ! have_cmd dpkg || have_cmd lintian || echo lintian
  ! have_cmd dpkg || have_cmd dpkg-shlibdeps || echo dpkg-dev
  python3 -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
  # Packing the Android sample takes a JDK, which is too large to be installed for that alone.
  ! have_cmd javac || have_cmd aapt2 || echo aapt
  ! have_cmd javac || have_cmd zipalign || echo zipalign
  ! have_cmd javac || have_cmd apksigner || echo apksigner
  [ "$1" != test ] || return 0
  case $1 in
  portable-arm64) have_cmd aarch64-linux-gnu-g++ || echo g++-aarch64-linux-gnu ;;
  portable-armhf) have_cmd arm-linux-gnueabihf-g++ || echo g++-arm-linux-gnueabihf ;;
  portable-i386) have_cmd i686-linux-gnu-g++ || echo g++-i686-linux-gnu ;;
  esac
  case $1 in
  portable-arm*) have_cmd "$(find_qemu arm)" || echo qemu-user ;;
  esac
  [ "${1#portable-}" = "$1" ] || return 0
  have_cmd aarch64-linux-gnu-g++ || echo g++-aarch64-linux-gnu
  have_cmd x86_64-w64-mingw32-g++-posix || echo g++-mingw-w64-x86-64-posix
  have_cmd "$(find_qemu aarch64)" || echo qemu-user
  have_cmd "$(find_wine)" || echo wine64
}

# install_missing WHAT: does nothing, quickly, if all is there. Otherwise installs with apt-get as root or through sudo;
# where that cannot be, or with LAPILLI_OFFLINE set, names the packages and gives back 69 ("service unavailable").
install_missing() {
  packages=$(missing_packages "$1" | sort -u | tr '\n' ' ')
  packages=${packages% }
  [ -n "$packages" ] || return 0
  as_root=
  if [ -n "${LAPILLI_OFFLINE:-}" ]; then
    say "these are missing, and LAPILLI_OFFLINE forbids to fetch them (named as in Debian 12): $packages"
    return 69
  elif ! have_cmd apt-get; then
    say "these are missing (named as in Debian 12; install your system's counterparts): $packages"
    return 69
  elif [ "$(id -u)" -ne 0 ]; then
    if have_cmd sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
      as_root=sudo
    else
      say "these Debian packages are missing, and only root may install them. As root, run:"
      say "  apt-get install --no-install-recommends $packages"
      return 69
    fi
  fi
  say "installing $packages"
  apt_log=$(mktemp)
  # shellcheck disable=SC2086 # a list of package names
  if { $as_root apt-get -qq update && $as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -y install --no-install-recommends $packages; } >"$apt_log" 2>&1; then
    rm -f "$apt_log"
    packages=$(missing_packages "$1" | sort -u | tr '\n' ' ')
    [ -z "$packages" ] || { say "still missing after installing: $packages"; return 69; }
  else
    cat "$apt_log" >&2
    rm -f "$apt_log"
    say "apt-get could not install: $packages"
    return 69
  fi
}

# quietly LOG COMMAND...: the output goes to LOG, and to stderr only if the command fails.
quietly() {
  quiet_log=$1
  shift
  if "$@" >"$quiet_log" 2>&1; then return 0; else quiet_rc=$?; fi
  cat "$quiet_log" >&2
  say "this failed: $*"
  say "its output is kept in $quiet_log"
  return "$quiet_rc"
}

# configured DIR: CMake was through with it, for the sources where they are now.
configured() {
  { [ -f "$1/build.ninja" ] || [ -f "$1/Makefile" ]; } &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$1/CMakeCache.txt" 2>/dev/null
}

# configure DIR CMAKE-ARGS...: only if the folder is not configured with these arguments already.
configure() {
  build_dir=$1
  shift
  stamp=$*
  if configured "$build_dir"; then
    [ "$(cat "$build_dir/lapilli-configured" 2>/dev/null)" != "$stamp" ] || return 0
  else
    # Also a tree that was moved, whose old cache CMake would refuse.
    rm -rf "$build_dir/CMakeCache.txt" "$build_dir/CMakeFiles"
    mkdir -p "$build_dir"
  fi
  generator=
  [ -f "$build_dir/CMakeCache.txt" ] || ! have_cmd ninja || generator=-GNinja
  quietly "$build_dir/configure.log" cmake -S . -B "$build_dir" ${generator:+"$generator"} "$@" || return
  printf '%s\n' "$stamp" >"$build_dir/lapilli-configured"
}

jobs() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

# CMake's settings for build/release. scripts/run, scripts/test and the preset `release` have the same, so that none builds again
# the files of another. Each folder is compiled as one file (cmake/OneFileAFolder.cmake).
release="-DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON"

# build DIR [TARGET...]: says how far it is, and shows the build's output only if it fails (build.log has it).
build() {
  build_dir=$1
  shift
  build_log=$build_dir/build.log
  set -- cmake --build "$build_dir" --parallel "${LAPILLI_JOBS:-$(jobs)}" ${1:+--target "$@"}
  rm -f "$build_log.failed"
  { "$@" 2>&1 || echo $? >"$build_log.failed"; } | follow "$build_log" "$(steps "$@")"
  [ -e "$build_log.failed" ] || return 0
  cat "$build_log" >&2
  say "this failed: $*"
  say "its output is kept in $build_log"
  return "$(cat "$build_log.failed")"
}

# A shader takes a hundredth of the time that a source file takes.
weight() {
  case $1 in
  *" Building C"*) echo 100 ;;
  *) echo 1 ;;
  esac
}

# steps COMMAND...: the weight of all that ninja would do for it; 0 with other tools, which do not tell.
steps() {
  [ -f "$build_dir/build.ninja" ] || { echo 0 && return; }
  "$@" -- -n 2>/dev/null | {
    steps_all=0
    while IFS= read -r step_line; do
      steps_all=$((steps_all + $(weight "$step_line")))
    done
    echo "$steps_all"
  }
}

# follow LOG WEIGHT: keeps in LOG what it reads, and says which step a build is at and how many minutes are left: on a terminal in one line,
# else ten times.
follow() {
  follow_log=$1 follow_all=$2 follow_done=0 follow_tenth=0 follow_from=$(date +%s)
  : >"$follow_log"
  while IFS= read -r follow_line; do
    printf '%s\n' "$follow_line" >>"$follow_log"
    case $follow_line in
    "["*/*"] "*) ;;
    *) continue ;;
    esac
    follow_done=$((follow_done + $(weight "$follow_line")))
    [ "$follow_all" -gt 1000 ] && [ "$follow_done" -le "$follow_all" ] || continue
    follow_now=$((follow_done * 10 / follow_all))
    [ -t 2 ] || [ "$follow_now" -gt "$follow_tenth" ] || continue
    follow_tenth=$follow_now
    follow_step=${follow_line#"["}
    follow_left=$(((($(date +%s) - follow_from) * (follow_all - follow_done) / follow_done + 59) / 60))
    follow_text="building: step ${follow_step%%/*} of ${follow_step#*/}"
    follow_text="${follow_text%%]*}, some $follow_left min left"
    if [ -t 2 ]; then printf '\r\033[Klapilli: %s' "$follow_text" >&2; else say "$follow_text"; fi
  done
  [ ! -t 2 ] || [ "$follow_done" -eq 0 ] || printf '\r\033[K' >&2
}
