#include "hone/pattern/gpu_conv.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_conv_writer.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_matmul_writer.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

using task::DType;
using task::IntExpr;

GpuConvWriter::GpuConvWriter(const task::Task& task, const Convolution& all, kernel::Language language, std::string finish, std::string words)
    : task_(task), all_(all), language_(language), finish_(std::move(finish)), words_(std::move(words)), positions_(all.images) {
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

Offer GpuConvWriter::simt() const {
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

Offer GpuConvWriter::units(const GpuMethod& method) const {
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

bool GpuConvWriter::is_depthwise() const {
  constexpr int64_t kMostWeights = 49;
  if (all_.transposed || !is_one(all_.channels) || !is_one(all_.outputs)) return false;
  int64_t weights = 1;
  for (size_t s = 0; s < all_.space(); ++s) {
    if (!all_.window[s].is_constant()) return false;
    if (s + 2 >= all_.space()) weights *= all_.window[s].constant();
  }
  return weights <= kMostWeights;
}

Offer GpuConvWriter::depthwise() const {
  const char* action = "each channel by itself";
  const Slots all = common(action);
  Slots slots;
  for (const char* kept : {"language", "note", "requires", "finish", "parameters", "args", "names", "x", "w"}) slots[kept] = all.at(kept);
  slots["finish"] = finish_ + words_;
  slots["rows"] = all_.space() == 1 ? "1" : "4, 2, 8, 1";
  // A line's results have no rows to share what is worked out; elements of 2 bytes are half a word.
  slots["beside"] = all_.space() == 1 ? "8, 4, 2, 1" : task::size_of(all_.x_dtype) == 2 ? "2, 4, 1" : "1, 2, 4";
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

int64_t GpuConvWriter::largest(const IntExpr& extent) const {
  int64_t most = 1;
  for (const task::Workload& w : task_.workloads) most = std::max(most, extent.eval(w.bindings).value_or(1));
  return most;
}

int64_t GpuConvWriter::columns_for(int64_t rows, int64_t columns, int64_t least) const {
  constexpr int64_t kManyBlocks = 2 * 132;
  const auto tiles = [&] { return largest(products_ * IntExpr::ceil_div(all_.outputs, rows) * IntExpr::ceil_div(positions_, columns)); };
  while (columns > least && tiles() < kManyBlocks) columns /= 2;
  return columns;
}

std::string GpuConvWriter::list(const std::vector<IntExpr>& extents) {
  std::vector<std::string> texts;
  for (const IntExpr& e : extents) texts.push_back(e.to_cpp());
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

std::string GpuConvWriter::shape() const {
  return fmt::format("  const hone::gpu::Convolution<{}> shape_at{{\n"
                     "      .transposed = {}, .images = {}, .groups = {}, .channels = {}, .outputs = {},\n"
                     "      .x = {}, .y = {}, .window = {},\n"
                     "      .stride = {{{}}}, .dilation = {{{}}}, .padding = {{{}}}}};",
                     all_.space(), all_.transposed, all_.images.to_cpp(), all_.groups.to_cpp(), all_.channels.to_cpp(),
                     all_.outputs.to_cpp(), list(all_.from), list(all_.to), list(all_.window), fmt::join(all_.stride, ", "),
                     fmt::join(all_.dilation, ", "), fmt::join(all_.padding, ", "));
}

Slots GpuConvWriter::common(const std::string& note) const {
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

Offer GpuConvWriter::offer(const char* file, const Slots& slots, const std::string& action) {
  kernel::Kernel kernel = finished(fill_pattern(file, slots), "conv");
  kernel.header.action = action;
  return {std::move(kernel), "conv", action};
}

std::vector<Offer> gpu_conv_offers(const task::Task& given, kernel::Language language) {
  const task::Task task = normal_form(given);
  const auto found = find_convolution(task);
  if (!found) return {};
  const auto finish = finish_text_of_images((*found)->rest, gpu_parameters_of(task));
  const auto words = words_text_of_images((*found)->rest, gpu_parameters_of(task));
  if (!finish || !words) return {};
  const GpuConvWriter writer(task, **found, language, *finish, *words);
  std::vector<Offer> offers;
  if (writer.is_depthwise()) offers.push_back(writer.depthwise());
  // As cuDNN does unless it is told not to.
  const task::Track track = task.track == task::Track::kAsPytorch ? task::Track::kTf32 : task.track;
  const auto groups = group_method_for(track, (*found)->x_dtype, (*found)->w_dtype);
  if (groups && language == kernel::Language::kCuda && !writer.is_depthwise()) {
    const bool halves = task::size_of((*found)->x_dtype) == 2;
    if (halves && writer.has_slices()) offers.push_back(writer.slices(*groups));
    if (writer.has_runs()) offers.push_back(writer.runs(*groups));
    if (!halves && groups->parts == 1 && writer.has_slices()) offers.push_back(writer.slices(*groups));
  }
  for (const GpuMethod& method : methods_for(track, (*found)->x_dtype, (*found)->w_dtype, language))
    offers.push_back(*method.math ? writer.units(method) : writer.simt());
  return offers;
}

}  // namespace hone::pattern
