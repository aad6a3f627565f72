// Scans on GPUs: what GpuWriter writes of them, along rows and down columns, and the two patterns.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_partials.h"
#include "hone/pattern/gpu_patterns.h"
#include "hone/pattern/gpu_text.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// Scans that a pass needs, in the order to do them.
std::vector<int> GpuWriter::scans_of(const Pass& pass) const {
  std::set<int> seen;
  std::vector<int> work = pass.stores, found;
  for (const int id : pass.reductions) work.push_back(program_.node(id).operands[0]);
  while (!work.empty()) {
    const int id = work.back();
    work.pop_back();
    if (program_.is_row_value(id) || !seen.insert(id).second) continue;
    for (const int operand : program_.node(id).operands) work.push_back(operand);
  }
  for (const int id : seen)
    if (task::is_scan(program_.node(id).prim)) found.push_back(id);
  return found;
}

std::string GpuWriter::scan_type(int id) const {
  const Node& node = program_.node(id);
  if (node.prim == Prim::kLinearScan) return fmt::format("hone::gpu::Linear<{}>", thread_type(node.type.dtype));
  const char* op = node.prim == Prim::kCumSum ? "Sum" : node.prim == Prim::kCumProd ? "Prod" : node.prim == Prim::kCumMax ? "Max"
                   : node.prim == Prim::kCumLogSumExp ? "LogSumExp" : "Min";
  // A product of some neighbours may leave float's range though the product of all so far does not.
  const std::string type = node.prim == Prim::kCumProd && task::is_float(node.type.dtype) ? "double" : thread_type(node.type.dtype);
  return fmt::format("hone::gpu::{}<{}>", op, type);
}

/// What comes before a pass's body: the scans' operands for all elements of the tile, which is called `of`, and the scans. The operands of all are
/// computed together, so that nothing is computed once for each of them, unless one scans what another has scanned.
std::string GpuWriter::scan_stages(const Pass& pass, const std::string& of, const std::string& indent) {
  std::string text;
  scanned_.clear();
  loads_.clear();
  const std::string at = program_.by_columns ? "r" : "j";
  const std::vector<int> all = scans_of(pass);
  const size_t together = scans_follow() ? 1 : all.size();
  for (size_t begin = 0; begin < all.size(); begin += together) {
    element_names_.clear();
    body_.clear();
    decodes_ = false;
    std::string scans;
    for (size_t i = begin; i < begin + together; ++i) {
      const int id = all[i];
      const Node& node = program_.node(id);
      const bool linear = node.prim == Prim::kLinearScan;
      body_.push_back(fmt::format("scan{}[u][e] = {};", id, element(node.operands[linear ? 1 : 0])));
      text += fmt::format("{}auto scan{} = {}.full({}{{}}.value);\n", indent, id, of, scan_type(id));
      if (linear) {
        // Nothing comes before the first element, whose factor may be anything.
        const std::string first = node.attr<bool>("reverse") ? gpu::bracketed(program_.extent(program_.inner_axes.front())) + " - 1" : "0";
        body_.push_back(fmt::format("factor{}[u][e] = {} == {} ? 0 : {};", id, at, first, element(node.operands[0])));
        text += fmt::format("{}auto factor{} = {}.full({}(1));\n", indent, id, of, thread_type(node.type.dtype));
      }
      scans += fmt::format("{}{}.next({}scan{}, totals, turn);\n", indent, scan_name(id), linear ? fmt::format("factor{}, ", id) : "", id);
    }
    text += fmt::format("{}{}.each([&]({}) {{\n", indent, of, each_parameters());
    for (const std::string& line : body_) text += indent + "  " + line + "\n";
    text += indent + "});\n" + scans;
    scanned_.insert(all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(begin + together));
  }
  return text;
}

/// A pass that needs what another has scanned before scans it anew.
std::string GpuWriter::scan_name(int id) const { return pass_ == 0 ? fmt::format("s{}", id) : fmt::format("s{}_{}", id, pass_); }

