// The emulator's run-time: the one file that a toolchain compiles besides a kernel's own.
#pragma once
#include "hone/simt/runtime/device.h"
