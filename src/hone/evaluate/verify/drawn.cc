#include "hone/evaluate/verify/drawn.h"

#include <sys/mman.h>

#include "hone/evaluate/verify/integer_bounds.h"
#include "hone/evaluate/verify/segments.h"

namespace hone::evaluate {
namespace {

/// Huge pages are asked for where at least this share of a tensor is drawn.
constexpr int64_t kShareDrawn = 4;

/// Gigabytes that are about to be written: a fault for each 4 KiB would take longer than drawing them.
void ask_for_huge_pages(uint8_t* data, int64_t bytes) {
  constexpr uintptr_t kPage = 4096;
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(data) + kPage - 1) / kPage * kPage, end = reinterpret_cast<uintptr_t>(data) + static_cast<uintptr_t>(bytes);
  if (end > begin + kPage) (void)madvise(reinterpret_cast<void*>(begin), (end - begin) / kPage * kPage, MADV_HUGEPAGE);
}

}  // namespace

DrawnInputs::DrawnInputs(const task::Task& task, const task::ConcreteGraph& graph)
    : task_(task), graph_(graph), segments_(graph.graph.inputs.size()), bounds_(draw_bounds(task, graph)) {
  for (size_t i = 0; i < task.inputs.size(); ++i)
    data_.push_back(std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(
        task::element_count(graph.shapes[static_cast<size_t>(graph.graph.inputs[i])]) * task::size_of(task.inputs[i].type.dtype))));
}

void DrawnInputs::need(int output, std::span<const Box> boxes, const Coverage& coverage) {
  add_what_is_read(graph_, output, boxes, segments_, coverage);
}

void DrawnInputs::need_all(int input) {
  const auto at = static_cast<size_t>(input);
  segments_[at] = {{0, task::element_count(graph_.shapes[static_cast<size_t>(graph_.graph.inputs[at])])}};
}

void DrawnInputs::draw(Family family, std::span<const uint64_t> seeds, int threads) {
  for (size_t i = 0; i < data_.size(); ++i) {
    const task::InputSpec& spec = task_.inputs[i];
    const task::Shape& shape = graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])];
    int64_t drawn = 0;
    for (const Segment& s : segments_[i]) drawn += s.end - s.begin;
    if (drawn * kShareDrawn >= task::element_count(shape)) ask_for_huge_pages(data_[i].get(), task::element_count(shape) * task::size_of(spec.type.dtype));
    evaluate::draw(spec, shape, bounds_[i], family, seeds[i], data_[i].get(), threads, &segments_[i]);
  }
}

std::vector<TensorView> DrawnInputs::views() const {
  std::vector<TensorView> views;
  for (size_t i = 0; i < data_.size(); ++i)
    views.push_back({task_.inputs[i].type.dtype, graph_.shapes[static_cast<size_t>(graph_.graph.inputs[i])], data_[i].get()});
  return views;
}

}  // namespace hone::evaluate
