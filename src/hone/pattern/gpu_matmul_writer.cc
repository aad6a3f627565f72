#include "hone/pattern/gpu_matmul_writer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_writer.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

constexpr char kUnitThreads[] = "ROWS * COLUMNS * 32 // (WARP_ROWS * WARP_COLUMNS)";
constexpr char kSplitAction[] = ", the depth split between blocks", kShareAction[] = ", blocks share multiprocessors";
constexpr int kPartDepth = 512;   ///< where the depth is split, there is no more than one part for so much of it
constexpr char kSimtThreads[] = "ROWS * COLUMNS // 64";

std::string text_of(const IntExpr& e) { return wrapped(e.to_string()); }
const char* cpp_of(bool value) { return value ? "true" : "false"; }

/// The text with its long lines of code folded behind commas.
std::string folded(std::string_view text) {
  constexpr size_t kColumns = 130;
  std::string out;
  for (size_t header = text.find("*/\n"); !text.empty(); header = 0) {
    const size_t end = header ? header + 3 : text.find('\n') + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    if (header || line.starts_with("//")) {
      out += line;
      continue;
    }
    const std::string indent(line.find_first_not_of(' ') + 4, ' ');
    for (size_t room = kColumns; line.size() > room; room = kColumns - indent.size()) {
      const size_t comma = line.rfind(", ", room - 2);
      if (comma == std::string_view::npos) break;
      out += line.substr(0, comma + 1);
      out += "\n" + indent;
      line.remove_prefix(comma + 2);
    }
    out += line;
  }
  return out;
}

}  // namespace

std::string cpp_of(const IntExpr& e) { return wrapped(e.to_cpp()); }

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) text.replace(at, what.size(), with);
}

Offer product_offer(const char* pattern, const Slots& slots, const std::string& action) {
  auto kernel = kernel::parse_kernel(folded(fill_pattern(pattern, slots)), pattern);
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
  kernel->author = "pattern:matmul";
  kernel->header.action = action;
  return {std::move(*kernel), "matmul", action};
}

std::optional<std::vector<std::string>> both(std::optional<std::vector<std::string>> a, const std::optional<std::vector<std::string>>& b) {
  if (!a || !b) return std::nullopt;
  for (const std::string& condition : *b)
    if (std::find(a->begin(), a->end(), condition) == a->end()) a->push_back(condition);
  return a;
}

void add_factor(Slots& slots, const std::string& name, const GpuFactor& factor, std::string_view batch) {
  std::string base = factor.base();
  replace_all(base, "batch_at", batch);
  slots[name] = base, slots[name + "_line"] = factor.line(), slots[name + "_depth"] = factor.depth();
}

const char* GpuMatmulWriter::split_action() { return kSplitAction; }

GpuMatmulWriter::GpuMatmulWriter(const task::Task& task, const Contraction& contraction, kernel::Language language, std::string finish)
    : task_(task), all_(contraction), language_(language), finish_(std::move(finish)),
      a_(task, contraction, contraction.a, contraction.row), b_(task, contraction, contraction.b, contraction.column),
      triangles_(contraction.second || contraction.computed >= 0 || picked() ? ProductTriangles() : triangles_of(task, contraction)) {
  if (contraction.second) second_.emplace(task, contraction, *contraction.second, contraction.column);
}

/// The names that parameters_of declares, as arguments of a call.
std::string GpuMatmulWriter::names() const { return gpu_names_of(task_); }

std::string GpuMatmulWriter::times_batch() const { return is_one(all_.batch.extent) ? "" : " * " + text_of(all_.batch.extent); }

Slots GpuMatmulWriter::common(const std::string& note) const {
  Slots slots;
  slots["language"] = kernel::name_of(language_);
  slots["note"] = fmt::format("{}; then {}", note, finish_outline(all_));
  slots["requires"] = CppWriter(all_.program, Way::kScalar, {}).requirements();
  slots["finish"] = finish_;
  slots["parameters"] = gpu_parameters_of(task_);
  slots["rows"] = cpp_of(all_.row.extent);
  return slots;
}

void GpuMatmulWriter::add_entry(Slots& slots, const Entry& entry, bool split) const {
  const std::string when = entry.when.empty() ? "" : "when   = \"" + entry.when + "\"\n";
  slots["launches"] += fmt::format("[[launch]]\nkernel = \"{}\"\n{}grid   = [{}]\n", entry.name, when, entry.grid);
  slots["launches"] += fmt::format("block  = [\"{}\"]\nshared = \"{}\"\nargs   = [{}{}]\n", entry.block, entry.shared, arguments_of(task_),
                                   split ? ", \"parts\"" : "");
  std::string threads = entry.block;
  replace_all(threads, "//", "/");
  if (!entry.blocks.empty()) threads += ", " + entry.blocks;
  slots["kernels"] += fmt::format("__global__ void __launch_bounds__({}) {}({}) {{\n  multiply<{}>({}{});\n}}\n", threads, entry.name,
                                  slots["parameters"], entry.widths, names(), split ? ", part_at" : "");
}

void GpuMatmulWriter::add_entries(Slots& slots, Entry entry, const Conditions& wide, int v_a, int v_b, bool split) const {
  const std::string conditions = wide ? fmt::format("{}", fmt::join(*wide, " and ")) : "";
  if (wide) {
    entry.name = "multiply_wide", entry.when = conditions, entry.widths = fmt::format("{}, {}", v_a, v_b);
    add_entry(slots, entry, split);
  }
  if (wide && conditions.empty()) return;
  entry.name = "multiply_any", entry.when = wide ? "not (" + conditions + ")" : "", entry.widths = "1, 1";
  add_entry(slots, entry, split);
}

