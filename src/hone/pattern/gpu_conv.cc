#include "hone/pattern/gpu_conv.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/convolution.h"
#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;

/// Depths that a block keeps a table of: FoldedDepth::kMost.
constexpr int64_t kMostFolded = 256;

/// Fills conv*.cu.
class GpuConvWriter {
 public:
  GpuConvWriter(const task::Task& task, const Convolution& all, kernel::Language language, std::string finish)
      : task_(task), all_(all), language_(language), finish_(std::move(finish)), positions_(all.images) {
    for (size_t s = 0; s < all_.space(); ++s) {
      const int64_t step = all_.transposed ? all_.stride[s] : 1;
      window_ = window_ * all_.window[s];
      rows_ = positions_;
      positions_ = positions_ * IntExpr::ceil_div(all_.to[s], step);
      products_ = products_ * step;
    }
    products_ = products_ * all_.groups;
    depth_ = all_.channels * window_;
  }

  [[nodiscard]] Offer simt() const {
    const char* action = "implicit matmul, tile in registers";
    Slots slots = common(action);
    // Few output channels take a flat tile: the same 64 sums a thread, and no rows that nobody wants.
    const int64_t rows = std::clamp<int64_t>(gpu::power_of_two(largest(all_.outputs)), 8, 128);
    slots["rows"] = gpu::choices(rows, {8, 16, 32, 64, 128});
    const int64_t columns = columns_for(rows, rows == 128 ? 128 : 8192 / rows, std::max<int64_t>(64, 4096 / rows));
    slots["columns"] = gpu::choices(columns, {128, 64, 256, 512, 1024});
    slots["depths"] = gpu::choices(std::min<int64_t>(rows / 2, 16), {16, 8, 4});
    slots["shared"] = "4 * max(2 * DEPTH * (ROWS + COLUMNS + 8), ROWS * COLUMNS // 2)";
    return offer("patterns/gpu/conv.cu", slots, action);
  }

  [[nodiscard]] Offer units(const GpuMethod& method) const {
    const std::string action = fmt::format("implicit matmul, {}", method.action);
    Slots slots = common(action);
    const int64_t rows = std::clamp<int64_t>(gpu::power_of_two(largest(all_.outputs)), 16, 128);
    const int pad = method.size == 2 || method.pair == 1 ? 8 : 4;   // as SharedTile pads
    slots["rows"] = gpu::choices(rows, {16, 32, 64, 128, 256});
    // Sums that end after a stage or two: small tiles, so that other blocks multiply while one writes.
    const bool brief = largest(depth_) <= 48;
    const int64_t columns = columns_for(rows, brief ? 64 : rows == 128 ? 128 : 256, 64);
    slots["columns"] = gpu::choices(columns, {128, 64, 256});
    slots["warp_columns"] = gpu::choices(columns == 64 ? 32 : 64, {64, 32, 128});
    slots["warp_rows"] = gpu::choices(std::min<int64_t>(rows, brief ? 64 : 32), {16, 32, 64});
    // Deeper ones spill where a factor is split into parts: what gathers needs registers beside them.
    slots["depths"] = rows <= 32 || method.size == 4 ? "16, 32" : "32, 16";
    slots["math"] = method.math;
    slots["threads"] = "(ROWS * COLUMNS * 32 // (WARP_ROWS * WARP_COLUMNS))";
    slots["bound"] = "ROWS * COLUMNS * 32 / (WARP_ROWS * WARP_COLUMNS)";
    slots["shared"] = fmt::format("max({} * STAGES * DEPTH * (ROWS + COLUMNS + {}), 4 * ROWS * (COLUMNS + 8))", method.size, 2 * pad);
    slots["packed_type"] = task::name_of(all_.x_dtype);
    slots["packed"] = storage_type(all_.x_dtype);
    return offer("patterns/gpu/conv_mma.cu", slots, action);
  }

