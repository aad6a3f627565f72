// How a work group that PoCL has compiled is called: the function `_pocl_kernel_NAME_workgroup` runs one
// group, all its work items, on the calling thread. The layout is PoCL's own and may change with its
// versions, so hone tries it on a kernel with known answers before it believes in it (hone-opencl probe).
#pragma once
#include <stdint.h>

namespace hone {

struct PoclContext {
  uint64_t groups[3], offset[3], size[3];
  unsigned char* printf_buffer;
  uint32_t* printf_position;
  uint32_t printf_capacity;
  uint32_t dimensions;
  uint64_t rest[8];  // whatever newer versions keep here is zero
};

using PoclGroup = void (*)(unsigned char** arguments, const PoclContext*, uint64_t x, uint64_t y, uint64_t z);

/// Kernels' own __local variables follow the arguments, a pointer each. How many there are PoCL does not
/// say, only their bytes together: so this many areas of that size.
inline constexpr int kPoclLocals = 16;

/// Runs groups [begin, end) of a launch. `slots`: one pointer or integer an argument, then the block's
/// extents; `local_argument[i]` is true where argument i is __local memory, all of which is `shared`.
/// LOCALS: bytes of the kernel's own __local variables, a multiple of 128.
template <int ARGUMENTS, int DIMENSIONS, int LOCALS>
inline void pocl_run(PoclGroup group, const uint64_t* slots, const bool* local_argument, void* shared,
                     const int64_t* grid, int64_t begin, int64_t end) {
  alignas(128) unsigned char locals[kPoclLocals * LOCALS + 128];
  void* pointers[ARGUMENTS + kPoclLocals];
  unsigned char* arguments[ARGUMENTS + kPoclLocals];
  for (int i = 0; i < ARGUMENTS + kPoclLocals; ++i) {
    if (i >= ARGUMENTS) pointers[i] = locals + (i - ARGUMENTS) * LOCALS;
    else pointers[i] = local_argument[i] ? shared : reinterpret_cast<void*>(slots[i]);
    arguments[i] = reinterpret_cast<unsigned char*>(&pointers[i]);
  }
  PoclContext context{};
  for (int d = 0; d < 3; ++d) {
    context.groups[d] = static_cast<uint64_t>(grid[d]);
    context.size[d] = d < DIMENSIONS ? slots[ARGUMENTS + d] : 1;
  }
  context.dimensions = DIMENSIONS;
  for (int64_t i = begin; i < end; ++i)
    group(arguments, &context, static_cast<uint64_t>(i % grid[0]), static_cast<uint64_t>(i / grid[0] % grid[1]),
          static_cast<uint64_t>(i / (grid[0] * grid[1])));
}

}  // namespace hone