/// The same where each factor is read as wide as it can be at the shapes at hand.
void GpuMatmulWriter::add_entries_of_each(Slots& slots, Entry entry, const GpuFactor& a, const GpuFactor& b, bool split) const {
  struct Way { const char* name; int vector; std::string when; };
  const auto ways_of = [](const GpuFactor& factor) {
    const Conditions wide = factor.wide();
    if (!wide) return std::vector<Way>{{"any", 1, ""}};
    if (wide->empty()) return std::vector<Way>{{"wide", factor.vector(), ""}};
    const std::string when = fmt::format("{}", fmt::join(*wide, " and "));
    return std::vector<Way>{{"wide", factor.vector(), when}, {"any", 1, "not (" + when + ")"}};
  };
  for (const Way& left : ways_of(a))
    for (const Way& right : ways_of(b)) {
      // Of the same condition twice nothing is asked twice, and nothing asked that cannot hold.
      const bool same = a.wide() == b.wide();
      if (same && left.vector != right.vector) continue;
      entry.name = fmt::format("multiply_{}_{}", left.name, right.name), entry.widths = fmt::format("{}, {}", left.vector, right.vector);
      entry.when = left.when.empty() || same ? right.when : right.when.empty() ? left.when : left.when + " and " + right.when;
      add_entry(slots, entry, split);
    }
}

/// Bytes of shared memory: as SharedTile pads, and the tile of the result at the end.
std::string GpuMatmulWriter::shared(const GpuMethod& method) const {
  if (!*method.math) return "4 * max(2 * DEPTH * (ROWS + COLUMNS + 8), ROWS * COLUMNS // 2)";
  const auto tile = [&](const GpuFactor& factor, const char* lines) {
    const int pad = method.size == 2 || factor.along_depth() == (method.pair == 2) ? 8 : 4;
    return factor.along_depth() ? fmt::format("{} * (DEPTH + {})", lines, pad) : fmt::format("DEPTH * ({} + {})", lines, pad);
  };
  return fmt::format("max({} * STAGES * ({} + {}), 4 * ROWS * (COLUMNS + 8))", method.size, tile(a_, "ROWS"), tile(b_, "COLUMNS"));
}

void GpuMatmulWriter::add_waves(Slots& slots, bool split) const {
  slots["waves"] = split ? ", WAVES = [1, 2, 4]" : "";
  slots["waves_note"] = split ? "//   WAVES          blocks a multiprocessor gets: the depth is split into that many parts\n" : "";
}

std::string GpuMatmulWriter::tiles_text(std::string_view down, std::string_view across) const {
  return fmt::format("ceil_div({}, ROWS{}) * ceil_div({}, COLUMNS{}{}){}", all_.row.extent.to_string(), down, all_.column.extent.to_string(),
                     second_ ? " // 2" : "", across, times_batch());
}

/// Of a persistent grid in clusters of CLUSTER_DOWN x CLUSTER_ACROSS tiles: two at most. A card's groups of multiprocessors do not all hold a whole number of clusters of
/// four: some wait for others to end, and all five products that were timed on an H200 took 1.4 to 2.2 times as long (results/h200/2026-11-28-multicast.md).
std::string GpuMatmulWriter::cluster_blocks(bool split) const {
  return fmt::format("CLUSTER_DOWN * CLUSTER_ACROSS * min(max(1, SMS // (CLUSTER_DOWN * CLUSTER_ACROSS)), {}{})", tiles_text(" * CLUSTER_DOWN", " * CLUSTER_ACROSS"),
                     split ? " * " + parts() : "");
}

double GpuMatmulWriter::at_first(const IntExpr& e) const {
  return static_cast<double>(std::max<int64_t>(1, e.eval(task_.workloads.front().bindings).value_or(1)));
}

/// Sizes of tiles, the usual ones first, unless these leave multiprocessors without a tile, or are mostly empty: then smaller ones first, which
/// take the least time by the turns that the multiprocessors of a large card take at them. Modelled: in a turn, a tile's products and
/// what it reads, which is as much as 32 rows and columns more would be.
void GpuMatmulWriter::put_tiles(Slots& slots, const std::vector<int64_t>& rows, const std::vector<int64_t>& columns, bool split) const {
  constexpr double kMultiprocessors = 128, kReads = 32, kPart = 512;
  const double down = at_first(all_.row.extent), across = at_first(all_.column.extent) * (second_ ? 2 : 1), batches = at_first(all_.batch.extent);
  const auto tiles = [&](int64_t r, int64_t c) { return std::ceil(down / static_cast<double>(r)) * std::ceil(across / static_cast<double>(c)) * batches; };
  const auto time = [&](int64_t r, int64_t c) {
    const double parts = split ? std::ceil(at_first(all_.depth.extent) / kPart) : 1;
    const double turns = split ? std::max(tiles(r, c) / kMultiprocessors, 1 / parts) : std::ceil(tiles(r, c) / kMultiprocessors);
    return turns * static_cast<double>(r * c + (r + c) * static_cast<int64_t>(kReads));
  };
  std::pair best{rows.front(), columns.front()};
  const bool idle = tiles(best.first, best.second) < kMultiprocessors;
  const bool empty = 2 * down <= static_cast<double>(best.first) || 2 * across <= static_cast<double>(best.second);
  for (const int64_t r : rows)
    for (const int64_t c : columns)
      if ((idle || empty) && r <= rows.front() && c <= columns.front() && time(r, c) < time(best.first, best.second)) best = {r, c};
  slots["rows_values"] = gpu::choices(best.first, rows), slots["columns_values"] = gpu::choices(best.second, columns);
}

