// A product's factors in Triton: places along its letters and offsets of elements. Pure text.
#pragma once
#include <string>

#include "hone/pattern/contraction.h"
#include "hone/pattern/triton_tile.h"

namespace hone::pattern {

class TritonFactors {
 public:
  /// `prefix` begins the names of places: i_b, i_m, …
  TritonFactors(const task::Task& task, const Contraction& all, TritonParameters& parameters, std::string prefix)
      : task_(task), all_(all), parameters_(parameters), prefix_(std::move(prefix)) {}

  /// Places along a group's letters, from one along all of them.
  [[nodiscard]] std::string places(const AxisGroup& group, const std::string& from, const std::string& indent) const;
  /// The pointers to a factor's elements, by the places along the product's batch, `lines` and depth.
  [[nodiscard]] std::string pointers(const Factor& factor, const AxisGroup& lines) const;
  [[nodiscard]] task::DType dtype_of(const Factor& factor) const { return task_.primitive.node(factor.input).type.dtype; }

 private:
  [[nodiscard]] std::string offset(const Factor& factor, const AxisGroup& group) const;

  const task::Task& task_;
  const Contraction& all_;
  TritonParameters& parameters_;
  std::string prefix_;
};

/// How float32 is multiplied on a task's track: by the tunable EXACT, or in `precision`; factors are brought to `cast` first.
struct TritonMethod {
  std::string cast;        ///< empty: as they are
  std::string precision;   ///< ", input_precision=…"; empty: there is one only
  bool exact = false;      ///< by a tunable
};
[[nodiscard]] TritonMethod triton_method(task::Track track, task::DType a, task::DType b);

}  // namespace hone::pattern
