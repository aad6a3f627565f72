#include "hone/pattern/gpu_finish.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/gpu_factor.h"

namespace hone::pattern {
namespace {

using task::IntExpr;
using task::Node;
using task::Prim;

class Finish {
 public:
  /// `places`: names that hold the positions along the loops' axes; empty: line_at and column_at hold them.
  explicit Finish(const Contraction& all, std::vector<std::string> places = {})
      : all_(all), program_(all.program), nest_(all.program.nest), places_(std::move(places)) {}

  /// `NAME(parameters, int64_t line_at, int64_t column_at, float product_at)` that returns the one output instead of storing it.
  Result<std::string> value_text(const std::string& name, const std::string& parameters) {
    HONE_TRY(const std::string result, value(nest_.graph->outputs.front()));
    return fmt::format("__device__ inline float {}({}, int64_t line_at, int64_t column_at, float product_at) {{\n{}{}  return {};\n}}\n", name, parameters,
                       positions(), lines_, result);
  }

  /// `where`: the parameters that say where the element is; `line`: a statement that makes line_at of them.
  Result<std::string> text(const std::string& parameters, const std::string& where, const std::string& line) {
    const task::Graph& graph = *nest_.graph;
    std::string stores;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const int id = graph.outputs[i];
      HONE_TRY(const std::string result, value(id));
      const task::DType dtype = program_.node(id).type.dtype;
      const std::string at = fmt::format("line_at * {} + column_at", columns());
      const std::string& tensor = graph.output_names[i];
      stores += fmt::format("  {}[{}] = hone::gpu::stored<{}>({});\n", tensor, at, storage_type(dtype), result);
    }
    std::string all = fmt::format("/// The rest of the computation for the product's element at `column_at` of line `line_at`.\n"
                                  "__device__ inline void finish({}, {}, {} product_at) {{\n{}",
                                  parameters, where,
                                  value_type(program_.node(nest_.graph->inputs.front()).type.dtype, Way::kThread), line);
    return all + positions() + lines_ + stores + "}\n";
  }

 private:
  [[nodiscard]] std::string columns() const { return wrapped(all_.column.extent.to_cpp()); }

  /// The loops' axes, outermost first.
  [[nodiscard]] std::vector<int> axes() const {
    std::vector<int> all = program_.row_axes;
    all.insert(all.end(), program_.inner_axes.begin(), program_.inner_axes.end());
    return all;
  }

  std::string position(int axis) {
    if (!places_.empty()) {
      const std::vector<int> order = axes();
      return places_[static_cast<size_t>(std::find(order.begin(), order.end(), axis) - order.begin())];
    }
    used_.insert(axis);
    return fmt::format("at{}", axis);
  }

  /// Where an element is along the axes that were asked for. The innermost axis is the column's, unless there is but one.
  [[nodiscard]] std::string positions() const {
    std::string text, rest = "line_at";
    std::vector<int> order = axes();
    if (!is_one(all_.column.extent)) {
      if (used_.contains(order.back())) text += fmt::format("  const int64_t at{} = column_at;\n", order.back());
      order.pop_back();
    }
    for (size_t k = order.size(); k-- > 0;) {
      const std::string extent = wrapped(program_.extent(order[k]).to_cpp());
      if (used_.contains(order[k]))
        text += k == 0 ? fmt::format("  const int64_t at{} = {};\n", order[k], rest)
                       : fmt::format("  const int64_t at{} = {} % {};\n", order[k], rest, extent);
      rest = fmt::format("{} / {}", rest, extent);
    }
    return text;
  }

  [[nodiscard]] bool is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || nest_.access.contains(id); }