/// Of a tensor that is read as the result is written, all of a piece's reads are on their way while the one before it is finished; of more, half
/// or a quarter of them, as registers hold what two turns read.
const char* GpuMatmulWriter::ahead_values() const {
  const task::Graph& graph = all_.epilogue.primitive;
  const double columns = at_first(all_.column.extent), result = at_first(all_.row.extent) * columns * at_first(all_.batch.extent);
  int64_t bytes = 0;   // of kMany elements beside each other
  bool like_result = false;
  for (size_t i = second_ ? 2 : 1; i < graph.inputs.size(); ++i) {
    const auto& type = graph.node(graph.inputs[i]).type;
    double elements = 1;
    for (const IntExpr& dim : type.dims) elements *= at_first(dim);
    if (elements >= columns) bytes += 8 * task::size_of(type.dtype);
    like_result = like_result || elements >= result;
  }
  return like_result && bytes <= 16 ? "4, 2, 1" : bytes <= 48 ? "2, 4, 1" : "1, 2, 4";
}

/// Tiles for the copy engine that take the least time, modelled as those above: in turns of a large card's multiprocessors. Two groups that share a
/// tile have nothing to multiply while they finish it, which costs a tenth where there are several turns; in a single one they finish half of it
/// each, and who takes it alone needs a tenth more. On an H200 the model's choice is the fastest of 10 tiles for six of eight products, from 1024 x 768 x 3072 to 57855 x 1024 x 720,
/// and within 6 % of it for the others.
/// A cluster of blocks reads what its tiles have in common once, and its blocks wait for each other: on an H200 a fiftieth faster for a cube of 8192, and a
/// hundredth slower for one of 4096. So blocks alone come first, and clusters are values worth trying where the model has them faster than the same tile alone.
void GpuMatmulWriter::put_tensor_tiles(Slots& slots, task::DType number, bool split) const {
  constexpr double kMultiprocessors = 132, kReads = 32, kTogether = 1.1, kAlone = 1.1;
  struct Tile { int64_t rows, columns, turns; };
  constexpr Tile kTiles[] = {{128, 128, 1}, {128, 128, 0}, {128, 256, 0}, {256, 128, 0}, {128, 192, 0}, {64, 256, 1}, {64, 192, 1}, {64, 128, 1}, {128, 64, 0}, {128, 64, 1}, {64, 64, 1}};
  const double down = at_first(all_.row.extent), across = at_first(all_.column.extent) * (second_ ? 2 : 1), batches = at_first(all_.batch.extent);
  const auto time_of = [&](const Tile& tile, int64_t below, int64_t beside) {
    const double r = static_cast<double>(tile.rows), c = static_cast<double>(tile.columns), d = static_cast<double>(below), a = static_cast<double>(beside);
    // As cluster_blocks() has it.
    const double at_once = std::floor(kMultiprocessors / (d * a));
    const double loads = std::ceil(down / (r * d)) * std::ceil(across / (c * a)) * batches / at_once;
    const double turns = split ? std::max(loads, 1 / std::ceil(at_first(all_.depth.extent) / kPartDepth)) : std::ceil(loads);
    const double alone = turns > 1 ? (tile.turns == 0 ? kTogether : 1) : tile.turns == 1 && tile.rows >= 128 ? kAlone : 1;
    return alone * turns * (r * c + (r / a + c / d) * kReads);
  };
  std::vector<int64_t> rows, columns, ways;
  Tile best = kTiles[0];
  double least = HUGE_VAL;
  for (const Tile& tile : kTiles) {
    // Floats of one byte take twice the registers; of a pair each half of a tile's columns is a multiple of 64.
    if (task::is_f8(number) && tile.rows * tile.columns > 16384 / (tile.turns + 1)) continue;
    if (second_ && tile.columns % 128 != 0) continue;
    const auto add = [](std::vector<int64_t>& to, int64_t value) { if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value); };
    add(rows, tile.rows), add(columns, tile.columns), add(ways, tile.turns);
    if (const double time = time_of(tile, 1, 1); time < least) best = tile, least = time;
  }
  slots["cluster_down"] = time_of(best, 2, 1) < least ? "1, 2" : "1", slots["cluster_across"] = time_of(best, 1, 2) < least ? "1, 2" : "1";
  slots["rows_values"] = gpu::choices(best.rows, rows), slots["columns_values"] = gpu::choices(best.columns, columns);
  slots["turns"] = gpu::choices(best.turns, ways);
  // As the plan's constraint has it.
  constexpr int64_t kShared = 232448, kMostStages = 5;
  const int64_t stages = std::min(kMostStages, (kShared - 2048 - (second_ ? 2 : 1) * 32768) / (128 * (best.rows + best.columns)));
  slots["stages"] = gpu::choices(stages, {5, 4, 3, 6});
  slots["ahead"] = ahead_values();
}

/// Parts of at least 512 of the depth, as many as give each multiprocessor WAVES blocks.
std::string GpuMatmulWriter::parts() const {
  return fmt::format("max(1, min(ceil_div({}, {}), WAVES * SMS // ({})))", all_.depth.extent.to_string(), kPartDepth, tiles_text());
}

