# The short commands. Each is a few words of CMake, which does the work (CMakePresets.json).
#
#   make demo        install what is missing, build hone, optimise a first kernel
#   make check       install what is missing, build everything, run every test but the long ones
#   make check-long  the long tests
#   make build       build everything; installs nothing
#   make fast        the unit tests only
#   make pytorch     install PyTorch (pinned) where hone looks for it, to compare with
#   make triton      install Triton (pinned) where hone looks for it, for kernels in that language
#   make tilelang    install TileLang (pinned) where hone looks for it, for kernels in that language
#   make portable    one program that needs glibc only: build/portable/hone; with kernels for Hopper built ahead of time, where
#                    nvcc or NVRTC is here (PACK=none: without)
#   make install     PREFIX=/usr/local
#   make docs        write docs/language.md and docs/events.md anew, from the program's own tables
#   make format      clang-format over our sources
#   make clean       remove what was built
#
# On Debian `demo` and `check` install packages with apt-get, those that are missing and no others.

JOBS   ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: demo portable check check-long build fast tests pytorch triton tilelang install docs format clean
.DEFAULT_GOAL := build

# Tests double the build; a first look does not need them. A build folder that has them keeps them.
demo:
	@scripts/install_packages.sh build
	@if [ ! -f build/build.ninja ]; then echo "hone: building, which takes a few minutes the first time"; \
	  cmake --preset release -DHONE_TESTS=OFF --log-level=WARNING; fi
	@cmake --build build --target hone --parallel $(JOBS)
	@echo "hone: making row-wise softmax fast on this machine's CPU: build/hone optimize examples/softmax.toml"
	@build/hone optimize examples/softmax.toml

build:
	cmake --preset release -DHONE_TESTS=ON
	cmake --build build --parallel $(JOBS)

check:
	scripts/install_packages.sh check
	@scripts/setup_python.sh --begin || true
	@scripts/install_packages.sh tests & \
	  { scripts/setup_python.sh || echo "hone: no Python environment; the tests that need PyTorch will be skipped"; } & \
	  $(MAKE) --no-print-directory build && wait
	@python3 scripts/run_tests.py --jobs $(JOBS) --without long

check-long: build
	@python3 scripts/run_tests.py --only long

fast: build
	@python3 scripts/run_tests.py --jobs $(JOBS) --only unit

pytorch:
	@HONE_VENV="$${HONE_HOME:-$${XDG_DATA_HOME:-$$HOME/.local/share}/hone}/venv" scripts/setup_python.sh

triton:
	@HONE_VENV="$${HONE_HOME:-$${XDG_DATA_HOME:-$$HOME/.local/share}/hone}/triton" HONE_PINS=python/triton.txt HONE_MODULE=triton \
	  HONE_VARIABLE=HONE_TRITON_PYTHON scripts/setup_python.sh

tilelang:
	@HONE_VENV="$${HONE_HOME:-$${XDG_DATA_HOME:-$$HOME/.local/share}/hone}/tilelang" HONE_PINS=python/tilelang.txt HONE_MODULE=tilelang \
	  HONE_VARIABLE=HONE_TILELANG_PYTHON scripts/setup_python.sh

portable:
	cmake --preset portable --log-level=WARNING
	@cmake --build --preset portable --target hone --parallel $(JOBS)
	@strip -o build/portable/hone.stripped build/portable/hone && mv build/portable/hone.stripped build/portable/hone
	@scripts/check_portable.sh build/portable/hone
	@scripts/pack_portable.sh build/portable/hone

install:
	@test -f build/build.ninja || { echo "hone: nothing is built yet; run make build first" >&2; exit 1; }
	cmake --build build --target hone hone_library --parallel $(JOBS)
	cmake --install build --prefix $(PREFIX)

docs:
	cmake --build build --target hone --parallel $(JOBS)
	build/hone ops --markdown > build/language.md
	mv build/language.md docs/language.md
	build/hone runs --markdown > build/events.md
	mv build/events.md docs/events.md

format:
	@scripts/format.sh

clean:
	rm -rf build
