// What the translation unit of a HIP kernel on the emulator begins with. The toolchain compiles it once (simt.cc).
#pragma once
#include "hone/simt/hip.h"
#include "hone/simt/entry.h"