std::string GpuMatmulWriter::grid(bool split) const { return fmt::format("\"{}\"{}", tiles_text(), split ? ", \"" + parts() + "\"" : ""); }

std::string GpuMatmulWriter::parts_workspace() const {
  return fmt::format("parts = \"f32[{}, {}, {}]\"", parts(), (all_.batch.extent * all_.row.extent).to_string(), all_.column.extent.to_string());
}

void GpuMatmulWriter::add_segment(Slots& slots, bool split, const std::string& depth) const {
  if (split) {
    slots["segment"] = fmt::format("  const auto segment_at = hone::gpu::segment_of<DEPTH>({}, blockIdx.y, gridDim.y);\n", depth);
    slots["epilogue"] = part_epilogue();
  } else {
    slots["segment"] = fmt::format("  {}hone::gpu::Segment segment_at{{0, {}}};\n", triangular() ? "" : "const ", depth) + clips();
    slots["epilogue"] = fmt::format("    finish({}, tile_at.batch * rows_at + r_at, c_at, sum_at);\n", names());
  }
}

std::string GpuMatmulWriter::part_epilogue() const {
  return fmt::format("    part_at[((blockIdx.y * {} + tile_at.batch) * rows_at + r_at) * columns_at + c_at] = sum_at;\n", cpp_of(all_.batch.extent));
}

Offer GpuMatmulWriter::tiles(const GpuMethod& method, bool split) const {
  const bool units = *method.math != 0;
  const std::string action = std::string(method.action) + (grouped() ? ", each row by its group's factor" : picked() ? ", rows picked on the way" : "") + (split ? kSplitAction : "");
  Slots slots = common(action);
  slots["columns"] = cpp_of(all_.column.extent);
  add_factor(slots, "a", a_, "tile_at.batch");
  add_factor(slots, "b", b_, "tile_at.batch");
  slots["a_along"] = cpp_of(a_.along_depth()), slots["b_along"] = cpp_of(b_.along_depth());
  if (units) slots["math"] = method.math, slots["threads"] = kUnitThreads, slots["shared"] = shared(method);
  add_waves(slots, split);

  slots["workspaces"] = "", slots["launches"] = "", slots["kernels"] = "";
  if (split) {
    slots["workspaces"] = fmt::format("workspaces = {{ {} }}\n", parts_workspace());
    slots["parameters"] += kPartParameter;
  }
  add_segment(slots, split, cpp_of(all_.depth.extent));
  if (units) put_tiles(slots, {128, 64, 256}, {128, 64, 256}, split);
  add_picks(slots, split);   // which may ask for other rows of the units
  if (!units) put_tiles(slots, {128, 64}, {128, 64}, split);
  Entry entry;
  entry.grid = grid(split);
  entry.block = units ? kUnitThreads : kSimtThreads;
  entry.shared = shared(method);
  // Of bytes no more at once than the shallowest tile is deep.
  constexpr int kShallowest = 8;
  // Where rows lie apart, words are along the depth.
  const Conditions wide = picked() && !a_.along_depth() ? std::nullopt : both(a_.wide(), b_.wide());
  add_entries(slots, entry, wide, std::min(a_.vector(), kShallowest), std::min(b_.vector(), kShallowest), split);
  if (split) add_up(slots);
  return product_offer(units ? "patterns/gpu/matmul_mma.cu" : "patterns/gpu/matmul.cu", slots, action);
}

Offer GpuMatmulWriter::groups(const GroupMethod& method, Sums of) const {
  const bool split = of.split, levels = of.deep && method.parts > 1;
  const std::string action = std::string(method.action) + (split ? kSplitAction : of.brief ? kShareAction : "");
  Slots slots = common(action);
  add_waves(slots, split);
  slots["grid"] = grid(split);
  slots["math"] = method.math, slots["number"] = task::name_of(method.number), slots["stored"] = storage_type(method.number);
  slots["parts"] = std::to_string(method.parts), slots["bytes"] = std::to_string(method.bytes());
  slots["depths"] = method.bytes() > 2 ? "32, 16, 64" : of.brief ? "32, 64, 128" : "64, 32, 128";
  const std::string batch = text_of(all_.batch.extent);
  slots["arguments"] = arguments_of(task_);
  // Where sums are short, small tiles, so that one block multiplies while another writes.
  slots["tile_rows"] = of.brief ? "64, 128" : "128, 64";
  slots["tile_columns"] = of.brief ? "128, 64, 256" : levels ? "128, 256, 64" : "256, 128, 64";
  slots["stages"] = of.brief ? "2, 3, 4" : levels || method.parts == 1 ? "4, 3, 2, 6" : "3, 4, 2, 6";
  slots["blocks"] = of.brief ? "2, 1" : "1, 2";
  slots["registers"] = method.parts == 1 ? "COLUMNS // 2" : "COLUMNS // 2 * LEVELS + min(COLUMNS, 128) // 2";
  slots["levels"] = method.parts == 1 || of.brief ? "1" : levels ? "2, 1" : "1, 2";
  slots["columns"] = cpp_of(all_.column.extent), slots["deep"] = cpp_of(all_.depth.extent);
  slots["a_deep"] = all_.depth.extent.to_string();
  const auto factor = [&](const GpuFactor& f, const std::string& name, const IntExpr& lines, const char* tiles) {
    add_factor(slots, name, f);
    slots[name + "_along"] = cpp_of(f.along_depth()), slots[name + "_side_by_side"] = cpp_of(f.side_by_side());
    slots[name + "_lines"] = lines.to_string();
    slots[name + "_batch"] = f.batched() ? batch : "1";
    slots[name + "_in_batch"] = f.batched() ? fmt::format("tile_at.batch * {} + ", tiles) : "";
  };
  factor(a_, "a", all_.row.extent, "down_at");
  factor(b_, "b", all_.column.extent, "across_at");
  slots["sums"] = split ? ", " + parts_workspace() : "";
  slots["sums_argument"] = split ? ", \"parts\"" : "", slots["sums_parameter"] = split ? kPartParameter : "";
  slots["launches"] = "", slots["kernels"] = "";
  add_segment(slots, split, "deep_at");
  if (split) add_up(slots);
  return product_offer("patterns/gpu/matmul_wgmma.cu", slots, action);
}

