#include "hone/pattern/gpu_matmul.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/normal_form.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;

/// How a tile is multiplied.
struct Method {
  const char* math;        ///< of hone/gpu/matmul_mma.h; empty: without matrix units
  int size = 4;            ///< bytes of what lies in shared memory
  int pair = 1;            ///< neighbours in depth that a thread reads at once
  const char* action;
};

constexpr Method kSimt = {"", 4, 1, "tile in registers"};
constexpr Method kTf32x3 = {"hone::gpu::Tf32<2>", 4, 1, "matrix units, three products of TF32 parts"};
constexpr Method kBf16x6 = {"hone::gpu::Bf16<3>", 4, 2, "matrix units, six products of bf16 parts"};
constexpr Method kTf32 = {"hone::gpu::Tf32<1>", 4, 1, "matrix units, TF32"};
constexpr Method kBf16 = {"hone::gpu::Bf16<1>", 4, 2, "matrix units, bf16"};
constexpr Method kStoredBf16 = {"hone::gpu::Stored16<hone::bf16>", 2, 2, "matrix units"};
constexpr Method kStoredF16 = {"hone::gpu::Stored16<hone::f16>", 2, 2, "matrix units"};

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
    for (bool first = true; !line.empty(); first = false) {
      size_t at = line.size();
      if (const size_t room = kColumns - (first ? 0 : indent.size()); line.size() > room)
        if (const size_t comma = line.rfind(", ", room - 2); comma != std::string_view::npos) at = comma + 2;
      if (!first) out += indent;
      out += line.substr(0, at == line.size() ? at : at - 1);
      if (at != line.size()) out += '\n';
      line.remove_prefix(at);
    }
  }
  return out;
}

std::string text_of(const IntExpr& e) { return wrapped(e.to_string()); }
std::string cpp_of(const IntExpr& e) { return wrapped(e.to_cpp()); }

/// The names that parameters_of declares, as arguments of a call.
std::string names_of(const task::Task& task) {
  std::vector<std::string> all;
  for (const auto& input : task.inputs) all.push_back(input.name);
  for (const auto& [name, type] : task.outputs) all.push_back(name);
  for (const std::string& symbol : task.symbols()) all.push_back(symbol);
  return fmt::format("{}", fmt::join(all, ", "));
}

/// What the kernels of one product have in common.
class Writer {
 public:
  Writer(const task::Task& task, const Contraction& all, kernel::Language language, std::string finish)
      : task_(task), all_(all), language_(language), finish_(std::move(finish)), a_(task, all, all.a, all.row), b_(task, all, all.b, all.column),
        triangles_(triangles_of(task, all)) {
    wide_a_ = a_.wide(), wide_b_ = b_.wide();
  }

  [[nodiscard]] bool triangular() const { return triangles_.a || triangles_.b || triangles_.result; }
  [[nodiscard]] DType a_dtype() const { return a_.dtype(); }
  [[nodiscard]] DType b_dtype() const { return b_.dtype(); }

  [[nodiscard]] Offer tiles(const Method& method, bool split) const {
    const bool units = *method.math != 0;
    Slots slots = common(method.action, split);
    slots["pattern"] = "matmul";
    slots["header"] = units ? "hone/gpu/matmul_mma.h" : "hone/gpu/matmul_simt.h";
    slots["tunables"] = std::string(units ? "ROWS = [128, 64, 256], COLUMNS = [128, 64, 256], DEPTH = [32, 16], WARP_ROWS = [32, 64, 16], "
                                            "WARP_COLUMNS = [64, 32, 128], STAGES = [4, 3, 2], GROUP = [8, 1, 4, 16]"
                                          : "ROWS = [128, 64], COLUMNS = [128, 64], DEPTH = [16, 8], GROUP = [8, 1, 4, 16]") +
                        (split ? ", WAVES = [1, 2, 4]" : "");
    slots["constraints"] = units ? fmt::format("\"ROWS % WARP_ROWS == 0 and COLUMNS % WARP_COLUMNS == 0 and WARP_ROWS * WARP_COLUMNS <= 2048\", "
                                               "\"{0} <= 512 and {0} * select(WARP_ROWS * WARP_COLUMNS > 1024, 256, 128) <= 65536\", \"{1} <= SHARED_MAX\"",
                                               threads(method), shared(method))
                                 : "";
    slots["when"] = units ? "products of matrices on NVIDIA's matrix units. Their factors have fewer bits than fp32: see hone/gpu/matmul_mma.h\n"
                            "// for how the accuracy is kept."
                          : "products of matrices where there are no matrix units for the type. A thread sums 8 x 8 elements in\n"
                            "// registers, so that 64 multiply-adds come of every 64 bytes read from shared memory.";
    slots["more"] = units ? "//   WARP_ROWS, WARP_COLUMNS  a warp's part of the tile: large reads less from shared memory and needs registers\n"
                            "//   STAGES         tiles on their way from memory at a time, and the one that is computed on\n"
                          : "";
    if (split) slots["more"] += "//   WAVES          blocks a multiprocessor gets: the depth is split into as many parts as that takes\n";
    slots["product"] = units ? fmt::format("hone::gpu::mma_product<{}, ROWS, COLUMNS, DEPTH, WARP_ROWS, WARP_COLUMNS, STAGES>", method.math)
                             : "hone::gpu::simt_product<ROWS, COLUMNS, DEPTH>";
    add_launches(slots, method, split);
    return offer("patterns/gpu/matmul.cu", slots, fmt::format("{}{}", method.action, split ? ", the depth split between blocks" : ""));
  }

