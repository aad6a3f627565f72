#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/gpu_factor.h"
#include "hone/pattern/gpu_finish.h"
#include "hone/pattern/opencl_patterns.h"
#include "hone/pattern/opencl_text.h"
#include "hone/pattern/template.h"

namespace hone::pattern::opencl {
namespace {

using task::DType;

/// One factor as the kernel fetches it.
struct Side {
  const GpuFactor& factor;
  const char *lines, *tile, *place, *put, *pointer;   ///< "rows_at", "ROWS", "row_at", "LEFT", "a_at"
  bool whole_words;                                   ///< a word of it can lie in local memory as one
};

/// The body of a loop over words i of a factor's part: words go along the axis that lies along memory. A word that reaches
/// over an end, or whose elements do not lie side by side, is fetched element by element.
std::string fetch(const Side& side, const std::string& type, const std::string& lanes) {
  const GpuFactor& factor = side.factor;
  const bool along_depth = factor.along_depth();
  const bool side_by_side = along_depth ? factor.side_by_side() : factor.lines_side_by_side();
  const std::string line = spelled(factor.line()), depth = spelled(factor.depth());
  const std::string at = line == "0" ? depth : depth == "0" ? line : line + " + " + depth;
  std::string text = along_depth ? fmt::format("      const int l = i / (DEPTH / VEC), d = i % (DEPTH / VEC) * VEC;\n")
                                 : fmt::format("      const int d = i / ({0} / VEC), l = i % ({0} / VEC) * VEC;\n", side.tile);
  const std::string left = along_depth ? "depths_at - from - d" : fmt::format("{} - {} - l", side.lines, side.place);
  text += fmt::format("      const long last_at = {};\n", left);
  const std::string inside = along_depth ? fmt::format("{} + l < {}", side.place, side.lines) : "from + d < depths_at";
  text += fmt::format("      {} lane[VEC];\n", type);
  const bool words = side_by_side && type == "float";
  std::string indent = "      ";
  if (words) {
    text += fmt::format("      if ({} && last_at >= VEC) {{\n"
                        "        const long line_at = {} + l, depth_at = from + d;\n", inside, side.place);
    text += fmt::format("        const {} word = {};\n", lanes, loaded(factor.dtype(), side.pointer, at, Way::kLanes));
    text += side.whole_words ? fmt::format("        PUT(word, &{}(l, d));\n        continue;\n", side.put) : "        PUT(word, lane);\n";
    text += side.whole_words ? "      }\n" : "      } else {\n";
    indent = side.whole_words ? "      " : "        ";
  }
  const char *const of_line = along_depth ? "" : " + k", *const of_depth = along_depth ? " + k" : "";
  text += fmt::format("{0}for (int k = 0; k < VEC; ++k) {{\n{0}  const long line_at = {1} + l{2}, depth_at = from + d{3};\n"
                      "{0}  lane[k] = {4} && k < last_at ? {5} : 0;\n{0}}}\n",
                      indent, side.place, of_line, of_depth, inside, loaded(factor.dtype(), side.pointer, at, Way::kItem));
  if (words && !side.whole_words) text += "      }\n";
  return text + fmt::format("      for (int k = 0; k < VEC; ++k) {}(l{}, d{}) = lane[k];\n", side.put, of_line, of_depth);
}

bool readable(DType dtype, bool real64) {
  return dtype == DType::kF32 || (real64 ? dtype == DType::kF64 : dtype == DType::kBF16 || dtype == DType::kF16);
}

}  // namespace

Result<kernel::Kernel> matmul(const task::Task& task) {
  HONE_TRY(const auto found, find_contraction(task));
  const Contraction& all = *found;
  if (has_taken_symbol(task)) return fail(ErrorCode::kUnavailable, "a symbol has a name of OpenCL C");
  // In the text below a long is an index, unless the task has such values.
  const auto& nodes = task.primitive.nodes;
  const auto is_long = [](const task::Node& node) { return node.type.dtype == DType::kI64; };
  const bool narrow = is_narrow(task) && std::none_of(nodes.begin(), nodes.end(), is_long);
  const Slots indices = narrow ? Slots{{"long", "int"}} : Slots{};
  const std::string parameters = parameters_of(task, narrow);
  HONE_TRY(const std::string finish, finish_text_opencl(all, parameters));
  const GpuFactor a(task, all, all.a, all.row), b(task, all, all.b, all.column);
  const bool real64 = all.accumulate == DType::kF64;
  if (!readable(a.dtype(), real64) || !readable(b.dtype(), real64)) return fail(ErrorCode::kUnavailable, "factors of these types");
  const std::string type = real64 ? "double" : "float", lanes = real64 ? "PASTE(double, WIDTH)" : "FLOATS";
  Slots renames;
  for (const auto& input : task.inputs) renames[input.name] = name_of(input.name);
  const auto cl = [](const task::IntExpr& e) { return spelled(e.to_cpp()); };
  std::vector<std::string> conditions = narrow ? narrow_requirements(task) : std::vector<std::string>{};
  for (const task::IntExpr& e : all.program.nest.conditions) conditions.push_back("\"" + e.to_string() + "\"");
  Slots slots;
  slots["note"] = "tiles in local memory: " + finish_outline(all);
  slots["requires"] = conditions.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(conditions, ", "));
  slots["vec"] = real64 ? "8, 4" : "16, 8, 4";
  slots["columns"] = all.column.extent.to_string();
  slots["rows"] = all.row.extent.to_string();
  slots["batch"] = all.batch.extent.to_string();
  slots["args"] = arguments_of(task, narrow);
  slots["index"] = narrow ? "int" : "long";
  slots["parameters"] = parameters;
  slots["names"] = names_of(task);
  slots["finish"] = renamed(finish, indices);
  slots["type"] = type;
  slots["lanes"] = lanes;
  slots["a_type"] = storage(a.dtype());
  slots["b_type"] = storage(b.dtype());
  slots["a"] = renamed(spelled(a.base()), renames);
  slots["b"] = renamed(spelled(b.base()), renames);
  slots["rows_cl"] = cl(all.row.extent);
  slots["columns_cl"] = cl(all.column.extent);
  slots["depth_cl"] = cl(all.depth.extent);
  // The left part lies as it does in memory, so that whole words go there.
  slots["left_at"] = a.along_depth() ? "(line) * DEPTH + (depth)" : "(depth) * ROWS + (line)";
  slots["fetch_a"] = renamed(fetch({a, "rows_at", "ROWS", "row_at", "LEFT", "a_at", true}, type, lanes), indices);
  slots["fetch_b"] = renamed(fetch({b, "columns_at", "COLUMNS", "column_at", "RIGHT", "b_at", !b.along_depth()}, type, lanes), indices);
  return finished(with_helpers(fill_pattern("patterns/opencl/matmul.cl", slots)), "matmul");
}

}  // namespace hone::pattern::opencl