bool GpuMatmulWriter::can_be_direct() const {
  const bool floats = a_.dtype() == task::DType::kF32 && b_.dtype() == task::DType::kF32;
  return floats && (a_.along_depth() || b_.along_depth()) && a_.steady() && b_.steady() && a_.wide() && b_.wide();
}

/// Tiles of three products of TF32 that take the least time. Modelled, in cycles of a multiprocessor for 8 of the depth, by what an H100's
/// data sheet says of the units (1,024 multiply-adds of TF32 a cycle) and of the second-level cache (24 bytes a cycle for each multiprocessor): with two
/// groups of warps the units or the cache are the limit, one group alone waits for its own splitting and adding too.
void GpuMatmulWriter::put_direct_tiles(Slots& slots, bool swapped, Sums of) const {
  constexpr double kMultiprocessors = 132, kUnits = 1024, kCache = 24, kSplitting = 50, kPart = 512;
  const double rows = at_first(all_.row.extent), columns = at_first(all_.column.extent), batches = at_first(all_.batch.extent);
  const double down = swapped ? columns : rows, across = swapped ? rows : columns;
  struct Tile { int64_t left, right, blocks, stages; };
  const int64_t levels = of.deep ? 2 : 1;
  std::optional<Tile> best;
  double least = 0;
  for (const int64_t left : {128, 64})
    for (const int64_t right : {128, 192, 160, 96, 64, 48}) {
      if (right * levels > 192) continue;
      const double tiles = std::ceil(down / static_cast<double>(left)) * std::ceil(across / static_cast<double>(right)) * batches;
      const double parts = of.split ? std::clamp(std::floor(kMultiprocessors / tiles), 1.0, std::ceil(at_first(all_.depth.extent) / kPart)) : 1;
      const double turns = std::ceil(tiles * parts / kMultiprocessors), l = static_cast<double>(left), r = static_cast<double>(right);
      const bool two = left == 64 && right <= 96 && turns > 1;
      const double units = 3 * 8 * l * r / kUnits, alone = kSplitting + r / 4;
      const double time = turns / parts * std::max({(l + r) * 8 * 4 / kCache, units, left == 128 || two ? units / 2 + alone : units + alone});
      if (!best || time < least) best = Tile{left, right, two ? 2 : 1, two || right > 128 ? 3 : 4}, least = time;
    }
  slots["left_values"] = gpu::choices(best->left, {128, 64}), slots["right_values"] = gpu::choices(best->right, {128, 64, 96, 192, 160, 48});
  slots["blocks"] = gpu::choices(best->blocks, {1, 2}), slots["stages"] = gpu::choices(best->stages, {4, 3, 5});
  slots["depths"] = "32, 64", slots["levels"] = levels == 2 ? "2, 1" : "1, 2";
  slots["registers"] = "RIGHT * LEVELS * DEPTH <= 6144";
}

Offer GpuMatmulWriter::direct(Sums of, int parts) const {
  // The one that the units read from shared memory is the right one there: the right factor here, if it can be.
  const bool swapped = !b_.along_depth();
  const GpuFactor &left = swapped ? b_ : a_, &right = swapped ? a_ : b_;
  const std::string action = std::string(parts == 1 ? "wgmma, TF32, factors as they lie" : "wgmma, three products of TF32, factors as they lie") + (of.split ? kSplitAction : of.brief ? kShareAction : "");
  Slots slots = common(action);
  slots["columns"] = cpp_of(all_.column.extent);
  slots["left_lines"] = swapped ? "columns_at" : "rows_at", slots["right_lines"] = swapped ? "rows_at" : "columns_at";
  add_factor(slots, "left", left, "tile_at.batch");
  add_factor(slots, "right", right, "tile_at.batch");
  slots["left_along"] = cpp_of(left.along_depth()), slots["along_left"] = cpp_of(swapped);
  slots["left_index"] = swapped ? "c_at" : "r_at", slots["right_index"] = swapped ? "r_at" : "c_at";
  slots["math"] = fmt::format("hone::gpu::Tf32<{}>", parts), slots["products"] = parts == 1 ? "one product" : "three products";
  if (parts == 1) {
    slots["left_values"] = of.brief ? "64, 128" : "128, 64", slots["right_values"] = of.brief ? "128, 64, 256" : "256, 128, 64";
    slots["stages"] = of.brief ? "3, 4, 5" : "4, 3, 5, 6", slots["blocks"] = of.brief ? "2, 1" : "1, 2";
    slots["depths"] = "32, 64", slots["levels"] = "1", slots["registers"] = "LEVELS == 1";
  } else {
    put_direct_tiles(slots, swapped, of);
  }
  add_waves(slots, of.split);
  // What speaks of rows and columns, in terms of the factors' lines.
  const auto in_lines = [&](std::string text) {
    for (const auto& [from, to] : {std::pair{"row_at", swapped ? "first_right_at" : "first_left_at"}, {"ROWS", swapped ? "RIGHT" : "LEFT"},
                                  {"column_at", swapped ? "first_left_at" : "first_right_at"}, {"COLUMNS", swapped ? "LEFT" : "RIGHT"}})
      replace_all(text, from, to);
    return text;
  };
  add_segment(slots, of.split, cpp_of(all_.depth.extent));
  slots["segment"] = in_lines(slots["segment"]);
  slots["workspaces"] = "";
  if (of.split) {
    slots["workspaces"] = in_lines(fmt::format("workspaces = {{ {} }}\n", parts_workspace()));
    slots["parameters"] += kPartParameter;
  }
  slots["shared"] = fmt::format("4 * max(STAGES * ({} + {}DEPTH * RIGHT), {})", left.along_depth() ? "LEFT * (DEPTH + 4)" : "DEPTH * (LEFT + 8)",
                                parts == 1 ? "" : "2 * ", swapped ? "RIGHT * (LEFT + 4)" : "LEFT * (RIGHT + 8)");
  slots["launches"] = "", slots["kernels"] = "";
  Entry entry;
  entry.grid = in_lines(grid(of.split));
  entry.block = "(LEFT // 64 + 1) * 128", entry.blocks = "BLOCKS";
  entry.shared = slots["shared"];
  add_entries_of_each(slots, entry, left, right, of.split);
  if (of.split) {
    Slots last{{"launches", ""}, {"kernels", ""}};
    add_up(last);
    slots["launches"] += in_lines(last["launches"]), slots["kernels"] += last["kernels"];
  }
  return product_offer("patterns/gpu/matmul_direct.cu", slots, action);
}

