// Inputs of which whole lines are of one kind: masks without any true or with nothing else, indices that are all the same, numbers
// that are all at one end of their type or of their domain, or denormal, or binades smaller than the others. Where each element is drawn by itself a long line is never
// that, and who begins a maximum at -1e30 or forgets that a mask may be empty is never wrong. Pure.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// What the lines of an input may be filled with.
struct FilledLines {
  enum class Kind : uint8_t {
    kNone,   ///< nothing: the input stays as it is
    kTruth,  ///< none, all, one, all but one, the first few
    kIndex,  ///< the same one everywhere: the first half of the time, the last a quarter
    kUnit,   ///< near 0, or near 1
    kEnds,   ///< near either end of what may be drawn, or denormal
    kSmall   ///< as they were drawn, but for a power of two
  };
  Kind kind = Kind::kNone;
  int64_t bound = 1;       ///< kIndex: of indices
  double most = 0;         ///< kEnds: the largest magnitude; kSmall: the most bits to be smaller by
  double denormal = 0;     ///< kEnds: the type's smallest normal number, where its denormals are drawn; else 0
  bool positive = false;
};

/// For each input; `denormals`: kept by the target. Numbers near the ends of a float's range are drawn where the graph only moves and
/// compares numbers; where it is linear in them too, such that no sum overflows. Elsewhere, where something is added to or compared
/// with a number that the task spells out, and numbers meet others of a line, they are small, line by line: an epsilon is nothing beside numbers near
/// 1, wherever it is added.
[[nodiscard]] std::vector<FilledLines> lines_of(const task::Task& task, const task::ConcreteGraph& graph, std::span<const DrawBounds> bounds, bool denormals);

/// Fills three lines in four, along some axis; `whole`: the tensor as if it were one line, with none left out and, of masks, with all or none;
/// `plain` as well: masks are true and indices 0.
void fill_lines(std::span<std::byte> data, const task::Shape& shape, task::DType type, const FilledLines& lines, bool whole, bool plain, base::Rng& rng, int threads = 1);

}  // namespace hone::evaluate