  /// Whether the rows (else the columns) can be the many lines of a skinny product: their factor is read along the depth.
  [[nodiscard]] bool can_be_many(bool rows) const { return (rows ? a_ : b_).along_depth() && !triangular(); }

  /// For products of about `few` columns (of rows, where the columns are many).
  [[nodiscard]] Offer skinny(bool rows, int few) const {
    const GpuFactor& large = rows ? a_ : b_;
    const GpuFactor& small = rows ? b_ : a_;
    const IntExpr& many = rows ? all_.row.extent : all_.column.extent;
    const IntExpr& others = rows ? all_.column.extent : all_.row.extent;
    Slots slots;
    slots["language"] = kernel::name_of(language_);
    slots["note"] = fmt::format("a line of the large factor at a time; then {}", finish_outline(all_));
    slots["requires"] = requirements();
    slots["few_values"] = few == 1 ? "1, 2, 4, 8" : few == 2 ? "2, 1, 4, 8" : few == 4 ? "4, 8, 2, 1" : "8, 4, 2, 1";
    slots["finish"] = finish_;
    slots["parameters"] = gpu_parameters_of(task_);
    slots["names"] = names_of(task_);
    slots["many"] = cpp_of(many), slots["others"] = cpp_of(others), slots["depth"] = cpp_of(all_.depth.extent), slots["rows"] = cpp_of(all_.row.extent);
    slots["large"] = large.base(), slots["large_line"] = large.line(), slots["large_depth"] = large.depth();
    slots["small"] = small.base(), slots["small_line"] = small.line(), slots["small_depth"] = small.depth();
    slots["row"] = rows ? "l_at" : "o_at", slots["column"] = rows ? "o_at" : "l_at";
    slots["small_along"] = small.along_depth() ? "true" : "false";
    const auto launch = [&](const char* name, const std::string& when, int v, int w) {
      slots["launches"] += fmt::format("[[launch]]\nkernel = \"{}\"\n{}grid   = [\"ceil_div({}, LINES){}\", \"ceil_div({}, FEW)\"]\nblock  = [\"THREADS\"]\n"
                                       "shared = \"4 * LINES * FEW * (THREADS // WAVE)\"\nargs   = [{}]\n",
                                       name, when.empty() ? "" : "when   = \"" + when + "\"\n", many.to_string(), times_batch(), others.to_string(), arguments_of(task_));
      slots["kernels"] += fmt::format("__global__ void __launch_bounds__(THREADS) {}({}) {{\n  multiply<{}, {}>({});\n}}\n", name, slots["parameters"], v, w, names_of(task_));
    };
    auto wide = rows ? wide_a_ : wide_b_;
    const auto& of_small = rows ? wide_b_ : wide_a_;
    const bool both = wide && small.along_depth() && of_small;
    if (both) add_conditions(*wide, *of_small);
    const std::string conditions = wide ? fmt::format("{}", fmt::join(*wide, " and ")) : "";
    if (wide) launch("multiply_wide", conditions, large.vector(), both ? small.vector() : 1);
    if (!wide || !wide->empty()) launch("multiply_any", wide ? "not (" + conditions + ")" : "", 1, 1);
    return offer("patterns/gpu/matmul_skinny.cu", slots, rows ? "a row at a time" : "a column at a time");
  }

