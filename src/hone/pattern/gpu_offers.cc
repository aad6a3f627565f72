// The offers for GPUs: which patterns suit a task, most promising first.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/normal_form.h"

namespace hone::pattern {
namespace {

using task::Node;

/// Rows beyond this many elements are read several times or shared out between blocks.
constexpr int64_t kLongRow = 16384;
/// With fewer rows than this the device is not full of them.
constexpr int64_t kFewRows = 512;

bool has_reductions(const Program& program) {
  return std::any_of(program.passes.begin(), program.passes.end(), [](const Pass& p) { return !p.reductions.empty(); });
}

bool has_scans(const Program& program) {
  const auto& nodes = program.nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return task::is_scan(node.prim); });
}

/// Offers of single patterns.
std::vector<Offer> direct_offers(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto program = find_program(task, {.scans = true, .slices = true});
  if (!program) {
    why_not.push_back("map, rows: " + program.error().message);
    return offers;
  }
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (kernel) {
      kernel->header.action = action;
      offers.push_back({std::move(*kernel), pattern, action});
    } else {
      why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    }
  };
  if (has_scans(*program)) {
    why_not.emplace_back("scans: not yet");
  } else if (!has_reductions(*program)) {
    add("map", "fuse into one loop", gpu::map(*program, language));
    if (offers.empty()) add("rows", "fuse into one loop", gpu::rows(*program, language));
  } else if (program->by_columns) {
    add("columns", "tiles of columns", gpu::columns(*program, language));
  } else {
    const int64_t length = GpuWriter::largest(*program, program->row_length()), count = GpuWriter::largest(*program, program->rows());
    const bool share = length > kLongRow && count < kFewRows;
    if (!share) add("rows", "keep rows in registers", gpu::rows(*program, language));
    add("split", "share rows out between blocks", gpu::split(*program, language));
    if (share) add("rows", "keep rows in registers", gpu::rows(*program, language));
  }
  return offers;
}

}  // namespace

std::vector<Offer> offers_gpu(const task::Task& given, kernel::Language language, std::vector<std::string>& why_not) {
  const task::Task task = normal_form(given);
  return direct_offers(task, language, why_not);
}

}  // namespace hone::pattern