std::string GpuWriter::scans_held(const Pass& pass, const std::string& place, const std::string& indent) const {
  std::string text;
  for (const int id : scans_of(pass)) {
    const Node& node = program_.node(id);
    text += fmt::format("{}hone::gpu::{}<{}, {}, {}, {}> {};\n", indent, program_.by_columns ? "ColumnScan" : "Scan", scan_type(id), place,
                        node.attr<bool>("reverse"), node.attr<bool>("exclusive"), scan_name(id));
  }
  return text;
}

std::string GpuWriter::scan_walk(const std::string& begin, const std::string& end, const ScanEnds& ends, const std::string& indent) {
  const Pass& pass = program_.passes.front();
  const bool columns = program_.by_columns;
  pass_ = 0;
  in_rows_ = columns;
  columns_needed_.clear();
  const std::string in = indent + "  ", stages = scan_stages(pass, columns ? "rows" : "tile", in);
  const std::string body = ends.stores ? body_text(pass, in + "  ") : "", reads = loads(in);
  const std::vector<int> needed = columns_needed_;
  in_rows_ = false;
  std::string text = take_row_lines(indent) + column_values(needed, indent) + scans_held(pass, columns ? "ACROSS, DOWN, VEC" : "THREADS, 1", indent) + ends.before;
  text += columns ? fmt::format("{}hone::gpu::ordered_rows<{}>(columns, {}, {}, [&](const auto rows) {{\n", indent, goes_back(), begin, end)
                  : fmt::format("{}hone::gpu::ordered_tiles<THREADS, VEC, UNROLL, {}>(aligned, true, {}, {}, thread, [&](const auto tile) {{\n", indent, goes_back(), begin, end);
  text += reads + stages;
  if (ends.stores)
    text += rooms(pass, in) + fmt::format("{0}{1}.each([&]({2}) {{\n{3}{0}}});\n", in, columns ? "rows" : "tile", each_parameters(), body) + stores(pass, in);
  return text + indent + "});\n" + ends.behind;
}

std::string GpuWriter::each_parameters() const {
  return fmt::format("[[maybe_unused]] int u, [[maybe_unused]] int e, {}[[maybe_unused]] int64_t j", program_.by_columns ? "[[maybe_unused]] int64_t r, " : "");
}

bool GpuWriter::goes_back() const {
  const auto& nodes = program_.nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return task::is_scan(node.prim) && node.attr<bool>("reverse"); });
}

std::vector<int> GpuWriter::scans() const { return scans_of(program_.passes.front()); }

bool GpuWriter::scans_follow() const {
  const auto behind = [&](auto&& self, int id) -> bool {
    const auto& operands = program_.node(id).operands;
    return std::any_of(operands.begin(), operands.end(), [&](int k) { return task::is_scan(program_.node(k).prim) || self(self, k); });
  };
  const std::vector<int> all = scans();
  return std::any_of(all.begin(), all.end(), [&](int id) { return behind(behind, id); });
}

bool GpuWriter::scans_pairs() const {
  const auto& nodes = program_.nest.graph->nodes;
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return node.prim == Prim::kLinearScan; });
}

std::string GpuWriter::scan_obstacle() const {
  if (program_.inner_axes.size() != (program_.by_columns ? 2 : 1)) return "a scan beside other loops";
  for (const Node& node : program_.nest.graph->nodes) {
    if (!task::is_scan(node.prim)) continue;
    if (node.attr<bool>("reverse") != goes_back()) return "scans in both directions";
    if (node.type.dtype == DType::kBool || task::is_narrow(node.type.dtype)) return "a scan of a narrow type";
  }
  return {};
}

