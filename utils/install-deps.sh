#!/bin/sh
# Installs what the project is built with, on Debian 12 or 13: LLVM, MLIR and
# clang 22.1, CMake, Ninja, ccache, OpenBLAS, zlib, Boost's headers, GoogleTest
# and Python's headers and venv. Needs root. Running it again changes nothing. Python packages
# are not installed here: the build puts them into its own environment.
set -eu

# The development package of LLVM brings the headers that its CMake files ask
# for; clang brings the sanitizers and OpenMP in its own version.
packages="
  build-essential
  ccache
  clang-22
  clang-format-22
  clang-tidy-22
  cmake
  git
  libboost-dev
  libclang-rt-22-dev
  libgmock-dev
  libgtest-dev
  libmlir-22-dev
  libomp-22-dev
  libopenblas-dev
  lld-22
  llvm-22-dev
  llvm-22-tools
  mlir-22-tools
  ninja-build
  python3
  python3-dev
  python3-venv
  zlib1g-dev
"

fail() {
  echo "install-deps.sh: error: $1" >&2
  exit 1
}

[ -r /etc/os-release ] || fail "no /etc/os-release; this script knows Debian 12 and 13 only"
# shellcheck disable=SC1091
. /etc/os-release
case "${ID:-}:${VERSION_ID:-}" in
debian:12 | debian:13) ;;
*) fail "this is ${PRETTY_NAME:-an unknown system}; the script knows Debian 12 and 13 only. \
Elsewhere, install LLVM and MLIR 22.1 with their development files and set CMAKE_PREFIX_PATH." ;;
esac

missing=""
for package in $packages; do
  state=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  echo "install-deps.sh: everything is installed"
  exit 0
fi

[ "$(id -u)" = 0 ] || fail "needs root: run 'sudo utils/install-deps.sh' to install:$missing"

log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
echo "install-deps.sh: installing$missing"
if ! apt-get update --quiet --quiet >"$log" 2>&1; then
  cat "$log" >&2
  fail "apt-get update failed: check the network and the package sources"
fi
# shellcheck disable=SC2086
if ! apt-get install --yes --quiet --no-install-recommends $missing >"$log" 2>&1; then
  cat "$log" >&2
  fail "apt-get install failed; LLVM 22 comes with Debian's own security or backports sources"
fi
echo "install-deps.sh: done"
