// Tensors that have a few elements of each place side by side, beside others that have them apart: which, and the kernel functions for it. Pure.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"

namespace hone::pattern::gpu {

struct Interleaved {
  int along = -1;           ///< the short axis
  std::vector<int> down;    ///< the axes of places, outermost first
  std::vector<LineRun> runs;    ///< tensors that have lines along `along` one behind the other, place by place
};
/// kUnavailable: all tensors have them in one way, or it is not element by element.
[[nodiscard]] Result<Interleaved> interleaved_lines(const Program& program);

struct InterleavedText {
  std::string function, launch;
  std::string bytes;                  ///< of shared memory, for a plan's constraint
  int64_t run_bytes = 0;              ///< of a place, in all runs
  int widest = 1;                     ///< elements a word
  std::set<std::string> conditions;
};
/// Its parameters and arguments are those of `whole`, the task that the program is of or is a piece of.
[[nodiscard]] Result<InterleavedText> interleaved_text(const Program& program, const Interleaved& lines, const std::string& name, const task::Task& whole);
/// "THREADS = […], VEC = […], UNROLL = […]", with first values that shared memory has room for.
[[nodiscard]] Result<std::string> interleaved_tunables(int64_t run_bytes, int widest);

/// A map whose runs stand in shared memory.
[[nodiscard]] Result<kernel::Kernel> interleaved(const Program& program, kernel::Language language);

}  // namespace hone::pattern::gpu