  /// Whether runs of positions serve it: 16 channels, or depths of which the other dimensions' taps are a part, fill most of a stage.
  [[nodiscard]] bool has_runs() const {
    const int64_t depths = folds() ? largest(all_.channels * outer_window()) : largest(all_.channels);
    return depths >= 12 && (depths + 15) / 16 * 16 * 2 <= depths * 3 && all_.window.back().is_constant() && !(folds() && depths > kMostFolded);
  }
  /// Few channels under a window of several dimensions. A run that serves one tap only is no better than what mma.sync gathers.
  [[nodiscard]] bool folds() const {
    return !all_.transposed && largest(all_.channels) < 12 && all_.space() > 1 && largest(all_.window.back()) > 1;
  }
  [[nodiscard]] IntExpr outer_window() const {
    IntExpr taps = 1;
    for (size_t s = 0; s + 1 < all_.space(); ++s) taps = taps * all_.window[s];
    return taps;
  }
  [[nodiscard]] Offer runs(const GroupMethod& method) const {
    const std::string action = fmt::format("implicit matmul, {}", method.action);
    Slots slots = common(action);
    for (const char* gathered : {"type", "checked", "groups", "depth", "padded", "entry", "space"}) slots.erase(gathered);
    const size_t last = all_.space() - 1;
    const int64_t stride = all_.stride[last], dilation = all_.dilation[last], divisor = std::gcd(stride, dilation);
    // Taps of a class or a phase along the last dimension, at most and of each that has any. Five at a time, sums would be cut too often.
    const int64_t window = all_.window[last].constant(), apart = stride / divisor, taps = (window + apart - 1) / apart;
    slots["each"] = std::to_string(window % apart == 0 ? taps : 0);
    const int64_t each = taps <= 4 ? taps : taps % 4 == 0 || taps % 4 == 3 ? 4 : 3;
    const int64_t outputs = largest(all_.outputs);
    int64_t columns = outputs > 128 && (outputs + 95) / 96 * 96 < (outputs + 127) / 128 * 128 ? 96 : 128;
    for (const int64_t fewer : {96, 64, 48, 32, 24, 16})
      if (outputs <= fewer) columns = fewer;
    slots["math"] = method.math, slots["number"] = task::name_of(method.number), slots["packed"] = storage_type(method.number);
    slots["parts"] = std::to_string(method.parts), slots["bytes"] = std::to_string(16 * method.bytes());
    slots["bricks"] = std::to_string(task::size_of(method.number));  // of 16 bytes: its 16 channels
    slots["step"] = std::to_string(dilation / divisor);
    // Short sums: what begins and what ends them takes longer than they do.
    constexpr int64_t kFewStages = 4;
    const int64_t length = (largest(folds() ? all_.channels * outer_window() : all_.channels) + 15) / 16 *
                           (folds() ? 1 : largest(outer_window())) * apart * ((taps + each - 1) / each);
    const bool share = length <= kFewStages && outputs <= 64;
    slots["lines"] = share ? "128, 256, 512" : "256, 512, 128", slots["blocks"] = share ? "2, 1" : "1, 2", slots["fetchers"] = share ? "1, 2" : "2, 1";
    slots["columns"] = gpu::choices(columns, {128, 64, 32, 16});
    slots["taps"] = gpu::choices(each, {1, 2, 3, 4});
    // Sums of all positions, and those of a stage beside them where there are parts.
    slots["registers"] = method.parts > 1 ? "(LINES // 128 + 1) * COLUMNS // 2" : "LINES // 128 * COLUMNS // 2";
    // Barriers and such, and the table of folded depths.
    slots["folded"] = folds() ? "true" : "false", slots["beside"] = folds() ? "4864" : "512";
    if (folds()) {
      const std::string fits = fmt::format("\"{} <= {}\"", (all_.channels * outer_window()).to_string(), kMostFolded);
      std::string& requires_all = slots["requires"];
      if (requires_all.empty()) requires_all = fmt::format("requires = [{}]\n", fits);
      else requires_all.insert(requires_all.rfind(']'), ", " + fits);
    }
    const IntExpr stages = folds() ? IntExpr::ceil_div(all_.channels * outer_window(), 16) * all_.window.back() : IntExpr::ceil_div(all_.channels, 16) * window_;
    slots["weights"] = (all_.groups * stages).to_string() +
                       fmt::format(" * align({}, COLUMNS)", all_.outputs.to_string());
    const IntExpr along = IntExpr::ceil_div(all_.to[last], all_.transposed ? stride : 1);
    slots["tiles"] = fmt::format("{}ceil_div({} * ({} + (TAPS - 1) * {}), LINES - (TAPS - 1) * {}) * ceil_div({}, COLUMNS)", gpu::factor(products_),
                                 wrapped(rows_.to_string()), along.to_string(), slots["step"], slots["step"], all_.outputs.to_string());
    return offer("patterns/gpu/conv_wgmma.cu", slots, action);
  }

