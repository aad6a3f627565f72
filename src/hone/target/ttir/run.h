// Runs one launch of a TTIR function: every program of the grid, one after the other, each operation over whole tensors, in
// the arithmetic that NVIDIA's cards have (docs/triton.md says where it is not to the last bit). One thread.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "hone/target/ttir/memory.h"
#include "hone/target/ttir/text.h"

namespace hone::target::ttir {

/// What a launch gives a parameter: an address, an integer, or the bits of an f32.
using Argument = uint64_t;

/// Names the first operation of the module that the interpreter has not; empty: it has them all. Gives operations their
/// numbers and calls their functions, so it comes before run(); the module stays where it is.
[[nodiscard]] std::string prepare(Module& module);

struct Found {
  Stop stop;
  int64_t program[3] = {0, 0, 0};
  int line = 0;
};

/// Throws Found. `grid`: x, y, z. Arguments are as many as the function has parameters.
void run(const Function& function, std::span<const Argument> arguments, const int64_t* grid, Memory& memory);

}  // namespace hone::target::ttir
