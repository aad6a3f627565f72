// The kinds of tasks, one function each: a chain or a small graph of one or two heavy operations as a kind of program
// has them, with what stands around them drawn from the mix.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hone/task/drawn/sketch.h"

namespace hone::task::drawn {

using Kind = void (*)(Sketch&);
using Kinds = std::vector<std::pair<std::string, Kind>>;  ///< by key of [kinds]

[[nodiscard]] Kinds language_kinds();    ///< transformers: feed-forward blocks, attention, experts
[[nodiscard]] Kinds vision_kinds();      ///< convolutional nets, diffusion, video
[[nodiscard]] Kinds sequence_kinds();    ///< speech, scans, state spaces, recurrent cells
[[nodiscard]] Kinds decision_kinds();    ///< recommenders, retrieval, samplers, losses
[[nodiscard]] Kinds numeric_kinds();     ///< quantised products, statistics, movement, science

/// Null where no kind has that name.
[[nodiscard]] Kind find_kind(const std::string& name);

}  // namespace hone::task::drawn
