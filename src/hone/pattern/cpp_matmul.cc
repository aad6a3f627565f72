#include "hone/pattern/cpp_matmul.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

/// Text of one factor's pack function: pointers to where its rows (columns) begin, then its depth.
class Packer {
 public:
  Packer(const Contraction& all, const Factor& factor, const AxisGroup& lines, const char* count)
      : all_(all), factor_(factor), lines_(lines), count_(count) {}

  [[nodiscard]] std::string text(const task::Task& task, const std::string& vector, const std::string& scalar) const {
    const auto at = std::find(task.primitive.inputs.begin(), task.primitive.inputs.end(), factor_.input);
    const task::InputSpec& input = task.inputs[static_cast<size_t>(at - task.primitive.inputs.begin())];
    const std::string type = storage_type(input.type.dtype);
    std::string out = fmt::format("  const {}* from_at = {}{};\n", type, input.name, prefixed(offset(all_.batch, "batch_at")));
    // All letters of the depth but the last are loops; the last one is what the packing functions walk.
    const std::string& depth = all_.depth.letters;
    std::string indent = "  ", outer;
    for (size_t d = 0; d + 1 < depth.size(); ++d) {
      out += fmt::format("{0}for (int64_t k{1} = 0; k{1} < {2}; ++k{1}) {{\n", indent, d, extent(depth[d]).to_cpp());
      outer += prefixed(times(fmt::format("k{}", d), factor_.stride(depth[d])));
      indent += "  ";
    }
    const std::string length = parenthesised(extent(depth.back()));
    const std::string step = parenthesised(factor_.stride(depth.back()));
    const bool side_by_side = lines_.letters.size() == 1 && is_one(factor_.stride(lines_.letters[0]));
    if (side_by_side)
      out += fmt::format("{}hone::pack_lines<{}, {}>(to_at, from_at + first_at{}, count_at, {}, {});\n", indent, vector, count_, outer, length, step);
    else
      out += fmt::format("{0}hone::pack_rows<{1}, {2}>(to_at, count_at, {3}, {4}, [&](int64_t i) HONE_BODY {{\n{0}  [[maybe_unused]] const int64_t line = first_at + i;\n"
                         "{0}  return from_at{5}{6};\n{0}}});\n",
                         indent, scalar, count_, length, step, prefixed(offset(lines_, "line")), outer);
    if (depth.size() > 1) out += fmt::format("{}to_at += {} * {};\n", indent, length, count_);
    while (indent.size() > 2) {
      indent.resize(indent.size() - 2);
      out += indent + "}\n";
    }
    return out;
  }

 private:
  static bool is_zero(const IntExpr& e) { return e.is_constant() && e.constant() == 0; }
  static std::string parenthesised(const IntExpr& e) { return "(" + e.to_cpp() + ")"; }
  static std::string prefixed(const std::string& term) { return term.empty() ? "" : " + " + term; }
  static std::string times(const std::string& index, const IntExpr& stride) {
    if (is_zero(stride)) return {};
    return is_one(stride) ? index : fmt::format("{} * {}", index, parenthesised(stride));
  }
  [[nodiscard]] IntExpr extent(char letter) const { return all_.extents.at(letter); }

  /// Elements from the group's beginning to its linear index `index`; empty where that is nothing.
  [[nodiscard]] std::string offset(const AxisGroup& group, const std::string& index) const {
    std::string sum;
    std::string rest = index;
    for (size_t k = group.letters.size(); k-- > 0;) {
      const char c = group.letters[k];
      const std::string digit = k == 0 ? rest : fmt::format("({}) % {}", rest, parenthesised(extent(c)));
      const std::string term = times("(" + digit + ")", factor_.stride(c));
      if (!term.empty()) sum += (sum.empty() ? "" : " + ") + term;
      rest = fmt::format("({}) / {}", rest, parenthesised(extent(c)));
    }
    return sum;
  }

  const Contraction& all_;
  const Factor& factor_;
  const AxisGroup& lines_;
  const char* count_;
};

}  // namespace

Result<std::string> matmul_cpp(const task::Task& task, const Contraction& found) {
  const bool wide = found.accumulate == task::DType::kF64;
  CppWriter writer(found.program, wide ? Way::kVector64 : Way::kVector32, {}, {found.program.nest.graph->inputs.front()});
  if (!writer.vectorisable()) return fail(ErrorCode::kUnavailable, "the innermost axis is not contiguous in every tensor");
  const std::string vector = wide ? "f64v" : "f32v", scalar = wide ? "double" : "float";
  const bool batch_a = found.a.has(found.batch), batch_b = found.b.has(found.batch);
  Slots slots;
  slots["note"] = fmt::format("packed panels and register tiles; then {}", writer.outline());
  slots["requires"] = writer.requirements();
  slots["type"] = wide ? "f64" : "f32";
  slots["bytes"] = wide ? "8" : "4";
  slots["scalar"] = scalar;
  slots["vector"] = vector;
  slots["args"] = arguments_of(task);
  slots["parameters"] = parameters_of(task);
  slots["rows"] = found.row.extent.to_string();
  slots["columns"] = found.column.extent.to_string();
  slots["depth"] = found.depth.extent.to_string();
  slots["batch"] = found.batch.extent.to_string();
  slots["a_batch"] = batch_a ? slots["batch"] : "1";
  slots["b_batch"] = batch_b ? slots["batch"] : "1";
  const auto cpp = [](const IntExpr& e) { return "(" + e.to_cpp() + ")"; };
  slots["rows_cpp"] = cpp(found.row.extent);
  slots["columns_cpp"] = cpp(found.column.extent);
  slots["depth_cpp"] = cpp(found.depth.extent);
  slots["a_at"] = batch_a ? "batch_at * " : "0 * ";
  slots["b_at"] = batch_b ? "batch_at * " : "0 * ";
  slots["pack_a"] = Packer(found, found.a, found.row, "ROWS").text(task, vector, scalar);
  slots["pack_b"] = Packer(found, found.b, found.column, "COLUMNS").text(task, vector, scalar);
  slots["epilogue"] = writer.row_prologue("row_at", "    ") + writer.pass_text(0, "    ", Span::kSlice);
  slots["fence"] = "  if constexpr (STREAM) hone::stream_fence();\n";
  return fill_pattern("patterns/cpp/matmul.cc", slots);
}

}  // namespace hone::pattern
