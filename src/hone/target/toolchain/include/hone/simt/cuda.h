// Everything that CUDA kernel source finds on the emulator.
#pragma once
#define __CUDA_ARCH__ 900
#define __CUDACC__ 1
#include "hone/simt/language.h"
#include "hone/simt/math.h"
#include "hone/simt/half.h"