 private:
  [[nodiscard]] static Offer offer(const char* pattern, const Slots& slots, const std::string& action) {
    auto kernel = kernel::parse_kernel(folded(fill_pattern(pattern, slots)), pattern);
    HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
    kernel->author = "pattern:matmul";
    kernel->header.action = action;
    return {std::move(*kernel), "matmul", action};
  }
  static void add_conditions(std::vector<std::string>& to, const std::vector<std::string>& more) {
    for (const std::string& c : more)
      if (std::find(to.begin(), to.end(), c) == to.end()) to.push_back(c);
  }
  [[nodiscard]] std::string requirements() const { return CppWriter(all_.program, Way::kScalar, {}).requirements(); }
  [[nodiscard]] std::string times_batch() const { return is_one(all_.batch.extent) ? "" : " * " + text_of(all_.batch.extent); }
  [[nodiscard]] static std::string threads(const Method& method) {
    return *method.math ? "ROWS * COLUMNS * 32 // (WARP_ROWS * WARP_COLUMNS)" : "ROWS * COLUMNS // 64";
  }
  [[nodiscard]] static std::string threads_cpp(const Method& method) {
    return *method.math ? "ROWS * COLUMNS * 32 / (WARP_ROWS * WARP_COLUMNS)" : "ROWS * COLUMNS / 64";
  }
  /// Bytes of shared memory: as SharedTile pads, and the tile of the result at the end.
  [[nodiscard]] std::string shared(const Method& method) const {
    if (!*method.math) return "4 * max(2 * DEPTH * (ROWS + COLUMNS + 8), ROWS * COLUMNS // 2)";
    const auto tile = [&](const GpuFactor& factor, const char* lines) {
      const int pad = method.size == 2 || factor.along_depth() == (method.pair == 2) ? 8 : 4;
      return factor.along_depth() ? fmt::format("{} * (DEPTH + {})", lines, pad) : fmt::format("DEPTH * ({} + {})", lines, pad);
    };
    return fmt::format("max({} * STAGES * ({} + {}), 4 * ROWS * (COLUMNS + 8))", method.size, tile(a_, "ROWS"), tile(b_, "COLUMNS"));
  }
  [[nodiscard]] std::string lines() const { return (all_.batch.extent * all_.row.extent).to_string(); }

  [[nodiscard]] Slots common(const std::string& note, bool split) const {
    Slots slots;
    slots["language"] = kernel::name_of(language_);
    slots["note"] = fmt::format("{}{}; then {}", note, split ? ", the depth split between blocks" : "", finish_outline(all_));
    slots["requires"] = requirements();
    slots["finish"] = finish_;
    slots["parameters"] = gpu_parameters_of(task_) + (split ? ", float* __restrict__ part_at" : "");
    slots["rows"] = cpp_of(all_.row.extent);
    slots["columns"] = cpp_of(all_.column.extent);
    slots["a"] = with_batch(a_.base());
    slots["b"] = with_batch(b_.base());
    slots["a_along"] = a_.along_depth() ? "true" : "false";
    slots["b_along"] = b_.along_depth() ? "true" : "false";
    slots["a_line"] = a_.line(), slots["a_depth"] = a_.depth();
    slots["b_line"] = b_.line(), slots["b_depth"] = b_.depth();
    return slots;
  }
  [[nodiscard]] static std::string with_batch(std::string base) {
    constexpr std::string_view kName = "batch_at";
    for (size_t at = 0; (at = base.find(kName, at)) != std::string::npos; at += 13) base.replace(at, kName.size(), "tile_at.batch");
    return base;
  }

