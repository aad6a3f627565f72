#!/usr/bin/env bash
# Installs the Debian packages that hone needs and that are not there yet. Asks nothing. When nothing
# is missing it needs neither root nor network.
#
#   scripts/install_packages.sh          what building and running takes
#   scripts/install_packages.sh check    and what `make check` takes on top to build its tests
#   scripts/install_packages.sh tests    what its tests use where it is there; the build needs none of it and may go on beside it
set -euo pipefail

build_packages=(
  ca-certificates      # https for whatever is fetched later
  cmake                # the build's description, 3.25 or newer
  ninja-build          # runs the build
  g++                  # compiles hone, and at run time the C++ kernels that hone writes
  ccache               # a second build costs seconds
  mold                 # links fast
  pkg-config           # finds the libraries that bring no CMake package
  libcli11-dev         # command line
  libtomlplusplus-dev  # task files and kernel headers (TOML)
  nlohmann-json3-dev   # reports and protocols (JSON)
  libsqlite3-dev       # the archive
  libfmt-dev           # text formatting
  libexpected-dev      # tl::expected, the results that carry errors
  libcurl4-openssl-dev # language models over HTTP
  libcpp-httplib-dev   # hone mcp --http, and the tests' own model server
  libvalijson-dev      # JSON Schema: answers of models, arguments of tools
  libseccomp-dev       # the jail around a candidate
  libsodium-dev        # hashes, and random numbers nobody can foresee
  zlib1g-dev           # reads compressed tuning spaces
  libeigen3-dev        # small matrices of the tuner's models
)
check_packages=(
  libgtest-dev         # unit tests
  libgmock-dev         # matchers and fakes
  librapidcheck-dev    # property tests
  python3              # test runners (standard library only)
  python3-venv         # the environment that PyTorch is installed into
  make                 # the short commands
)

# More to compare with and to build with; hone runs without them, and tests that need them skip. Of
# alternatives the first that there is.
optional_packages=(
  "clang-22 clang-19 clang-16"   # a second C++ compiler for kernels, and the emulator's
  "libclang-rt-22-dev libclang-rt-19-dev libclang-rt-16-dev"   # its sanitizers
  lld-22                         # with clang-22: HIP kernels for AMD cards
  llvm-22                        # counts their instructions
  valgrind                       # models a CPU kernel's caches: hone profile --caches
  libopenblas0-pthread           # opponent of matrix products
  libdnnl-dev                    # oneDNN, opponent of matrix products, convolutions, …
)

packages=()
optional=()
case "${1:-build}" in
  build) packages=("${build_packages[@]}") ;;
  check) packages=("${build_packages[@]}" "${check_packages[@]}") ;;
  tests) optional=("${optional_packages[@]}") ;;
  *) echo "usage: $0 [build|check|tests]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  if ((${#packages[@]} == 0)); then exit 0; fi
  echo "hone: this is not a Debian system, so nothing was installed. These are needed, by Debian's names:"
  printf '    %s\n' "${packages[@]}"
  exit 0
fi

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $state == installed ]] || missing+=("$package")
done
is_installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true) == installed ]]; }
wanted=()  # optional ones that are missing
for names in "${optional[@]}"; do
  for name in $names; do if is_installed "$name"; then continue 2; fi; done
  wanted+=("$names")
done
if ((${#missing[@]} == 0 && ${#wanted[@]} == 0)); then exit 0; fi
if ((${#missing[@]} == 0 && EUID != 0)) && ! sudo -n true 2>/dev/null; then
  echo "hone: some tests will be skipped; these would be useful, and installing them takes root: ${wanted[*]}"
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! sudo -n true 2>/dev/null; then
    echo "hone: packages are missing, and installing them takes root. Run this, then try again:" >&2
    echo "    sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo -n)
fi

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300
     -o Acquire::Retries=3)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The lists of packages are asked for once, and not by each of two calls within the hour.
asked=/run/hone-apt-update
are_lists_fresh() { [[ -n $(find "$asked" -mmin -60 2>/dev/null) && -n $(find /var/lib/apt/lists -maxdepth 1 -name '*_Packages*' -print -quit) ]]; }
update() { "${apt[@]}" update && { "${as_root[@]}" touch "$asked" || true; }; }
if ((${#missing[@]} > 0)); then
  echo "hone: installing ${#missing[@]} Debian packages: ${missing[*]}"
  are_lists_fresh || update
elif ! are_lists_fresh; then
  update >"$log" 2>&1 || true
fi
# Dpkg's hundreds of lines are of interest only when it fails.
if ((${#missing[@]} > 0)) && ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >"$log" 2>&1; then
  cat "$log" >&2
  echo "hone: apt-get could not install: ${missing[*]}" >&2
  exit 1
fi

chosen=()
for names in "${wanted[@]}"; do
  for name in $names; do
    apt-cache show "$name" >/dev/null 2>&1 || continue
    chosen+=("$name")
    break
  done
done
if ((${#chosen[@]} == 0)); then exit 0; fi
echo "hone: installing ${chosen[*]}"
if ! "${apt[@]}" install -y --no-install-recommends "${chosen[@]}" </dev/null >"$log" 2>&1; then  # one by one, then
  for name in "${chosen[@]}"; do
    "${apt[@]}" install -y --no-install-recommends "$name" </dev/null >"$log" 2>&1 ||
      echo "hone: $name could not be installed; what needs it will be skipped"
  done
fi
