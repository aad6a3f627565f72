#include "hone/pattern/gpu_factor.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/expression.h"

namespace hone::pattern {
namespace {

using task::IntExpr;

std::string strided(const std::string& index, const IntExpr& stride) {
  if (is_zero(stride)) return {};
  return is_one(stride) ? index : fmt::format("{} * {}", index, wrapped(stride.to_cpp()));
}

}  // namespace

std::string wrapped(std::string text) { return text.find_first_of(" ?") == std::string::npos ? text : "(" + std::move(text) + ")"; }

GpuFactor::GpuFactor(const task::Task& task, const Contraction& all, const Factor& factor, const AxisGroup& lines)
    : all_(all), factor_(factor), lines_(lines), dtype_(task::DType::kF32), along_depth_(false) {
  if (factor.input < 0) return;
  const auto& inputs = task.primitive.inputs;
  const auto at = std::find(inputs.begin(), inputs.end(), factor.input);
  const task::InputSpec& input = task.inputs[static_cast<size_t>(at - inputs.begin())];
  tensor_ = input.name;
  dtype_ = input.type.dtype;
  along_depth_ = beside(all.depth);
}

/// Whether the group's axes are one in memory.
bool GpuFactor::linear(const AxisGroup& group, StrideOf stride) const {
  for (size_t k = 0; k + 1 < group.letters.size(); ++k) {
    const char inner = group.letters[k + 1];
    if (!((factor_.*stride)(group.letters[k]) == (factor_.*stride)(inner) * all_.extents.at(inner))) return false;
  }
  return true;
}

/// Elements from the group's beginning to its linear index `index`.
std::string GpuFactor::offset(const AxisGroup& group, const std::string& index, StrideOf stride) const {
  if (group.letters.empty()) return "0";
  if (linear(group, stride)) {
    const std::string all = strided(index, (factor_.*stride)(group.letters.back()));
    return all.empty() ? "0" : all;
  }
  std::string sum, rest = index;
  for (size_t k = group.letters.size(); k-- > 0;) {
    const char c = group.letters[k];
    const std::string extent = wrapped(all_.extents.at(c).to_cpp());
    const std::string term = strided(k == 0 ? rest : fmt::format("({} % {})", rest, extent), (factor_.*stride)(c));
    if (!term.empty()) sum += (sum.empty() ? "" : " + ") + term;
    rest = fmt::format("({} / {})", rest, extent);
  }
  return sum.empty() ? "0" : sum;
}

std::string GpuFactor::pick_place() const {
  const std::string batch = offset(all_.batch, "batch_at", &Factor::pick_stride), line = offset(all_.row, "line_at", &Factor::pick_stride);
  return batch == "0" ? line : batch + " + " + line;
}

std::string GpuFactor::base() const {
  const std::string batch = offset(all_.batch, "batch_at");
  const std::string begin = is_zero(factor_.begin) ? tensor_ : tensor_ + " + " + wrapped(factor_.begin.to_cpp());
  return batch == "0" ? begin : begin + " + " + batch;
}

std::optional<std::vector<IntExpr>> GpuFactor::strides_of_wide() const {
  const AxisGroup& along = along_depth_ ? all_.depth : lines_;
  if (!beside(along)) return std::nullopt;
  std::vector<IntExpr> multiples = {linear(along) ? along.extent : all_.extents.at(along.letters.back())};
  for (const char c : factor_.letters)
    if (c != along.letters.back() && !(linear(along) && along.letters.find(c) != std::string::npos)) multiples.push_back(factor_.stride(c));
  multiples.push_back(factor_.begin);
  if (factor_.pick) multiples.push_back(factor_.pick->stride);
  return multiples;
}

bool GpuFactor::wide_at(const task::Bindings& symbols) const {
  const auto multiples = strides_of_wide();
  return multiples && std::all_of(multiples->begin(), multiples->end(), [&](const IntExpr& e) { return e.eval(symbols).value_or(1) % vector() == 0; });
}

std::optional<std::vector<std::string>> GpuFactor::wide() const {
  const auto multiples = strides_of_wide();
  if (!multiples) return std::nullopt;
  std::vector<std::string> conditions;
  for (const IntExpr& e : *multiples) {
    if (e.is_constant()) {
      if (e.constant() % vector() != 0) return std::nullopt;
      continue;
    }
    const std::string condition = fmt::format("{} % {} == 0", wrapped(e.to_string()), vector());
    if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end()) conditions.push_back(condition);
  }
  return conditions;
}

ProductTriangles triangles_of(const task::Task& task, const Contraction& contraction) {
  // Shapes that have nothing in common, so that what holds for them holds for all.
  constexpr int64_t kPrimes[] = {101, 103, 107, 109, 113, 127, 131, 137, 139, 149};
  const std::vector<std::string> symbols = task.symbols();
  if (symbols.size() > std::size(kPrimes)) return {};
  task::Bindings bindings;
  for (size_t i = 0; i < symbols.size(); ++i) bindings[symbols[i]] = kPrimes[i];
  const auto concrete = task::instantiate(task.primitive, bindings);
  if (!concrete) return {};
  const auto found = task::find_triangles(*concrete);
  const auto& nodes = task.primitive.nodes;
  const auto dot = std::find_if(nodes.begin(), nodes.end(), [](const task::Node& n) { return n.prim == task::Prim::kDot; });
  const std::string& spec = dot->attr<std::string>("spec");
  const size_t comma = spec.find(','), arrow = spec.find("->");
  const std::string sides[] = {spec.substr(0, comma), spec.substr(comma + 1, arrow - comma - 1)}, result = spec.substr(arrow + 2);
  const auto& [row, column, depth] = std::tie(contraction.row.letters, contraction.column.letters, contraction.depth.letters);
  /// The last two axes of a node as (first, second).
  using Letters = const std::string&;
  const auto as = [&](int node, Letters letters, Letters first, Letters second) -> std::optional<task::Triangle> {
    const auto& triangle = found[static_cast<size_t>(node)];
    if (!triangle || letters.size() < 2 || first.size() != 1 || second.size() != 1) return std::nullopt;
    const std::string last = letters.substr(letters.size() - 2);
    if (last == first + second) return triangle;
    if (last == second + first) return triangle->transposed();
    return std::nullopt;
  };
  const size_t a = sides[0] == contraction.a.letters ? 0 : 1, b = 1 - a;
  if (sides[a] != contraction.a.letters || sides[b] != contraction.b.letters) return {};   // axes in pieces
  return {as(dot->operands[a], sides[a], row, depth), as(dot->operands[b], sides[b], column, depth),
          as(static_cast<int>(dot - nodes.begin()), result, row, column)};
}

}  // namespace hone::pattern
