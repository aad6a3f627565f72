// Values of inputs at which something changes: where a function overflows, underflows, reaches its limit, is zero, or begins to be
// defined; where a comparison turns; numbers that a kernel's source spells out. A step taken a little too early there is met by no
// family, whose values are spread over all magnitudes. Pure.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/verify/inputs.h"

namespace hone::evaluate {

/// Whether each element of the outputs hangs on single elements of the inputs: nothing is added up, sorted or contracted.
[[nodiscard]] bool is_elementwise(const task::Graph& graph);

/// For each input the places where a value that hangs on it alone changes its class (finite, normal, zero, its sign, NaN, as far as
/// it goes), found by bisection between some thousand numbers of all magnitudes. Of functions of several inputs those of the function itself.
[[nodiscard]] std::vector<std::vector<double>> turning_points(const task::ConcreteGraph& graph);

/// Numbers in a source, with either sign, without zero; of large whole ones also the f32 with these bits.
[[nodiscard]] std::vector<double> numbers_in(std::string_view source);

/// What values may be put into a tensor.
struct Telling {
  std::vector<double> points;
  double least = 0, most = 0;  ///< of magnitudes
  bool positive = false;
  double share = 1;            ///< of the elements
};
/// Of an input in whose domain there is nothing to choose, nothing. `points`: of this input and of the source. `elementwise`: of the task. `denormals`: kept
/// by the target, so that positive inputs may be denormal too.
[[nodiscard]] Telling telling_of(const task::InputSpec& spec, const DrawBounds& bounds, std::vector<double> points, bool elementwise, bool denormals);

/// Puts numbers beside the points, at distances of all magnitudes, into a share of the elements.
void put_beside(std::span<std::byte> data, task::DType type, const Telling& telling, base::Rng& rng, int threads = 1);

}  // namespace hone::evaluate
