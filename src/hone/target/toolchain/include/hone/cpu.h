// hone's device header for CPU kernels in C++: vectors of the machine's native width, loads and
// stores for every storage type, tails that never read past the end, arithmetic and mathematics.
// Everything is inline, works on vectors and scalars alike, keeps no state and cannot fail.
// Compile with -std=c++20 -O3 -march=native -fno-math-errno -fno-trapping-math -ffp-contract=fast
// (g++ 12, with -fschedule-insns -fsched-pressure, or clang++ 16, or later). -ffast-math would break NaN, infinity and the polynomials.
#pragma once
#include "hone/cpu/arithmetic.h"
#include "hone/cpu/columns.h"
#include "hone/cpu/divide.h"
#include "hone/cpu/integer.h"
#include "hone/cpu/math.h"
#include "hone/cpu/matmul.h"
#include "hone/cpu/memory.h"
#include "hone/cpu/plan.h"
#include "hone/cpu/loops.h"
#include "hone/cpu/reduce.h"
#include "hone/cpu/scan.h"
#include "hone/cpu/sort.h"
#include "hone/cpu/vector.h"
#include "hone/cpu/whole.h"
#include "hone/cpu/windows.h"
