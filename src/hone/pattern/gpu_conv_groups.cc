#include "hone/pattern/gpu_conv_writer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_patterns.h"

namespace hone::pattern {
namespace {

/// Depths that a block keeps a table of: FoldedDepth::kMost.
constexpr int64_t kMostFolded = 256;

/// A Hopper's multiprocessors, and bytes of shared memory that a block may have: what first choices go by. No other card has wgmma.
constexpr int64_t kMultiprocessors = 132, kShared = 227 * 1024;

int64_t aligned(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

}  // namespace

using task::IntExpr;

bool GpuConvWriter::has_runs() const {
  const int64_t depths = largest(this->depths());
  return depths >= 12 && (depths + 15) / 16 * 16 * 2 <= depths * 3 && all_.window.back().is_constant() && !(folds() && depths > kMostFolded);
}

bool GpuConvWriter::folds() const {
  return !all_.transposed && largest(all_.channels) < 12 && all_.space() > 1 && largest(all_.window.back()) > 1;
}

IntExpr GpuConvWriter::outer_window() const {
  IntExpr taps = 1;
  for (size_t s = 0; s + 1 < all_.space(); ++s) taps = taps * all_.window[s];
  return taps;
}

IntExpr GpuConvWriter::depths() const { return folds() ? all_.channels * outer_window() : all_.channels; }

GpuConvWriter::Along GpuConvWriter::along() const {
  const size_t last = all_.space() - 1;
  const int64_t stride = all_.stride[last], dilation = all_.dilation[last], divisor = std::gcd(stride, dilation);
  const int64_t window = all_.window[last].constant(), apart = stride / divisor, taps = (window + apart - 1) / apart;
  // Five at a time, sums would be cut too often.
  const int64_t served = taps <= 4 ? taps : taps % 4 == 0 || taps % 4 == 3 ? 4 : 3;
  return {window % apart == 0 ? taps : 0, served, dilation / divisor, apart};
}

int64_t GpuConvWriter::channels_of_tile() const {
  const int64_t outputs = largest(all_.outputs);
  int64_t columns = outputs > 128 && aligned(outputs, 96) < aligned(outputs, 128) ? 96 : 128;
  for (const int64_t fewer : {96, 64, 48, 32, 24, 16})
    if (outputs <= fewer) columns = fewer;
  return columns;
}

void GpuConvWriter::add_group(Slots& slots, const GroupMethod& method) const {
  for (const char* gathered : {"type", "checked", "groups", "depth", "padded", "entry", "space"}) slots.erase(gathered);
  const Along along = this->along();
  slots["each"] = std::to_string(along.each), slots["step"] = std::to_string(along.step);
  slots["math"] = method.math, slots["number"] = task::name_of(method.number), slots["packed"] = storage_type(method.number);
  slots["columns"] = gpu::choices(channels_of_tile(), {128, 64, 32, 16});
  slots["taps"] = gpu::choices(along.served, {1, 2, 3, 4});
  slots["folded"] = folds() ? "true" : "false";
}

Offer GpuConvWriter::runs(const GroupMethod& method) const {
  const std::string action = fmt::format("implicit matmul, {}", method.action);
  Slots slots = common(action);
  add_group(slots, method);
  const Along of = along();
  const int64_t outputs = largest(all_.outputs);
  slots["parts"] = std::to_string(method.parts), slots["bytes"] = std::to_string(16 * method.bytes());
  slots["cores"] = std::to_string(task::size_of(method.number));  // of 16 bytes: its 16 channels
  // Short sums: what begins and what ends them takes longer than they do.
  constexpr int64_t kFewStages = 4;
  const int64_t most = of.each != 0 ? of.each : (all_.window.back().constant() + of.classes - 1) / of.classes;
  const int64_t length = (largest(depths()) + 15) / 16 * (folds() ? 1 : largest(outer_window())) * of.classes * ((most + of.served - 1) / of.served);
  const bool share = length <= kFewStages && outputs <= 64;
  slots["lines"] = share ? "128, 256, 512" : "256, 512, 128", slots["blocks"] = share ? "2, 1" : "1, 2", slots["fetchers"] = share ? "1, 2" : "2, 1";
  // Sums of all positions, and those of a stage beside them where there are parts.
  slots["registers"] = method.parts > 1 ? "(LINES // 128 + 1) * COLUMNS // 2" : "LINES // 128 * COLUMNS // 2";
  // Barriers and such, and the table of folded depths.
  slots["beside"] = folds() ? "4864" : "512";
  if (folds()) {
    const std::string fits = fmt::format("\"{} <= {}\"", (all_.channels * outer_window()).to_string(), kMostFolded);
    std::string& requires_all = slots["requires"];
    if (requires_all.empty()) requires_all = fmt::format("requires = [{}]\n", fits);
    else requires_all.insert(requires_all.rfind(']'), ", " + fits);
  }
  const IntExpr stages = folds() ? IntExpr::ceil_div(all_.channels * outer_window(), 16) * all_.window.back() : IntExpr::ceil_div(all_.channels, 16) * window_;
  slots["weights"] = (all_.groups * stages).to_string() +
                     fmt::format(" * align({}, COLUMNS)", all_.outputs.to_string());
  const IntExpr row = IntExpr::ceil_div(all_.to.back(), all_.transposed ? all_.stride.back() : 1);
  slots["tiles"] = fmt::format("{}ceil_div({} * ({} + (TAPS - 1) * {}), LINES - (TAPS - 1) * {}) * ceil_div({}, COLUMNS)", gpu::factor(products_),
                               wrapped(rows_.to_string()), row.to_string(), slots["step"], slots["step"], all_.outputs.to_string());
  return offer("patterns/gpu/conv_wgmma.cu", slots, action);
}

bool GpuConvWriter::has_slices() const {
  const int64_t depths = largest(this->depths());
  return depths * 4 >= aligned(depths, 16) && all_.window.back().is_constant();
}

Offer GpuConvWriter::slices(const GroupMethod& method) const {
  const std::string action = fmt::format("implicit matmul of slices of channels, {}", method.action);
  Slots slots = common(action);
  add_group(slots, method);
  slots["space"] = std::to_string(all_.space());
  Along of = along();
  // Where phases differ in how many taps they have, the compiler has products wait for each other unless a stage serves one.
  if (all_.transposed && of.each == 0) of.served = 1, slots["taps"] = "1, 2, 3, 4";
  const int64_t size = static_cast<int64_t>(task::size_of(method.number)), beside = 16 / size;

  // As hone::gpu::Channel slices has it: pitches, the zeros before the first position and what is read behind the last one.
  IntExpr step = 1, ends = 0, classes = 1, last_classes = 1;
  for (size_t s = all_.space(); s-- > 0;) {
    const bool folded = folds() && s + 1 < all_.space();
    const int64_t stride = all_.stride[s], scale = all_.transposed || folded ? 1 : stride;
    const IntExpr last = (all_.window[s] - 1) * all_.dilation[s], padding = all_.padding[s];
    const IntExpr first = all_.transposed ? last - padding : padding, end = all_.transposed ? padding + (stride - 1) : last - padding;
    const IntExpr before = folded ? IntExpr(0) : IntExpr::max(IntExpr::ceil_div(first, stride), 0);
    const IntExpr behind = folded ? IntExpr(0) : IntExpr::max(IntExpr::floor_div(end, stride), 0);
    const IntExpr extent = IntExpr::ceil_div(all_.to[s], all_.transposed ? stride : 1), data = folded ? all_.to[s] : IntExpr::ceil_div(all_.from[s], scale);
    if (!all_.transposed && !folded) classes = classes * IntExpr::min(all_.window[s], stride / std::gcd(stride, all_.dilation[s]));
    if (s + 1 == all_.space()) last_classes = classes;
    ends = ends + (before + behind) * step;
    step = step * IntExpr::max(extent + behind, data + before);
  }
  const IntExpr positions = step * all_.images;
  const std::string stages = fmt::format("ceil_div({}, DEPTHS)", depths().to_string()), held = fmt::format("align((TAPS - 1) * {}, 8)", of.step);
  slots["slices"] = fmt::format("{}{}{}", gpu::factor(all_.groups), gpu::factor(classes), stages);
  slots["last_classes"] = wrapped(last_classes.to_string());
  slots["slice_lines"] = fmt::format("align({}, LINES) + {} + {}", positions.to_string(), ends.to_string(), held);
  slots["weights"] = fmt::format("{}{}{} * align({}, COLUMNS)", gpu::factor(all_.groups), gpu::factor(folds() ? all_.window.back() : window_), stages,
                                 all_.outputs.to_string());
  slots["beside"] = std::to_string(beside);
  const bool one_phase = !all_.transposed || std::all_of(all_.stride.begin(), all_.stride.end(), [](int64_t n) { return n == 1; });
  slots["one_phase"] = one_phase ? "true" : "false", slots["finish"] = finish_ + words_;
  // Two pieces of channels that are handed over, as hone::gpu::ChannelPiece has them.
  const char* pieces = one_phase ? " + (LINES + 8) * 4 * select(COLUMNS % 32 == 0, 32, select(COLUMNS % 16 == 0, 16, 8))" : "";
  slots["shared"] = fmt::format("{} * DEPTHS * STAGES * (LINES + {} + TAPS * COLUMNS){}", size, held, pieces);
  slots["tiles"] = fmt::format("{}ceil_div({}, LINES) * ceil_div({}, COLUMNS)", gpu::factor(products_), positions.to_string(), all_.outputs.to_string());

  // Stages of 64 numbers of the depth or more, where that fills them no worse than 16.
  const int64_t least = beside * 2, depth = largest(depths());
  int64_t deep = least;
  while (deep < 4 * least && of.served * deep < 8 * least / 2 && aligned(depth, 2 * deep) == aligned(depth, least)) deep *= 2;
  slots["depths"] = gpu::choices(deep, {least, 2 * least, 4 * least});
  // Sums as many as registers hold; or, where they are handed over about as long as they are summed, tiles small enough for two blocks, of
  // which one multiplies meanwhile. Fewer positions and channels where a third of the multiprocessors would have no tile.
  constexpr int64_t kBrief = 256;
  const int64_t multiplied = aligned(depth, deep) * largest(folds() ? all_.window.back() : window_) * largest(all_.groups) / largest(products_);
  const bool brief = multiplied <= kBrief;
  int64_t columns = brief ? std::min<int64_t>(channels_of_tile(), 64) : channels_of_tile();
  const auto idle = [&](int64_t lines) {
    return 3 * largest(products_ * IntExpr::ceil_div(positions, lines) * IntExpr::ceil_div(all_.outputs, columns)) < 2 * kMultiprocessors;
  };
  int64_t lines = columns <= 64 ? 512 : 256;
  while (brief && lines > 128 && lines * columns > 128 * 64) lines /= 2;
  while (lines > 128 && idle(lines)) lines /= 2;
  while (columns > 32 && idle(lines)) columns /= 2;
  const int64_t blocks = lines / 128 * columns / 2 <= 48 ? 2 : 1;
  slots["columns"] = gpu::choices(columns, {128, 64, 32, 16});
  slots["lines"] = gpu::choices(lines, {256, 128, 512}), slots["blocks"] = gpu::choices(blocks, {1, 2});
  const int64_t stage = size * deep * (lines + aligned((of.served - 1) * of.step, 8) + of.served * columns);
  const int64_t handed = one_phase ? (lines + 8) * 4 * (columns % 32 == 0 ? 32 : columns % 16 == 0 ? 16 : 8) : 0;
  slots["stages"] = gpu::choices(std::clamp<int64_t>((kShared / blocks - 2048 - handed) / stage, 2, 8), {4, 3, 2, 6, 8});
  return offer("patterns/gpu/conv_channel_slices.cu", slots, action);
}

}  // namespace hone::pattern