std::optional<task::DType> GpuMatmulWriter::tensor_number() const {
  const task::DType a = a_.dtype(), b = b_.dtype();
  if (second_ && second_->dtype() != b) return std::nullopt;
  if (all_.accumulate == task::DType::kI32) return a == task::DType::kI8 && b == a ? std::optional(a) : std::nullopt;
  if (a == b && (a == task::DType::kBF16 || a == task::DType::kF16 || task::is_f8(a))) return a;
  const auto group = group_method_for(task_.track, a, b);
  return group && group->parts == 1 && group->number != task::DType::kF32 ? std::optional(group->number) : std::nullopt;
}

bool GpuMatmulWriter::can_be_tensors() const { return !triangular() && !picked() && tensor_number(); }

bool GpuMatmulWriter::lies_well(const GpuFactor& factor, const task::Bindings& symbols) const {
  const bool turns = &factor != &a_ && task::size_of(*tensor_number()) == 2 && factor.lines_side_by_side();
  return factor.dtype() == tensor_number() && (factor.along_depth() || turns) && factor.is_tensor() && factor.wide_at(symbols);
}

bool GpuMatmulWriter::lie_well(const task::Bindings& symbols) const {
  return lies_well(a_, symbols) && lies_well(b_, symbols) && (!second_ || (lies_well(*second_, symbols) && second_->along_depth() == b_.along_depth()));
}