  void add_launches(Slots& slots, const Method& method, bool split) const {
    const std::string tiles = fmt::format("ceil_div({}, ROWS) * ceil_div({}, COLUMNS){}", all_.row.extent.to_string(), all_.column.extent.to_string(), times_batch());
    // Parts of at least 512 of the depth, as many as keep WAVES blocks a multiprocessor busy.
    const std::string parts = fmt::format("max(1, min(ceil_div({}, 512), WAVES * SMS // ({})))", all_.depth.extent.to_string(), tiles);
    const std::string args = arguments_of(task_) + (split ? ", \"parts\"" : "");
    slots["workspaces"] = split ? fmt::format("workspaces = {{ parts = \"f32[{}, {}, {}]\" }}\n", parts, lines(), all_.column.extent.to_string()) : "";
    const auto launch = [&](const char* name, const std::string& when) {
      slots["launches"] += fmt::format("[[launch]]\nkernel = \"{}\"\n{}grid   = [\"{}\"{}]\nblock  = [\"{}\"]\nshared = \"{}\"\nargs   = [{}]\n", name,
                                       when.empty() ? "" : "when   = \"" + when + "\"\n", tiles, split ? ", \"" + parts + "\"" : "", threads(method), shared(method), args);
    };
    const auto kernel = [&](const char* name, int v_a, int v_b) {
      slots["kernels"] += fmt::format("__global__ void __launch_bounds__({}) {}({}) {{\n  multiply<{}, {}>({}{});\n}}\n", threads_cpp(method), name, slots["parameters"],
                                      v_a, v_b, names_of(task_), split ? ", part_at" : "");
    };
    std::vector<std::string> conditions;
    const bool ever = wide_a_ && wide_b_;
    if (ever) {
      conditions = *wide_a_;
      add_conditions(conditions, *wide_b_);
      launch("multiply_wide", fmt::format("{}", fmt::join(conditions, " and ")));
      kernel("multiply_wide", a_.vector(), b_.vector());
    }
    if (!ever || !conditions.empty()) {
      launch("multiply_any", ever ? fmt::format("not ({})", fmt::join(conditions, " and ")) : "");
      kernel("multiply_any", 1, 1);
    }
    const std::string depth = cpp_of(all_.depth.extent);
    slots["stretch"] = split ? fmt::format("  const hone::gpu::Stretch stretch_at = hone::gpu::stretch_of<DEPTH>({}, blockIdx.y, gridDim.y);\n", depth)
                             : fmt::format("  {}hone::gpu::Stretch stretch_at{{0, {}}};\n", triangular() ? "" : "const ", depth);
    if (triangular()) slots["stretch"] += clips();
    slots["sink"] = split ? fmt::format("    part_at[((blockIdx.y * {} + tile_at.batch) * rows_at + r_at) * columns_at + c_at] = sum_at;\n", cpp_of(all_.batch.extent))
                          : fmt::format("    finish({}, tile_at.batch * rows_at + r_at, c_at, sum_at);\n", names_of(task_));
    if (!split) return;
    slots["launches"] += fmt::format("[[launch]]\nkernel = \"add_up\"\ngrid   = [\"ceil_div({}, 256)\"]\nblock  = [\"256\"]\nargs   = [{}, \"i64:{}\"]\n",
                                     (all_.batch.extent * all_.row.extent * all_.column.extent).to_string(), args, parts);
    slots["kernels"] += fmt::format(
        "/// The parts of a sum, added up in order.\n"
        "__global__ void __launch_bounds__(256) add_up({}, int64_t parts_at) {{\n"
        "  const int64_t columns_at = {}, all_at = {} * {} * columns_at, n_at = blockIdx.x * int64_t{{256}} + threadIdx.x;\n"
        "  if (n_at >= all_at) return;\n"
        "  float sum_at = 0;\n"
        "  for (int64_t p_at = 0; p_at < parts_at; ++p_at) sum_at += part_at[p_at * all_at + n_at];\n"
        "  finish({}, n_at / columns_at, n_at % columns_at, sum_at);\n}}\n",
        slots["parameters"], cpp_of(all_.column.extent), cpp_of(all_.batch.extent), cpp_of(all_.row.extent), names_of(task_));
  }

  [[nodiscard]] static std::string shifted(const std::string& at, int64_t offset) {
    return offset == 0 ? at : fmt::format("{} {} {}", at, offset < 0 ? '-' : '+', std::abs(offset));
  }

