// Plain kernels on a CPU. Not part of hone/cpu.h: only plain kernels include it.
#pragma once
#include "hone/cpu.h"
#include "hone/plain_loops.h"