Offer GpuMatmulWriter::tensors(bool anew, bool split) const {
  std::string action = second_ ? "wgmma, a pair of products, factors by the copy engine" : "wgmma, factors by the copy engine";
  const auto everywhere = [&](const GpuFactor& factor) {
    return std::all_of(task_.workloads.begin(), task_.workloads.end(), [&](const task::Workload& w) { return lies_well(factor, w.bindings); });
  };
  const bool left_anew = anew && !everywhere(a_);
  // Of a pair both lie alike.
  const bool right_anew = anew && (!everywhere(b_) || (second_ && (!everywhere(*second_) || second_->along_depth() != b_.along_depth())));
  if (anew) action += left_anew && right_anew ? ", both written anew" : left_anew ? ", the left one written anew" : ", the right one written anew";
  if (split) action += kSplitAction;
  Slots slots = common(action);
  std::vector<std::string> conditions;
  if (!left_anew) conditions = *both(conditions, a_.wide());
  if (!right_anew) conditions = *both(conditions, second_ ? both(b_.wide(), second_->wide()) : b_.wide());
  for (const IntExpr& condition : all_.program.nest.conditions) conditions.push_back(condition.to_string());
  for (std::string& condition : conditions) condition = '"' + condition + '"';
  if (!conditions.empty()) slots["requires"] = fmt::format("requires = [{}]\n", fmt::join(conditions, ", "));
  const task::DType number = *tensor_number();
  slots["columns"] = cpp_of(all_.column.extent), slots["deep"] = cpp_of(all_.depth.extent);
  slots["blocks"] = cluster_blocks(split), slots["arguments"] = arguments_of(task_);
  slots["stored"] = storage_type(number);
  // Of floats of one byte there are two sets of sums.
  slots["most"] = task::is_f8(number) ? "16384" : "32768";
  slots["sum"] = all_.accumulate == task::DType::kI32 ? "int32_t" : "float";
  slots["batches"] = cpp_of(all_.batch.extent);
  const auto words = words_text(all_, gpu_parameters_of(task_));
  HONE_CHECK(words.has_value(), words ? "" : words.error().to_string());
  if (!split) slots["finish"] += *words;
  // Of the launch that writes factors anew; as they are, nothing.
  std::vector<std::string> workspaces, grids, written, read, arguments;
  std::string body;
  slots["header"] = anew ? "matmul_laid" : "matmul_tensor";
  slots["lay_note"] = anew ? "// Where they do not, and a factor's lines meet hundreds of the other's, writing it once more with lines that do costs less.\n" : "";
  /// A factor as the kernel says it; `anew`: and its part of the launch that writes it so.
  const auto factor = [&](const GpuFactor& factor, const char* name, const char* lines, const IntExpr& extent, bool anew) {
    const std::string batches = factor.batched() ? cpp_of(all_.batch.extent) : "1";
    const std::string line_at = fmt::format("[=](int64_t line_at) -> int64_t {{ return {}; }}", factor.line());
    const std::string depth_at = fmt::format("[=](int64_t depth_at) -> int64_t {{ return {}; }}", factor.depth());
    if (!anew)
      return fmt::format("hone::gpu::tensor_factor<{}, {}>(\n      {}, deep_at, {}, [=](int64_t batch_at) {{ return {}; }},\n      {}, {})", slots["stored"],
                         cpp_of(factor.along_depth()), lines, batches, factor.base(), line_at, depth_at);
    const std::string batch = factor.batched() ? text_of(all_.batch.extent) : "1", deep = all_.depth.extent.to_string();
    workspaces.push_back(fmt::format("{}_laid = \"{}[{}, {}, align({}, {})]\", ", name, task::name_of(number), batch, extent.to_string(), deep, 16 / task::size_of(number)));
    grids.push_back(fmt::format("{} * ceil_div({}, 64) * ceil_div({}, 64)", batch, extent.to_string(), deep));
    arguments.push_back(fmt::format("\"{}_laid\"", name));
    read.push_back(fmt::format("const {}* __restrict__ {}_laid_at, ", slots["stored"], name));
    written.push_back(fmt::format("{}* __restrict__ {}_laid_at", slots["stored"], name));
    body += fmt::format(
        "  const int64_t {0}_squares_at = hone::gpu::laid_squares({1}, deep_at);\n"
        "  if (square_at < {2} * {0}_squares_at) {{\n"
        "    const int64_t batch_at = square_at / {0}_squares_at;\n"
        "    const auto factor_at = hone::gpu::factor<1, {3}>(\n        {4}, {1}, {5},\n        {6});\n"
        "    return hone::gpu::lay_out(factor_at, deep_at, square_at % {0}_squares_at, {0}_laid_at + batch_at * {1} * hone::gpu::laid_step<{7}>(deep_at));\n  }}\n"
        "  square_at -= {2} * {0}_squares_at;\n",
        name, cpp_of(extent), batches, cpp_of(factor.along_depth()), factor.base(), line_at, depth_at, slots["stored"]);
    return fmt::format("hone::gpu::laid_factor({}_laid_at, {}, deep_at, {})", name, lines, batches);
  };
  slots["left"] = factor(a_, "left", "rows_at", all_.row.extent, left_anew);
  slots["b_along"] = cpp_of(right_anew || b_.along_depth());
  slots["rights"] = factor(b_, "right", "columns_at", all_.column.extent, right_anew);
  if (second_) slots["rights"] += ", " + factor(*second_, "second", "columns_at", all_.column.extent, right_anew);
  slots["laid"] = fmt::format("{}", fmt::join(workspaces, "")), slots["laid_parameters"] = fmt::format("{}", fmt::join(read, ""));
  slots["lay_launch"] = slots["lays"] = slots["laid_arguments"] = "";
  if (anew) {
    const std::string all = fmt::format("{}", fmt::join(arguments, ", "));
    slots["laid_arguments"] = all + ", ";
    slots["lay_launch"] = fmt::format("[[launch]]\nkernel = \"lay\"\ngrid   = [\"{}\"]\nblock  = [\"256\"]\nargs   = [{}, {}]\n", fmt::join(grids, " + "), slots["arguments"], all);
    slots["lays"] = fmt::format("/// Factors once more, with lines on 16 bytes, a square of one for each block.\n"
                                "__global__ void __launch_bounds__(hone::gpu::kLaidThreads) lay({}, {}) {{\n  const int64_t deep_at = {};\n  int64_t square_at = blockIdx.x;\n{}}}\n",
                                slots["parameters"], fmt::join(written, ", "), slots["deep"], body);
  }
  slots["each"] = second_ ? "2" : "1";
  // Of floats of one byte, whose tiles nobody takes turns at, none has 64 rows.
  put_tensor_tiles(slots, number, split);
  add_waves(slots, split);
  const std::string place = "batch_at * rows_at + row_at, column_at", of_task = names() + ", " + place;
  slots["split"] = cpp_of(split), slots["parts"] = split ? "parts_at" : "1";
  slots["part_header"] = slots["parts_workspace"] = slots["part_arguments"] = slots["part_parameters"] = slots["sums_to"] = slots["launches"] = slots["kernels"] = "";
  if (split) {
    slots["part_header"] = "#include \"hone/gpu/part_sums.h\"\n";
    slots["parts_workspace"] = parts_workspace() + ", ", slots["part_arguments"] = fmt::format("\"parts\", \"i64:{}\", ", parts());
    slots["part_parameters"] = "float* __restrict__ part_at, int64_t parts_at, ";
    slots["sums_to"] = "  const hone::gpu::PartSums sums_to{part_at, columns_at};\n";
    slots["one"] = fmt::format("sums_to.write({}, sum_at[0])", place), slots["on_words"] = fmt::format("sums_to.on_words({})", place);
    slots["reads"] = "hone::gpu::PartSums::Nothing()", slots["many"] = fmt::format("sums_to.write<at.kBoundary>({}, sums_at[0])", place);
    add_up(slots);
  } else {
    slots["one"] = fmt::format("finish({}, {})", of_task, second_ ? "sum_at[0], sum_at[1]" : "sum_at[0]");
    slots["on_words"] = fmt::format("finish_on_words<hone::gpu::kMany>({})", of_task);
    slots["reads"] = fmt::format("finish_reads<hone::gpu::kMany, at.kBoundary>({})", of_task);
    slots["many"] = fmt::format("finish_words<hone::gpu::kMany, at.kBoundary>({}, {}, given_at)", of_task, second_ ? "sums_at[0], sums_at[1]" : "sums_at[0]");
  }
  slots["pair"] = second_ ? "// Two products of one left factor are a pair: each has half of a tile's columns, and elements at the same place are finished together.\n" : "";
  return product_offer("patterns/gpu/matmul_tensor.cu", slots, action);
}

