// The offers for GPUs: which patterns suit a task, most promising first.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "hone/pattern/gpu_attention.h"
#include "hone/pattern/gpu_conv.h"
#include "hone/pattern/gpu_interleaved.h"
#include "hone/pattern/gpu_matmul.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_pool.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/names.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/parts.h"
#include "hone/pattern/plain.h"

namespace hone::pattern {
namespace {

/// Rows beyond this many elements are read several times or shared out between blocks.
constexpr int64_t kLongRow = 16384;
/// Likewise with fewer columns, where they are deep enough to be shared out.
constexpr int64_t kFewColumns = 32768;
constexpr int64_t kDeepColumns = 1024;
/// What the registers of a large device hold between them.
constexpr int64_t kLongestShared = 264 * kLongRow;
/// Beyond it so little of a row stays with blocks that it is not worth their waiting.
constexpr int64_t kLongestKept = 16 * kLongestShared;
/// Rows between these were measured to be faster in warp-specialised kernels than in shared_rows (docs/patterns/specialised_rows.md): of shorter ones a group
/// is a few blocks; of longer ones the gain is small, and group norm needs more registers than there are. A cluster cannot keep those either.
constexpr int64_t kShortestSpecialised = 16 * kLongRow, kLongestSpecialised = 64 * kLongRow;
/// Scans read what they scan twice where they are shared out between blocks: of rows this long, or of fewer columns than this.
constexpr int64_t kLongScan = 8192, kFewScanned = 8192;
/// Lines of at least as many elements are worth a group of threads each.
constexpr int64_t kShortLine = 32;
/// Lines of fewer leave most of a tile empty that is turned.
constexpr int64_t kShortTile = 16;
/// With fewer rows than this the device is not full of them.
constexpr int64_t kFewRows = 512;
/// Rows for two turns of a large device's clusters: with fewer no row is read while another is written, and multiprocessors are idle.
constexpr int64_t kRowsAtOnce = 32;

/// Offers of single patterns.
std::vector<Offer> direct_gpu_offers(const task::Task& task, kernel::Language language, std::vector<std::string>& why_not) {
  std::vector<Offer> offers = gpu_conv_offers(task, language);
  if (offers.empty()) offers = gpu_attention_offers(task, language, why_not);
  if (!offers.empty()) return offers;
  const auto add = [&](const char* pattern, const char* action, Result<kernel::Kernel> kernel) {
    if (kernel) {
      kernel->header.action = action;
      offers.push_back({std::move(*kernel), pattern, action});
    } else {
      why_not.push_back(std::string(pattern) + ": " + kernel.error().message);
    }
  };
  if (gpu::has_pooling(task)) {
    add("pool", "windows on a march", gpu::pool(task, language));
    return offers;
  }
  const auto program = find_program(task, {.columns = true, .scans = true, .slices = true, .fences = {}});
  if (!program) {
    add("concat", "each piece in its place", gpu::concat(task, language));
    add("scatter", "an owner for each sum", gpu::scatter(task, language));
    add("topk", "the first of each row without sorting it", gpu::topk(task, language));
    add("sort", "tiles in shared memory, then merges", gpu::sort(task, language));
    why_not.push_back("map, rows: " + program.error().message);
    return offers;
  }
  if (program->has_scans()) {
    const auto whole = [&] {
      if (program->by_columns) add("scan_columns", "scan columns tile by tile", gpu::scan_columns(*program, language));
      else add("scans", "scan rows tile by tile", gpu::scans(*program, language));
    };
    const int64_t length = GpuWriter::largest(*program, program->extent(program->inner_axes.front()));
    const int64_t lines = GpuWriter::largest(*program, program->rows()) * (program->by_columns ? GpuWriter::largest(*program, program->extent(program->inner_axes.back())) : 1);
    const bool share = program->by_columns ? lines < kFewScanned && length >= kDeepColumns : lines < kFewRows && length >= kLongScan;
    if (!share) whole();
    add("split_scans", "chunks of scans, and what came before each", gpu::split_scans(*program, language));
    if (share) whole();
  } else if (!program->has_reductions()) {
    const auto turn = [&] { add("transposed", "turn tiles in shared memory", gpu::transposed(*program, language)); };
    const auto turned = gpu::turned(*program);
    // Of short lines most of a tile is empty.
    const bool fills = turned && GpuWriter::largest(*program, program->extent(turned->along)) >= kShortTile &&
                       GpuWriter::largest(*program, program->extent(turned->down)) >= kShortTile;
    if (fills) turn();
    const auto lines = [&] { add("rows", "fuse into one loop, a group a line", gpu::rows(*program, language)); };
    const bool short_lines = GpuWriter::breaks_lines(*program, program->nest.order) &&
                             GpuWriter::largest(*program, program->extent(program->nest.order.back())) >= kShortLine;
    if (short_lines) lines();
    if (gpu::interleaved_lines(*program)) add("interleaved", "short lines as runs of memory", gpu::interleaved(*program, language));
    add("map", "fuse into one loop", gpu::map(*program, language));
    if (offers.empty()) lines();
    if (!fills) turn();
  } else if (program->by_columns) {
    const int64_t count = GpuWriter::largest(*program, program->rows()) * GpuWriter::largest(*program,
        program->extent(program->inner_axes.back()));
    const int64_t deep = GpuWriter::largest(*program, program->row_length()) / std::max<int64_t>(1, GpuWriter::largest(*program,
        program->extent(program->inner_axes.back())));
    if (count < kFewColumns && deep >= kDeepColumns) add("split_columns", "share columns out between blocks", gpu::split_columns(*program,
        language));
    add("columns", "tiles of columns", gpu::columns(*program, language));
  } else {
    const int64_t length = GpuWriter::largest(*program, program->row_length()), count = GpuWriter::largest(*program, program->rows());
    const bool share = length > kLongRow && count < kFewRows;
    const auto specialised = [&] {
      if (length <= kLongestSpecialised) add("specialised_cluster", "some waves read rows, others write them; clusters share a row", gpu::specialised_cluster(*program, language));
      add("specialised_rows", "some waves read rows, others write them", gpu::specialised_rows(*program, language));
    };
    const bool specialised_first = length >= kShortestSpecialised && length <= kLongestSpecialised && count >= kRowsAtOnce;
    if (specialised_first) specialised();
    if (length > kLongRow && length <= kLongestKept) add("shared_rows", "groups of blocks keep rows", gpu::shared_rows(*program, language));
    if (length > kLongRow && length <= kLongestKept && !specialised_first) specialised();
    if (length > kLongRow && length <= kLongestShared) add("resident_rows", "several blocks hold a row", gpu::resident_rows(*program, language));
    if (!share) add("rows", "keep rows in registers", gpu::rows(*program, language));
    add("split", "share rows out between blocks", gpu::split(*program, language));
    if (share) add("rows", "keep rows in registers", gpu::rows(*program, language));
  }
  return offers;
}

/// Offers for a part of a larger graph whose products have no computed factors.
std::vector<Offer> stored_offers(const task::Task& part, kernel::Language language) {
  std::vector<std::string> ignored;
  std::vector<Offer> offers = gpu_matmul_offers(part, language);
  return offers.empty() ? direct_gpu_offers(part, language, ignored) : offers;
}

/// Offers for a part of a larger graph.
std::vector<Offer> part_offers(const task::Task& part, kernel::Language language) {
  std::vector<std::string> ignored;
  std::vector<Offer> offers = gpu_computed_offers(part, language, ignored), stored = stored_offers(part, language);
  std::move(stored.begin(), stored.end(), std::back_inserter(offers));
  return offers;
}

}  // namespace

std::vector<Offer> offers_gpu(const task::Task& given, kernel::Language language, std::vector<std::string>& why_not) {
  const Names names(given);
  const task::Task task = normal_form(names.task());
  const task::Task written = with_fewer_divisions(names.task());
  std::vector<Offer> offers = gpu_computed_offers(written, language, why_not), products = gpu_matmul_offers(written, language), others = direct_gpu_offers(task, language, why_not);
  const bool computed = !offers.empty();
  std::move(products.begin(), products.end(), std::back_inserter(offers));
  if (others.empty()) {
    // What writes a computed factor first is offered behind what computes it on its way. HIP does nothing else.
    const bool stores = computed || language != kernel::Language::kCuda;
    const auto direct = [language, stores](const task::Task& part) { return stores ? stored_offers(part, language) : part_offers(part, language); };
    const auto plain = [language](const task::Task& part) { return Offer{plain_kernel(part, language), "plain", "plain loops", 1}; };
    others = offers_in_parts(normal_form(names.task(), true), {[&](const task::Task& part) { return !direct(part).empty(); }, direct, plain});
  }
  std::move(others.begin(), others.end(), std::back_inserter(offers));
  return names.given(std::move(offers));
}

}  // namespace hone::pattern