namespace gpu {
namespace {

/// With threads for columns enough, each goes down its own; with fewer, several share one out.
constexpr int64_t kEnoughColumns = 1 << 16;

/// Bytes of shared memory that are there without asking for more, which two tiles of columns' running results have to fit into.
constexpr int64_t kStaticShared = 49152;

/// Of a running result.
int64_t slot_bytes(const GpuWriter& writer) { return writer.scans_pairs() ? 16 : 8; }

/// `down` rows of threads, or as many as there is room for.
int64_t down_that_fits(const GpuWriter& writer, int64_t across, int64_t down, int64_t vec) {
  while (down > 1 && 2 * across * (down + 1) * vec * slot_bytes(writer) > kStaticShared) down /= 2;
  return down;
}

bool scans_alone(const Program& program) {
  return program.passes.size() == 1 && !program.has_reductions() && program.row_outputs.empty() && program.column_outputs.empty();
}

tl::unexpected<Error> no_columns() { return fail(ErrorCode::kUnavailable, "a result beside the scans that is one for all columns"); }

}  // namespace

Result<kernel::Kernel> scans(const Program& program, kernel::Language language) {
  GpuWriter writer(program, {{}, program.inner_axes});
  if (std::string why = writer.scan_obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const IntExpr length = program.row_length();
  const int64_t vec = writer.widest_vector(), longest = GpuWriter::largest(program, length);
  const int64_t threads = std::clamp<int64_t>(power_of_two((longest + vec * 4 - 1) / (vec * 4)), 64, 256);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "along rows, tile by tile: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = fmt::format("THREADS = [{}], ROWS = [1, 2], VEC = [{}], UNROLL = [4, 2, 1]", choices(threads, {64, 128, 256, 512}),
                                  choices(vec, {4, 2, 1}));
  slots["rows"] = program.rows().to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["rows_cpp"] = bracketed(program.rows());
  slots["prologue"] = writer.row_prologue("row", "  ");
  slots["aligned"] = writer.aligned();
  slots["slot"] = writer.scans_pairs() ? ", 16" : "";
  std::string body;
  for (const Round& round : rounds_of(program, false)) {
    body += writer.round_loop(round, "", "", "  ");
    body += writer.merged(round, "  ");
  }
  slots["body"] = body + writer.row_stores("  ", "some && thread == 0");
  return finished(fill_pattern("patterns/gpu/scans.cu", slots), "scans");
}

Result<kernel::Kernel> scan_columns(const Program& program, kernel::Language language) {
  const Segment segment{{}, {program.inner_axes.back()}};
  GpuWriter writer(program, segment);
  if (std::string why = writer.scan_obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  if (!scans_alone(program)) return fail(ErrorCode::kUnavailable, "more than scans down columns");
  if (!program.outputs_have_columns()) return no_columns();
  const IntExpr &width = program.extent(program.inner_axes.back()), &depth = program.extent(program.inner_axes.front());
  // Words of four elements, so that several blocks share a multiprocessor's registers: running sums of 64 x 32 x 256 x 128 bf16 take 200 us
  // on an H200 so, 233 with words of eight, running logarithms of 127 x 1024 x 256 281 and 435.
  const int64_t widest = writer.widest_vector(), vec = std::min<int64_t>(4, widest), wide = GpuWriter::largest(program, width);
  std::vector<int64_t> words;
  for (int64_t word = widest; word > 0; word /= 2) words.push_back(word);
  const int64_t lines = GpuWriter::largest(program, program.rows()) * wide / vec;
  const int64_t across = std::clamp<int64_t>(power_of_two(wide) / vec, 8, lines >= kEnoughColumns ? 128 : 32);
  const int64_t deep = power_of_two(GpuWriter::largest(program, depth)) / 4;
  const int64_t wanted = std::clamp<int64_t>(std::min(lines >= kEnoughColumns ? 1 : 256 / across, deep), std::max<int64_t>(1, 64 / across), 256 / across);
  const int64_t down = down_that_fits(writer, across, wanted, vec);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "down columns: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = fmt::format("ACROSS = [{}], DOWN = [{}], VEC = [{}], UNROLL = [4, 8, 2]", choices(across, {8, 16, 32, 64, 128}),
                                  choices(down, {1, 2, 4, 8, 16}), choices(vec, words));
  slots["slot"] = std::to_string(slot_bytes(writer));
  slots["rows"] = factor(program.rows());
  slots["columns"] = width.to_string();
  slots["args"] = arguments_of(*program.task);
  slots["parameters"] = gpu_parameters_of(*program.task);
  slots["columns_cpp"] = bracketed(width);
  slots["aligned"] = writer.aligned();
  slots["prologue"] = writer.row_prologue("row", "  ");
  slots["body"] = writer.scan_walk("0", bracketed(depth), {}, "    ");
  return finished(fill_pattern("patterns/gpu/scan_columns.cu", slots), "scan_columns");
}

namespace {

/// The running results that chunks of a row, or of columns, leave for those behind them.
struct ChunkTotals {
  ChunkTotals(const GpuWriter& writer, const Program& program, const std::string& chunks)
      : writer(writer), columns(program.by_columns), width(columns ? bracketed(program.extent(program.inner_axes.back())) : "") {
    const std::string shape = fmt::format("{}, {}{}", program.rows().to_string(), chunks,
                                          columns ? ", " + program.extent(program.inner_axes.back()).to_string() : "");
    for (const int id : writer.scans())
      for (const std::string& field : fields(id)) {
        const std::string of = writer.scan_type(id), name = fmt::format("{}{}", field, id);
        const std::string type = field == "factor" || of.find("LogSumExp") != std::string::npos ? "f64" : workspace_type(of);
        workspaces += fmt::format("{}{} = \"{}[{}]\"", workspaces.empty() ? "" : ", ", name, type, shape);
        parameters += fmt::format(", {}* __restrict__ {}", cpp_type(type), name);
        names.push_back(name);
      }
  }
  [[nodiscard]] std::vector<std::string> fields(int id) const {
    const bool pair = writer.scan_type(id).find("Linear") != std::string::npos;
    return pair ? std::vector<std::string>{"factor", "value"} : std::vector<std::string>{"value"};
  }
  [[nodiscard]] std::string at(const std::string& chunk) const {
    return columns ? fmt::format("(row * chunks + {}) * {} + j", chunk, width) : fmt::format("row * chunks + {}", chunk);
  }
  [[nodiscard]] std::string leave(const std::string& indent) const {
    std::string text = columns ? fmt::format("{0}if (threadIdx.y == 0) {{\n{0}  columns.each([&](int e, int64_t j) {{\n", indent) : fmt::format("{}if (thread == 0) {{\n", indent);
    for (const int id : writer.scans())
      for (const std::string& field : fields(id))
        text += fmt::format("{}    {}{}[{}] = s{}.carry{}.{};\n", indent, field, id, at("chunk"), id, columns ? "[e]" : "", field);
    return text + (columns ? fmt::format("{0}  }});\n", indent) : "") + indent + "}\n";
  }
  /// Scans go on from what the chunks before this one come to.
  [[nodiscard]] std::string take_up(const std::string& indent) const {
    std::string text;
    for (const int id : writer.scans()) {
      std::vector<std::string> parts;
      for (const std::string& field : fields(id)) parts.push_back(fmt::format("{}{}[{}]", field, id, at(writer.goes_back() ? "(chunks - 1 - c)" : "c")));
      const std::string type = writer.scan_type(id), found = fmt::format("{}{{{}}}", type, fmt::join(parts, ", "));
      text += columns ? fmt::format("{0}columns.each([&](int e, int64_t j) {{\n{0}  for (int64_t c = 0; c < earlier; ++c) s{1}.carry[e].merge({2});\n{0}}});\n", indent, id, found)
                      : fmt::format("{0}s{1}.carry = hone::gpu::all_of<{2}>(earlier, [&](int64_t c) {{ return {3}; }});\n", indent, id, type, found);
    }
    return text;
  }
  const GpuWriter& writer;
  bool columns;
  std::string width, workspaces, parameters;
  std::vector<std::string> names;
};

}  // namespace

Result<kernel::Kernel> split_scans(const Program& program, kernel::Language language) {
  const bool columns = program.by_columns;
  const Segment segment{{}, {program.inner_axes.back()}};
  GpuWriter totals(program, segment), writer(program, segment);
  if (std::string why = writer.scan_obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  if (!scans_alone(program)) return fail(ErrorCode::kUnavailable, "more than scans");
  if (columns && !program.outputs_have_columns()) return no_columns();
  if (writer.scans_follow()) return fail(ErrorCode::kUnavailable, "a scan of a scan");
  const IntExpr &width = program.extent(program.inner_axes.back()), &length = program.extent(program.inner_axes.front());
  const int64_t vec = writer.widest_vector(), x = std::clamp<int64_t>(power_of_two(GpuWriter::largest(program, width)) / vec, 8, 32);
  const std::string tile = columns ? "DOWN * UNROLL" : "THREADS * VEC * UNROLL";
  const std::string tiles = columns ? fmt::format("{}ceil_div({}, ACROSS * VEC)", factor(program.rows()), width.to_string()) : program.rows().to_string();
  const std::string chunks = fmt::format("max(1, min(ceil_div(BLOCKS * SMS, {}), ceil_div({}, {})))", tiles, length.to_string(), tile);
  const ChunkTotals between(totals, program, chunks);
  std::vector<std::string> names = between.names;
  names.push_back("i64:" + chunks);
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = fmt::format("{} in chunks: {}", columns ? "down columns" : "along rows", writer.outline());
  slots["requires"] = writer.requirements();
  if (columns)
    slots["tunables"] = fmt::format("ACROSS = [{}], DOWN = [{}], VEC = [{}], UNROLL = [4, 8, 2]", choices(x, {8, 16, 32, 64}),
                                    choices(down_that_fits(writer, x, 256 / x, vec), {4, 8, 16, 32}), choices(vec, {4, 2, 1}));
  else
    slots["tunables"] = fmt::format("THREADS = [256, 128, 512], VEC = [{}], UNROLL = [4, 2, 1]", choices(vec, {4, 2, 1}));
  const int64_t slot = slot_bytes(writer);
  slots["constraints"] = columns ? fmt::format("\"ACROSS * DOWN <= 1024\", \"ACROSS * DOWN % WAVE == 0\", \"DOWN > 1\", \"VEC * UNROLL <= 32\", \"2 * ACROSS * (DOWN + 1) * VEC * {} <= {}\"", slot, kStaticShared)
                                 : "\"THREADS % WAVE == 0\", \"VEC * UNROLL <= 32\"";
  slots["workspaces"] = between.workspaces;
  slots["grid"] = fmt::format("({}) * {}", tiles, chunks);
  slots["block"] = columns ? "\"ACROSS\", \"DOWN\"" : "\"THREADS\"";
  slots["args"] = arguments_with(*program.task, names);
  slots["header"] = columns ? "column_scan" : "scan";
  slots["threads"] = columns ? "ACROSS * DOWN" : "THREADS";
  slots["tile"] = tile;
  slots["parameters"] = gpu_parameters_of(*program.task) + between.parameters + ", int64_t chunks";
  slots["scratch"] = columns ? fmt::format("hone::gpu::ColumnTotals<ACROSS, DOWN, VEC, {}>", slot) : fmt::format("hone::gpu::ScanScratch<THREADS, 1, UNROLL, {}>", slot);
  slots["length_cpp"] = bracketed(length);
  slots["tiles"] = columns ? fmt::format("({} + ACROSS * VEC - 1) / (ACROSS * VEC)", bracketed(width)) : "1";
  slots["earlier"] = writer.goes_back() ? "chunks - 1 - chunk" : "chunk";
  slots["prologue"] = totals.row_prologue("row", "  ");
  slots["finish_prologue"] = writer.row_prologue("row", "  ");
  slots["aligned"] = writer.aligned();
  const std::string open = columns ? fmt::format("  hone::gpu::columns_at<ACROSS, DOWN, VEC, UNROLL>(aligned, {}, across, [&](const auto columns) {{\n", bracketed(width))
                                   : "  const int thread = static_cast<int>(threadIdx.x);\n";
  const std::string close = columns ? "  });\n" : "", indent = columns ? "    " : "  ";
  slots["body"] = open + totals.scan_walk("begin", "end", {.stores = false, .behind = between.leave(indent)}, indent) + close;
  slots["finish"] = open + writer.scan_walk("begin", "end", {.before = between.take_up(indent)}, indent) + close;
  return finished(fill_pattern("patterns/gpu/split_scans.cu", slots), "split_scans");
}

}  // namespace gpu
}  // namespace hone::pattern
