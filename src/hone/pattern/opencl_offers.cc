// The offers in OpenCL C: which patterns suit a task, most promising first.
#include <algorithm>

#include "hone/pattern/compose.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/opencl_patterns.h"
#include "hone/pattern/parts.h"
#include "hone/pattern/plain_gpu.h"

namespace hone::pattern {
namespace opencl {
namespace {

/// Fewer rows than this that are longer than that are shared between groups; so many never are, which would cost more memory
/// than they lie in.
constexpr int64_t kFewRows = 512, kLongRow = 16384, kManyRows = 65536;

/// Offers of single patterns.
std::vector<Offer> direct_offers(const task::Task& task, std::vector<std::string>& why_not) {
  std::vector<Offer> offers;
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (kernel) {
      kernel->header.action = action;
      offers.push_back({std::move(*kernel), pattern, action});
    } else {
      why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    }
  };
  add("matmul", "tile in local memory", matmul(task));
  if (!offers.empty()) return offers;
  const auto program = find_program(task, {.columns = false, .scans = false, .slices = true, .placed = {}, .fences = {}});
  if (!program) {
    why_not.push_back("map, rows: " + program.error().message);
    return offers;
  }
  if (!program->has_reductions()) {
    add("map", "fuse into one loop", map(*program));
    if (offers.empty()) add("rows", "fuse into one loop", rows(*program));
    return offers;
  }
  if (!program->row_axes.empty() && program->row_axes.back() == program->nest.order.back()) {
    add("columns", "an item a column", columns(*program));
    return offers;
  }
  const int64_t rows_most = GpuWriter::largest(*program, program->rows());
  const bool share = GpuWriter::largest(*program, program->row_length()) > kLongRow && rows_most < kFewRows;
  if (share) add("split", "share rows between groups", split(*program));
  add("rows", "a group a row", rows(*program));
  if (!share && rows_most < kManyRows) add("split", "share rows between groups", split(*program));
  return offers;
}

std::vector<Offer> direct_offers_of(const task::Task& task) {
  std::vector<std::string> ignored;
  return direct_offers(task, ignored);
}

bool has_direct_offer(const task::Task& task) { return !direct_offers_of(task).empty(); }

}  // namespace
}  // namespace opencl

std::vector<Offer> offers_opencl(const task::Task& given, std::vector<std::string>& why_not) {
  // A product without rows or columns is one here, but no longer in the normal form.
  if (auto product = opencl::matmul(given)) {
    product->header.action = "tile in local memory";
    return {{std::move(*product), "matmul", "tile in local memory"}};
  }
  const task::Task task = normal_form(given);
  std::vector<Offer> offers = opencl::direct_offers(task, why_not);
  if (!offers.empty()) return offers;
  const auto plain = [](const task::Task& part) { return Offer{plain_opencl(part), "plain", "plain loops"}; };
  return offers_in_parts(task, {opencl::has_direct_offer, opencl::direct_offers_of, plain, compose_opencl});
}

}  // namespace hone::pattern