  /// Whether each group is one channel under a window that fits into registers.
  [[nodiscard]] bool is_depthwise() const {
    constexpr int64_t kMostWeights = 49;
    if (all_.transposed || !is_one(all_.channels) || !is_one(all_.outputs)) return false;
    int64_t weights = 1;
    for (size_t s = 0; s < all_.space(); ++s) {
      if (!all_.window[s].is_constant()) return false;
      if (s + 2 >= all_.space()) weights *= all_.window[s].constant();
    }
    return weights <= kMostWeights;
  }
  [[nodiscard]] Offer depthwise() const {
    const char* action = "each channel by itself";
    const Slots all = common(action);
    Slots slots;
    for (const char* kept : {"language", "note", "requires", "finish", "parameters", "args", "names", "x", "w"}) slots[kept] = all.at(kept);
    slots["rows"] = all_.space() == 1 ? "1, 2" : "4, 2, 8, 1";
    const auto three = [&](const auto& of, const auto& none) {
      auto filled = of;
      filled.insert(filled.begin(), 3 - of.size(), none);
      return filled;
    };
    const auto numbers = [&](const std::vector<int64_t>& of, int64_t none) { return fmt::format("{}", fmt::join(three(of, none), ", ")); };
    const auto extents = [&](const std::vector<IntExpr>& of) {
      const std::string braced = list(three(of, IntExpr(1)));
      return braced.substr(1, braced.size() - 2);
    };
    const std::vector<IntExpr> to = three(all_.to, IntExpr(1));
    slots["window"] = extents(all_.window), slots["from"] = extents(all_.from), slots["to"] = extents(all_.to);
    slots["stride"] = numbers(all_.stride, 1), slots["dilation"] = numbers(all_.dilation, 1), slots["padding"] = numbers(all_.padding, 0);
    slots["groups"] = wrapped(all_.groups.to_cpp());
    slots["slices"] = gpu::in_plan(all_.images * all_.groups * to[0]);
    slots["to_y"] = to[1].to_string(), slots["to_x"] = gpu::in_plan(to[2]);
    return offer("patterns/gpu/conv_depthwise.cu", slots, action);
  }

 private:
  [[nodiscard]] int64_t largest(const IntExpr& extent) const {
    int64_t most = 1;
    for (const task::Workload& w : task_.workloads) most = std::max(most, extent.eval(w.bindings).value_or(1));
    return most;
  }

  /// Columns of a tile of `rows`: at most `columns`, less where the device would not be full of such tiles, not below `least`.
  [[nodiscard]] int64_t columns_for(int64_t rows, int64_t columns, int64_t least) const {
    constexpr int64_t kManyBlocks = 2 * 132;
    const auto tiles = [&] { return largest(products_ * IntExpr::ceil_div(all_.outputs, rows) * IntExpr::ceil_div(positions_, columns)); };
    while (columns > least && tiles() < kManyBlocks) columns /= 2;
    return columns;
  }

  [[nodiscard]] static std::string list(const std::vector<IntExpr>& extents) {
    std::vector<std::string> texts;
    for (const IntExpr& e : extents) texts.push_back(e.to_cpp());
    return fmt::format("{{{}}}", fmt::join(texts, ", "));
  }

