// What the translation unit of a CUDA kernel on the emulator begins with. The toolchain compiles it once (simt.cc).
#pragma once
#include "hone/simt/cuda.h"
#include "hone/simt/entry.h"