  /// Lines that leave out what is known to be zero or looked at by nobody.
  [[nodiscard]] std::string clips() const {
    std::string text;
    const auto factor = [&](const std::optional<task::Triangle>& t, const char* name, const char* line, const char* lines) {
      if (!t) return;
      if (t->upper) text += fmt::format("  stretch_at.clip<DEPTH>({}, stretch_at.end);  // {} is zero before\n", shifted(line, t->offset), name);
      else text += fmt::format("  stretch_at.clip<DEPTH>(0, {});  // {} is zero from there\n", shifted(fmt::format("{} + {}", line, lines), t->offset), name);
    };
    factor(triangles_.a, "the left factor", "row_at", "ROWS");
    factor(triangles_.b, "the right factor", "column_at", "COLUMNS");
    if (const auto& t = triangles_.result)
      text += fmt::format("  if ({}) stretch_at.end = 0;  // nobody looks at this tile\n",
                          t->upper ? "column_at + COLUMNS <= " + shifted("row_at", t->offset) : "column_at >= " + shifted("row_at + ROWS", t->offset));
    return text;
  }

  const task::Task& task_;
  const Contraction& all_;
  kernel::Language language_;
  std::string finish_;
  GpuFactor a_, b_;
  ProductTriangles triangles_;
  std::optional<std::vector<std::string>> wide_a_, wide_b_;
};

/// Numbers of one workload.
struct Shape {
  double rows, columns, depth, batch;
};
std::vector<Shape> shapes_of(const task::Task& task, const Contraction& all) {
  std::vector<Shape> shapes;
  for (const task::Workload& w : task.workloads) {
    const auto at = [&](const IntExpr& e) {
      const auto v = e.eval(w.bindings);
      return v ? static_cast<double>(*v) : 1.0;
    };
    shapes.push_back({at(all.row.extent), at(all.column.extent), at(all.depth.extent), at(all.batch.extent)});
  }
  return shapes;
}

/// Multiprocessors of the devices meant: enough blocks for one each or not.
constexpr double kManyBlocks = 132;

/// The largest number of lines that a skinny product is made for.
constexpr double kFew = 8;

bool wants_split(const Shape& s) {
  return s.depth >= 2048 && std::ceil(s.rows / 128) * std::ceil(s.columns / 128) * s.batch * 2 <= kManyBlocks;
}

std::vector<Method> methods_for(const task::Task& task, const Writer& writer, kernel::Language language) {
  if (language != kernel::Language::kCuda) return {kSimt};
  const DType a = writer.a_dtype(), b = writer.b_dtype();
  if (a == DType::kBF16 && b == DType::kBF16) return {kStoredBf16, kSimt};
  if (a == DType::kF16 && b == DType::kF16) return {kStoredF16, kSimt};
  if (a != DType::kF32 || b != DType::kF32) return {kSimt};
  if (task.track == task::Track::kTf32) return {kTf32, kTf32x3, kSimt};
  if (task.track == task::Track::kBf16) return {kBf16, kTf32, kSimt};
  if (task.track == task::Track::kF16) return {kTf32, kSimt};
  return {kTf32x3, kBf16x6, kSimt};
}

bool readable(DType dtype) { return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16; }

}  // namespace

std::vector<Offer> gpu_matmul_offers(const task::Task& given, kernel::Language language) {
  // A product without rows or columns is one here, but no longer in the normal form.
  task::Task task = given;
  auto found = find_contraction(task);
  if (!found) {
    task = normal_form(given);
    found = find_contraction(task);
  }
  if (!found) return {};
  const Contraction& all = **found;
  const auto finish = finish_text(all, gpu_parameters_of(task));
  if (!finish) return {};
  const Writer writer(task, all, language, *finish);
  if (!readable(writer.a_dtype()) || !readable(writer.b_dtype())) return {};
  const std::vector<Shape> shapes = shapes_of(task, all);
  const bool split = !writer.triangular() && std::any_of(shapes.begin(), shapes.end(), wants_split);
  std::vector<Offer> offers;
  for (const bool rows : {true, false}) {
    // Lines of the other factor where they are few.
    double few = 0;
    for (const Shape& s : shapes)
      if (const double others = rows ? s.columns : s.rows; others <= kFew && others < (rows ? s.rows : s.columns)) few = std::max(few, others);
    if (few > 0 && writer.can_be_many(rows)) offers.push_back(writer.skinny(rows, few > 4 ? 8 : few > 2 ? 4 : static_cast<int>(few)));
  }
  for (const Method& method : methods_for(task, writer, language)) {
    if (split) offers.push_back(writer.tiles(method, true));
    offers.push_back(writer.tiles(method, false));
  }
  return offers;
}

}  // namespace hone::pattern
