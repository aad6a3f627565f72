// Inputs of one instance of a task in memory of our own, for looks at some boxes of its outputs: only what those read
// is drawn, and memory that is not drawn is not touched. Not thread-safe.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "hone/evaluate/oracle/reduction_helper.h"
#include "hone/evaluate/verify/inputs.h"
#include "hone/task/task.h"

namespace hone::evaluate {

class DrawnInputs {
 public:
  /// `task` and `graph` (an instance of it) must outlive this.
  DrawnInputs(const task::Task& task, const task::ConcreteGraph& graph);

  /// What answers over these boxes of an output need will be drawn, and the same places of inputs that have as many
  /// elements as the output. What a helper covers: see add_what_is_read().
  void need(int output, std::span<const Box> boxes, const Coverage& coverage = {});
  /// All of an input will be drawn.
  void need_all(int input);
  /// Draws all that is needed; input number i with seeds[i].
  void draw(Family family, std::span<const uint64_t> seeds, int threads);

  [[nodiscard]] std::vector<TensorView> views() const;
  /// The segments of an input that are drawn, sorted, apart from each other.
  [[nodiscard]] const std::vector<Segment>& drawn(int input) const { return segments_[static_cast<size_t>(input)]; }
  [[nodiscard]] uint8_t* data(int input) { return data_[static_cast<size_t>(input)].get(); }

 private:
  const task::Task& task_;
  const task::ConcreteGraph& graph_;
  std::vector<std::unique_ptr<uint8_t[]>> data_;
  std::vector<std::vector<Segment>> segments_;
  std::vector<DrawBounds> bounds_;
};

}  // namespace hone::evaluate