  Result<std::string> leaf(int id) {
    const auto access = nest_.access.find(id);
    std::string tensor = program_.tensor_of_input(access == nest_.access.end() ? id : access->second.input), at;
    if (access != nest_.access.end()) {
      if (access->second.index >= 0) return fail(ErrorCode::kUnavailable, "an element is picked by an index behind the product");
      at = access->second.base.to_cpp();
    }
    for (const int axis : axes()) {
      if (!nest_.has(id, axis)) continue;
      const IntExpr stride = nest_.stride(id, axis);
      at += (at.empty() ? "" : " + ") + position(axis) + (is_one(stride) ? "" : " * " + wrapped(stride.to_cpp()));
    }
    return fmt::format("hone::gpu::value({}[{}])", tensor, at.empty() ? "0" : at);
  }

  Result<std::string> value(int id) {
    if (const auto it = names_.find(id); it != names_.end()) return it->second;
    const Node& node = program_.node(id);
    std::string text;
    if (id == nest_.graph->inputs.front()) return names_[id] = "product_at";
    if (node.prim == Prim::kConstant) return names_[id] = constant_text(node, Way::kThread);
    if (node.prim == Prim::kBroadcast || node.prim == Prim::kReshape || node.prim == Prim::kTranspose) {
      HONE_TRY(text, value(node.operands[0]));
      return names_[id] = text;
    }
    if (is_leaf(id)) {
      HONE_TRY(text, leaf(id));
    } else if (node.prim == Prim::kSymbol) {
      text = node.attr<IntExpr>("value").to_cpp();
    } else if (node.prim == Prim::kIota) {
      const auto axis = nest_.axis_of_dim(id, node.attr<int64_t>("axis"));
      text = axis ? position(*axis) : "0";
    } else if (task::is_elementwise(node.prim)) {
      std::vector<std::string> operands;
      std::vector<task::DType> types;
      for (const int operand : node.operands) {
        HONE_TRY(const std::string of, value(operand));
        operands.push_back(of);
        types.push_back(program_.node(operand).type.dtype);
      }
      text = operation_text(node, operands, types, Way::kThread);
    } else {
      return fail(ErrorCode::kUnavailable, fmt::format("{} behind the product", task::name_of(node.prim)));
    }
    const std::string name = fmt::format("v{}", id);
    lines_ += fmt::format("  const {} {} = {};\n", value_type(node.type.dtype, Way::kThread), name, text);
    return names_[id] = name;
  }

  const Contraction& all_;
  const Program& program_;
  const Nest& nest_;
  std::vector<std::string> places_;
  std::map<int, std::string> names_;
  std::set<int> used_;
  std::string lines_;
};

}  // namespace

Result<std::string> finish_text(const Contraction& contraction, const std::string& parameters) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  return Finish(contraction).text(parameters, "int64_t line_at, int64_t column_at", "");
}

Result<std::string> value_text(const Contraction& contraction, const std::string& name, const std::string& parameters) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  return Finish(contraction).value_text(name, parameters);
}

Result<std::string> finish_text_of_images(const Contraction& contraction, const std::string& parameters) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  const Program& program = contraction.program;
  const task::Dims& dims = program.node(program.nest.graph->inputs.front()).type.dims;
  std::vector<std::string> places;
  if (!is_one(dims[0])) places.emplace_back("image_at");
  if (!is_one(dims[1])) places.emplace_back("channel_at");
  if (!is_one(contraction.column.extent)) places.emplace_back("column_at");
  if (places.size() != program.row_axes.size() + program.inner_axes.size())
    return fail(ErrorCode::kUnavailable, "the rest of the computation runs over other axes");
  return Finish(contraction, places)
      .text(parameters, "int64_t image_at, int64_t channel_at, int64_t column_at",
            fmt::format("  const int64_t line_at = image_at * {} + channel_at;\n", wrapped(dims[1].to_cpp())));
}

std::string finish_outline(const Contraction& contraction) {
  std::string text;
  for (const Node& node : contraction.program.nest.graph->nodes)
    if (task::is_elementwise(node.prim) && node.prim != Prim::kCast) text += fmt::format("{}, ", task::name_of(node.prim));
  text += "write ";
  const auto& names = contraction.program.nest.graph->output_names;
  for (size_t i = 0; i < names.size(); ++i) text += (i ? ", " : "") + names[i];
  return text;
}

}  // namespace hone::pattern
