#include "hone/evaluate/verify/drawn.h"

#include <sys/mman.h>

#include <algorithm>

#include "hone/evaluate/oracle/evaluator.h"
#include "hone/evaluate/oracle/runs.h"

namespace hone::evaluate {
namespace {

/// Stretches nearer than this are drawn as one: no more is drawn for it, as parts are larger.
constexpr int64_t kNear = 1 << 12;
/// Huge pages are asked for where at least this share of a tensor is drawn.
constexpr int64_t kShareDrawn = 4;

void add(const task::Shape& shape, const Box& box, std::vector<Stretch>& to) {
  if (is_empty(box)) return;
  for_each_piece(shape, box, [&](int64_t first, int64_t length) {
    if (!to.empty() && first >= to.back().begin && first <= to.back().end + kNear) to.back().end = std::max(to.back().end, first + length);
    else to.push_back({first, first + length});
  });
}

void merge(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  std::vector<Stretch> merged;
  for (const Stretch& s : stretches)
    if (!merged.empty() && s.begin <= merged.back().end + kNear) merged.back().end = std::max(merged.back().end, s.end);
    else merged.push_back(s);
  stretches = std::move(merged);
}

/// Gigabytes that are about to be written: a fault for each 4 KiB would take longer than drawing them.
void ask_for_huge_pages(uint8_t* data, int64_t bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage, end = reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes);
  if (end > begin + kPage) (void)madvise(reinterpret_cast<void*>(begin), (end - begin) / kPage * kPage, MADV_HUGEPAGE);
}

}  // namespace

DrawnInputs::DrawnInputs(const task::Task& task, const task::ConcreteGraph& graph)
    : task_(task), graph_(graph), stretches_(graph.graph.inputs.size()) {
  for (size_t i = 0; i < task.inputs.size(); ++i)
    data_.push_back(std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(
        task::element_count(graph.shapes[static_cast<size_t>(graph.graph.inputs[i])]) * task::size_of(task.inputs[i].type.dtype))));
}

void DrawnInputs::need(int output, std::span<const Box> boxes) {
  const int root = graph_.graph.outputs[static_cast<size_t>(output)];
  const auto facts = facts_of(graph_);
  const TiledEvaluator evaluator(graph_, facts, {}, Arithmetic::kExact, false);
  const task::Shape& result = graph_.shapes[static_cast<size_t>(root)];
  for (const Box& box : boxes) {
    const std::vector<Box> read = evaluator.inputs_read(root, box);
    for (size_t i = 0; i < read.size(); ++i) {
      const task::Shape& shape = graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])];
      add(shape, read[i], stretches_[i]);
      if (task::element_count(shape) == task::element_count(result)) add(result, box, stretches_[i]);
    }
  }
  for (auto& stretches : stretches_) merge(stretches);
}

void DrawnInputs::draw(Family family, std::span<const uint64_t> seeds, int threads) {
  for (size_t i = 0; i < data_.size(); ++i) {
    const task::InputSpec& spec = task_.inputs[i];
    const task::Shape& shape = graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])];
    int64_t drawn = 0;
    for (const Stretch& s : stretches_[i]) drawn += s.end - s.begin;
    if (drawn * kShareDrawn >= task::element_count(shape)) ask_for_huge_pages(data_[i].get(), task::element_count(shape) * task::size_of(spec.type.dtype));
    const auto bound = spec.index_bound.eval(graph_.bindings);
    evaluate::draw(spec, shape, bound ? *bound : 1, family, seeds[i], data_[i].get(), threads, &stretches_[i]);
  }
}

std::vector<TensorView> DrawnInputs::views() const {
  std::vector<TensorView> views;
  for (size_t i = 0; i < data_.size(); ++i)
    views.push_back({task_.inputs[i].type.dtype, graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])], data_[i].get()});
  return views;
}

}  // namespace hone::evaluate
