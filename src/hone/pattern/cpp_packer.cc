#include "hone/pattern/cpp_packer.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/expression.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;

std::string in_brackets(const IntExpr& e) { return "(" + e.to_cpp() + ")"; }
std::string added(const std::string& term) { return term.empty() ? "" : " + " + term; }

const task::InputSpec& factor_input(const task::Task& task, const Factor& factor) {
  const auto& inputs = task.primitive.inputs;
  return task.inputs[static_cast<size_t>(std::find(inputs.begin(), inputs.end(), factor.input) - inputs.begin())];
}

}  // namespace

CppProducts products_for(const Contraction& all) {
  if (all.accumulate == DType::kI32) return {"hone::I8Products", "i32v", "int32_t", "int8_t", DType::kI8, 4, 4};
  if (all.accumulate == DType::kF64) return {"hone::PlainProducts<f64v>", "f64v", "double", "double", DType::kF64, 8, 1};
  return {"hone::PlainProducts<f32v>", "f32v", "float", "float", DType::kF32, 4, 1};
}

CppPacker::CppPacker(const task::Task& task, const Contraction& all, const CppProducts& products, bool left)
    : all_(all), factor_(left ? all.a : all.b), lines_(left ? all.row : all.column), products_(products), left_(left),
      tensor_(factor_input(task, factor_).name), type_(storage_type(factor_input(task, factor_).type.dtype)) {}

bool CppPacker::side_by_side() const { return lines_.letters.size() == 1 && is_one(factor_.stride(lines_.letters[0])); }

std::string CppPacker::text(const std::string& outside) const {
  std::string indent = outside, outer;
  std::string out = fmt::format("{}const {}* from_at = {}{}{};\n", indent, type_, tensor_, is_zero(factor_.begin) ? "" : " + " + in_brackets(factor_.begin),
                                added(offset(all_.batch, "batch_at")));
  // All letters of the depth but the last are loops; the last one is what the packing functions walk.
  const std::string& depth = all_.depth.letters;
  for (size_t d = 0; d + 1 < depth.size(); ++d) {
    out += fmt::format("{0}for (int64_t k{1} = 0; k{1} < {2}; ++k{1}) {{\n", indent, d, extent(depth[d]).to_cpp());
    outer += added(times(fmt::format("k{}", d), factor_.stride(depth[d])));
    indent += "  ";
  }
  const char* count = left_ ? "ROWS" : "COLUMNS";
  const IntExpr& stride = factor_.stride(depth.back());
  const std::string step = in_brackets(stride), length = in_segments() ? "many_at" : in_brackets(extent(depth.back()));
  if (in_segments()) outer = added(times("low_at", stride));
  const std::string panel = fmt::format("{}, {}, {}", products_.type, count, left_);
  if (side_by_side()) {
    out += fmt::format("{}hone::pack_lines<{}>(to_at, from_at + first_at{}, count_at, {}, {});\n", indent, panel, outer, length, step);
  } else {
    const bool along = is_one(stride);
    out += fmt::format("{0}hone::{1}<{2}>(to_at, count_at, {3}, {4}[&](int64_t i) HONE_BODY {{\n"
                       "{0}  [[maybe_unused]] const int64_t line = first_at + i;\n{0}  return from_at{5}{6};\n{0}}});\n",
                       indent, along ? "pack_along" : "pack_rows", panel, length, along ? "" : step + ", ", added(offset(lines_, "line")), outer);
  }
  if (depth.size() > 1) out += fmt::format("{}to_at += {} * {};\n", indent, length, count);
  while (indent.size() > outside.size()) {
    indent.resize(indent.size() - 2);
    out += indent + "}\n";
  }
  return out;
}

std::string CppPacker::times(const std::string& index, const IntExpr& stride) const {
  if (is_zero(stride)) return {};
  return is_one(stride) ? index : fmt::format("{} * {}", index, in_brackets(stride));
}

/// Elements from the group's beginning to its linear index `index`; empty where that is nothing.
std::string CppPacker::offset(const AxisGroup& group, const std::string& index) const {
  std::string sum;
  std::string rest = index;
  for (size_t k = group.letters.size(); k-- > 0;) {
    const char c = group.letters[k];
    const std::string digit = k == 0 ? rest : fmt::format("({}) % {}", rest, in_brackets(extent(c)));
    const std::string term = times("(" + digit + ")", factor_.stride(c));
    if (!term.empty()) sum += (sum.empty() ? "" : " + ") + term;
    rest = fmt::format("({}) / {}", rest, in_brackets(extent(c)));
  }
  return sum;
}

}  // namespace hone::pattern