  /// The convolution's numbers, as a constant of either kernel.
  [[nodiscard]] std::string shape() const {
    return fmt::format("  const hone::gpu::Convolution<{}> shape_at{{\n"
                       "      .transposed = {}, .images = {}, .groups = {}, .channels = {}, .outputs = {},\n"
                       "      .x = {}, .y = {}, .window = {},\n"
                       "      .stride = {{{}}}, .dilation = {{{}}}, .padding = {{{}}}}};",
                       all_.space(), all_.transposed, all_.images.to_cpp(), all_.groups.to_cpp(), all_.channels.to_cpp(),
                       all_.outputs.to_cpp(), list(all_.from), list(all_.to), list(all_.window), fmt::join(all_.stride, ", "),
                       fmt::join(all_.dilation, ", "), fmt::join(all_.padding, ", "));
  }

  [[nodiscard]] Slots common(const std::string& note) const {
    const IntExpr padded = IntExpr::ceil_div(all_.outputs, 4) * 4;
    Slots slots;
    slots["language"] = kernel::name_of(language_);
    slots["note"] = fmt::format("{}; then {}", note, finish_outline(all_.rest));
    slots["requires"] = CppWriter(all_.rest.program, Way::kScalar, {}).requirements();
    slots["finish"] = finish_;
    slots["parameters"] = gpu_parameters_of(task_);
    slots["args"] = arguments_of(task_);
    slots["names"] = gpu_names_of(task_);
    slots["shape"] = shape();
    slots["space"] = std::to_string(all_.space());
    slots["x"] = all_.x, slots["w"] = all_.w;
    slots["type"] = storage_type(all_.x_dtype);
    slots["checked"] = all_.reaches_out ? "true" : "false";
    slots["groups"] = all_.groups.to_string();
    slots["depth"] = depth_.to_string();
    slots["padded"] = padded.to_string();
    slots["weights"] = (all_.groups * depth_ * padded).to_string();
    slots["entry"] = all_.space() == 3 ? "4" : "2";
    slots["tiles"] = fmt::format("{}ceil_div({}, ROWS) * ceil_div({}, COLUMNS)", gpu::factor(products_),
                                 all_.outputs.to_string(), positions_.to_string());
    return slots;
  }

  [[nodiscard]] static Offer offer(const char* file, const Slots& slots, const std::string& action) {
    kernel::Kernel kernel = finished(fill_pattern(file, slots), "conv");
    kernel.header.action = action;
    return {std::move(kernel), "conv", action};
  }

  const task::Task& task_;
  const Convolution& all_;
  kernel::Language language_;
  std::string finish_;
  IntExpr window_ = 1, depth_;
  IntExpr positions_, rows_, products_ = 1;   ///< positions of the largest phase, and rows of them; phases of all groups
};

}  // namespace

std::vector<Offer> gpu_conv_offers(const task::Task& given, kernel::Language language) {
  const task::Task task = normal_form(given);
  const auto found = find_convolution(task);
  if (!found) return {};
  const auto finish = finish_text_of_images((*found)->rest, gpu_parameters_of(task));
  if (!finish) return {};
  const GpuConvWriter writer(task, **found, language, *finish);
  std::vector<Offer> offers;
  if (writer.is_depthwise()) offers.push_back(writer.depthwise());
  // As cuDNN does unless it is told not to.
  const task::Track track = task.track == task::Track::kAsPytorch ? task::Track::kTf32 : task.track;
  const auto groups = group_method_for(track, (*found)->x_dtype, (*found)->w_dtype);
  if (groups && (*found)->x_dtype == DType::kF32 && language == kernel::Language::kCuda && writer.has_runs()) offers.push_back(writer.runs(*groups));
  for (const GpuMethod& method : methods_for(track, (*found)->x_dtype, (*found)->w_dtype, language))
    offers.push_back(*method.math ? writer.units(method) : writer.simt());
  return offers;
}

}  // namespace hone::pattern