/// The launch that adds up parts() sums of each element.
void GpuMatmulWriter::add_up(Slots& slots) const {
  const IntExpr elements = all_.batch.extent * all_.row.extent * all_.column.extent;
  slots["launches"] += fmt::format("[[launch]]\nkernel = \"add_up\"\ngrid   = [\"ceil_div({}, 256)\"]\n", elements.to_string());
  slots["launches"] += fmt::format("block  = [\"256\"]\nargs   = [{}, \"parts\", \"i64:{}\"]\n", arguments_of(task_), parts());
  slots["kernels"] += fmt::format(
      "/// The parts of a sum, added up in order.\n"
      "__global__ void __launch_bounds__(256) add_up({}, int64_t parts_at) {{\n"
      "  const int64_t columns_at = {}, all_at = {} * {} * columns_at, n_at = blockIdx.x * int64_t{{256}} + threadIdx.x;\n"
      "  if (n_at >= all_at) return;\n"
      "  float sum_at = 0;\n"
      "  for (int64_t p_at = 0; p_at < parts_at; ++p_at) sum_at += part_at[p_at * all_at + n_at];\n"
      "  finish({}, n_at / columns_at, n_at % columns_at, sum_at);\n}}\n",
      gpu_parameters_of(task_) + kPartParameter, cpp_of(all_.column.extent), cpp_of(all_.batch.extent), cpp_of(all_.row.extent), names());
}

/// Lines that leave out what is known to be zero or looked at by nobody.
std::string GpuMatmulWriter::clips() const {
  std::string text;
  const auto shifted = [](const std::string& at, int64_t offset) {
    return offset == 0 ? at : fmt::format("{} {} {}", at, offset < 0 ? '-' : '+', std::abs(offset));
  };
  const auto factor = [&](const std::optional<task::Triangle>& t, const char* name, const std::string& line, const char* lines) {
    if (!t) return;
    const std::string to = shifted(line + " + " + lines, t->offset);
    text += t->upper ? fmt::format("  segment_at.clip<DEPTH>({}, segment_at.end);  // {} is zero before\n", shifted(line, t->offset), name)
                     : fmt::format("  segment_at.clip<DEPTH>(0, {});  // {} is zero from there\n", to, name);
  };
  factor(triangles_.a, "the left factor", "row_at", "ROWS");
  factor(triangles_.b, "the right factor", "column_at", "COLUMNS");
  if (const auto& t = triangles_.result) {
    const std::string outside = t->upper ? "column_at + COLUMNS <= " + shifted("row_at", t->offset)
                                         : "column_at >= " + shifted("row_at + ROWS", t->offset);
    text += fmt::format("  if ({}) segment_at.end = 0;  // nobody looks at this tile\n", outside);
  }
  return text;
}

Offer GpuMatmulWriter::skinny(bool rows, int few) const {
  const GpuFactor& large = rows ? a_ : b_;
  const GpuFactor& small = rows ? b_ : a_;
  const IntExpr& many = rows ? all_.row.extent : all_.column.extent;
  const IntExpr& others = rows ? all_.column.extent : all_.row.extent;
  Slots slots = common("lines of the large factor, each read once");
  slots["few_values"] = few == 1 ? "1, 2, 4, 8" : few == 2 ? "2, 1, 4, 8" : few == 4 ? "4, 8, 2, 1" : "8, 4, 2, 1";
  slots["names"] = names();
  slots["many"] = cpp_of(many), slots["others"] = cpp_of(others), slots["depth"] = cpp_of(all_.depth.extent);
  add_factor(slots, "large", large);
  add_factor(slots, "small", small);
  slots["small_along"] = cpp_of(small.along_depth());
  slots["row"] = rows ? "l_at" : "o_at", slots["column"] = rows ? "o_at" : "l_at";
  slots["launches"] = "", slots["kernels"] = "";
  Entry entry;
  entry.grid = fmt::format("\"ceil_div({}, LINES){}\", \"min(65535, ceil_div({}, FEW))\"", many.to_string(), times_batch(), others.to_string());
  entry.block = "THREADS";
  entry.shared = "4 * LINES * FEW * (THREADS // WAVE)";
  // Words of the small factor too where it is read along the depth.
  const bool words = small.along_depth() && small.wide();
  add_entries(slots, entry, words ? both(large.wide(), small.wide()) : large.wide(), large.vector(), words ? small.vector() : 1, false);
  return product_offer("patterns/gpu/matmul_skinny.cu", slots, rows ? "a few columns: rows read once" : "a few rows: columns read once");
}

}  // namespace hone::pattern
