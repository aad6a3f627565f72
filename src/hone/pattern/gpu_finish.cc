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

constexpr char kWhere[] = "int64_t line_at, int64_t column_at";

class Finish {
 public:
  /// `places`: names that hold the positions along the loops' axes; empty: line_at and column_at hold them.
  explicit Finish(const Contraction& all, std::vector<std::string> places = {})
      : all_(all), program_(all.program), nest_(all.program.nest), places_(std::move(places)) {}

  /// Of the one output; see value_text() of the header.
  Result<std::string> value_text(const std::string& name, const std::string& parameters) {
    const int root = nest_.graph->outputs.front();
    HONE_TRY(const std::string result, value(root));
    if (lines_of_row_.contains(result)) facts_.insert(result);
    for (const int axis : element_axes_) facts_.insert(fmt::format("at{}", axis));
    if (needs_line_) facts_.insert("line_at");
    std::string members, given, all;
    for (const std::string& fact : facts_) {
      const auto made = lines_of_row_.find(fact);
      const std::string type = made == lines_of_row_.end() ? "int64_t" : made->second;
      members += fmt::format("  {} {};\n", type, fact);
      given += fmt::format("  const {} {} = row_of.{};\n", type, fact, fact);
    }
    all = fmt::format("struct {0}_row {{\n{1}}};\n__device__ inline {0}_row {0}_row_of({2}, int64_t line_at) {{\n{3}{4}  return {{{5}}};\n}}\n", name, members, parameters,
                      row_positions(), row_lines_, fmt::join(facts_, ", "));
    return all + fmt::format("__device__ inline float {0}_of({1}, const {0}_row& row_of, int64_t column_at, float product_at) {{\n{2}{3}{4}  return {5};\n}}\n", name,
                             parameters, given, column_position(), lines_, result);
  }

  /// See words_text() of the header, and text().
  Result<std::string> words_text(const std::string& parameters, const std::string& where, const std::string& line) {
    in_words_ = true;
    const task::Graph& graph = *nest_.graph;
    std::string rooms, keep, stores;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      HONE_TRY(const std::string result, value(graph.outputs[i]));
      const std::string type = storage_type(program_.node(graph.outputs[i]).type.dtype);
      rooms += fmt::format("  hone::gpu::Words<{}, Many> out{}_at;\n", type, i);
      keep += fmt::format("    out{}_at[e_at] = hone::gpu::stored<{}>({});\n", i, type, result);
      stores += fmt::format("  out{}_at.store({} + (line_at * {} + column_at));\n", i, graph.output_names[i], columns());
    }
    const auto column = column_axis();
    const std::string place = column && used_.contains(*column) ? fmt::format("    const int64_t at{} = column_at + e_at;\n", *column) : "";
    return fmt::format("/// The same for Many elements beside each other, in words where they stand on boundaries of words.\n"
                       "template <int Many>\n"
                       "__device__ inline void finish_words({}, {}, const {} (&products_at)[Many]{}) {{\n{}{}{}{}{}"
                       "  HONE_UNROLL\n  for (int e_at = 0; e_at < Many; ++e_at) {{\n    const auto product_at = products_at[e_at];\n{}{}{}{}  }}\n{}}}\n",
                       parameters, where, value_type(program_.node(graph.inputs.front()).type.dtype, Way::kThread), all_.second ? ", const float (&seconds_at)[Many]" : "", line, row_positions(), row_lines_, words_, rooms,
                       all_.second ? "    const float second_at = seconds_at[e_at];\n" : "", place, indented(lines_), keep, stores);
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
                                  "__device__ inline void finish({}, {}, {} product_at{}) {{\n{}",
                                  parameters, where, value_type(program_.node(nest_.graph->inputs.front()).type.dtype, Way::kThread),
                                  all_.second ? ", float second_at" : "", line);
    return all + column_position() + row_positions() + row_lines_ + lines_ + stores + "}\n";
  }

 private:
  static std::string indented(const std::string& lines) {
    std::string out;
    for (size_t at = 0; at < lines.size();) {
      const size_t end = lines.find('\n', at) + 1;
      out += "  " + lines.substr(at, end - at);
      at = end;
    }
    return out;
  }

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

  /// The innermost axis is the column's, unless there is but one.
  [[nodiscard]] std::optional<int> column_axis() const {
    const std::vector<int> order = axes();
    return is_one(all_.column.extent) || order.empty() ? std::nullopt : std::optional(order.back());
  }

  [[nodiscard]] std::string column_position() const {
    const auto axis = column_axis();
    return axis && used_.contains(*axis) ? fmt::format("  const int64_t at{} = column_at;\n", *axis) : "";
  }

  /// Where a line is along the axes that were asked for.
  [[nodiscard]] std::string row_positions() const {
    std::string text, rest = "line_at";
    std::vector<int> order = axes();
    if (column_axis()) order.pop_back();
    for (size_t k = order.size(); k-- > 0;) {
      const std::string extent = wrapped(program_.extent(order[k]).to_cpp());
      if (used_.contains(order[k]))
        text += k == 0 ? fmt::format("  const int64_t at{} = {};\n", order[k], rest)
                       : fmt::format("  const int64_t at{} = {} % {};\n", order[k], rest, extent);
      rest = fmt::format("{} / {}", rest, extent);
    }
    return text;
  }

  /// The other product of a pair.
  [[nodiscard]] bool is_second(int id) const { return all_.second && id == nest_.graph->inputs[1]; }

  /// Whether a node has another value for each element of a line.
  bool varies(int id) {
    if (const auto known = varies_.find(id); known != varies_.end()) return known->second;
    const Node& node = program_.node(id);
    const auto column = column_axis();
    bool of_element = id == nest_.graph->inputs.front() || is_second(id);
    const bool all = !places_.empty() && !in_words_;
    if (is_leaf(id)) of_element |= all || (column && nest_.has(id, *column));
    else if (node.prim == Prim::kIota) of_element |= all || (column && nest_.axis_of_dim(id, node.attr<int64_t>("axis")) == column);
    else
      for (const int operand : node.operands) of_element |= varies(operand);
    return varies_[id] = of_element;
  }

  [[nodiscard]] bool is_leaf(int id) const { return program_.node(id).prim == Prim::kInput || nest_.access.contains(id); }

  /// What a line further is in a tensor whose lines lie one after another as the output's do: no division finds where it is.
  [[nodiscard]] std::optional<IntExpr> line_stride(int id) const {
    std::vector<int> order = axes();
    if (column_axis()) order.pop_back();
    if (!places_.empty() || order.size() < 2) return std::nullopt;
    for (size_t k = 0; k < order.size(); ++k) {
      if (!nest_.has(id, order[k])) return std::nullopt;
      if (k + 1 < order.size() && !(nest_.stride(id, order[k]) == nest_.stride(id, order[k + 1]) * program_.extent(order[k + 1]))) return std::nullopt;
    }
    return nest_.stride(id, order.back());
  }

  Result<std::string> leaf(int id) {
    const auto access = nest_.access.find(id);
    std::string tensor = program_.tensor_of_input(access == nest_.access.end() ? id : access->second.input), at;
    if (access != nest_.access.end()) {
      if (access->second.index >= 0) return fail(ErrorCode::kUnavailable, "an element is picked by an index behind the product");
      at = access->second.base.to_cpp();
    }
    bool beside = false;
    const auto by_line = line_stride(id);
    if (by_line) at += fmt::format("{}line_at * {}", at.empty() ? "" : " + ", wrapped(by_line->to_cpp()));
    for (const int axis : axes()) {
      if (!nest_.has(id, axis) || (by_line && axis != column_axis())) continue;
      const IntExpr stride = nest_.stride(id, axis);
      if (in_words_ && axis == column_axis() && is_one(stride)) {
        at += at.empty() ? "column_at" : " + column_at";
        beside = true;
        continue;
      }
      at += (at.empty() ? "" : " + ") + position(axis) + (is_one(stride) ? "" : " * " + wrapped(stride.to_cpp()));
    }
    if (beside) {
      words_ += fmt::format("  const auto w{0} = hone::gpu::Words<{1}, Many>::load({2} + ({3}));\n", id, storage_type(program_.node(id).type.dtype), tensor, at);
      return fmt::format("hone::gpu::value(w{}[e_at])", id);
    }
    return fmt::format("hone::gpu::value({}[{}])", tensor, at.empty() ? "0" : at);
  }

  Result<std::string> value(int id) {
    if (const auto it = names_.find(id); it != names_.end()) return it->second;
    const Node& node = program_.node(id);
    std::string text;
    if (id == nest_.graph->inputs.front()) return names_[id] = "product_at";
    if (is_second(id)) return names_[id] = "second_at";
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
      text = thread_text(*nest_.graph, node, operands, types);
    } else {
      return fail(ErrorCode::kUnavailable, fmt::format("{} behind the product", task::name_of(node.prim)));
    }
    const std::string name = fmt::format("v{}", id), type = value_type(node.type.dtype, Way::kThread);
    (varies(id) ? lines_ : row_lines_) += fmt::format("  const {} {} = {};\n", type, name, text);
    if (!varies(id)) lines_of_row_[name] = type;
    else note_facts(id);
    return names_[id] = name;
  }

  /// What an element's node takes from its line.
  void note_facts(int id) {
    const auto column = column_axis();
    if (is_leaf(id)) {
      if (line_stride(id)) needs_line_ = true;
      for (const int axis : axes())
        if (nest_.has(id, axis) && axis != column && !line_stride(id)) element_axes_.insert(axis);
      return;
    }
    for (const int operand : program_.node(id).operands)
      if (const auto name = names_.find(operand); name != names_.end() && lines_of_row_.contains(name->second)) facts_.insert(name->second);
  }

  const Contraction& all_;
  const Program& program_;
  const Nest& nest_;
  std::vector<std::string> places_;
  std::map<int, std::string> names_;
  std::map<int, bool> varies_;
  std::set<int> used_, element_axes_;
  std::map<std::string, std::string> lines_of_row_;   ///< names and types of what a line has once
  std::set<std::string> facts_;                       ///< those that an element takes
  std::string row_lines_, lines_;
  bool needs_line_ = false;
  bool in_words_ = false;
  std::string words_;                                 ///< what is loaded before the elements are gone through
};

}  // namespace

Result<std::string> finish_text(const Contraction& contraction, const std::string& parameters) {
  if (contraction.accumulate == task::DType::kF64) return fail(ErrorCode::kUnavailable, "a product summed in f64");
  return Finish(contraction).text(parameters, kWhere, "");
}

Result<std::string> words_text(const Contraction& contraction, const std::string& parameters) {
  if (contraction.accumulate == task::DType::kF64) return fail(ErrorCode::kUnavailable, "a product summed in f64");
  return Finish(contraction).words_text(parameters, kWhere, "");
}

Result<std::string> value_text(const Contraction& contraction, const std::string& name, const std::string& parameters) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  return Finish(contraction).value_text(name, parameters);
}

namespace {
/// The positions' names in [images, channels, space…], and the statement that makes a line of the first two.
struct Images {
  std::vector<std::string> places;
  std::string line;
};
constexpr char kWhereInImages[] = "int64_t image_at, int64_t channel_at, int64_t column_at";
Result<Images> images_of(const Contraction& contraction, const char* column) {
  if (contraction.accumulate != task::DType::kF32) return fail(ErrorCode::kUnavailable, "a product summed in another type than f32");
  const Program& program = contraction.program;
  const task::Dims& dims = program.node(program.nest.graph->inputs.front()).type.dims;
  Images images;
  const std::pair<const char*, IntExpr> axes[] = {{"image_at", dims[0]}, {"channel_at", dims[1]}, {column, contraction.column.extent}};
  for (const auto& [name, extent] : axes)
    if (!is_one(extent)) images.places.emplace_back(name);
  if (images.places.size() != program.row_axes.size() + program.inner_axes.size())
    return fail(ErrorCode::kUnavailable, "the rest of the computation runs over other axes");
  images.line = fmt::format("  const int64_t line_at = image_at * {} + channel_at;\n", wrapped(dims[1].to_cpp()));
  return images;
}
}  // namespace

Result<std::string> finish_text_of_images(const Contraction& contraction, const std::string& parameters) {
  HONE_TRY(const Images images, images_of(contraction, "column_at"));
  return Finish(contraction, images.places).text(parameters, kWhereInImages, images.line);
}

Result<std::string> words_text_of_images(const Contraction& contraction, const std::string& parameters) {
  HONE_TRY(const Images images, images_of(contraction, "(column_at + e_at)"));
  return Finish(contraction, images.places).words_text(parameters, kWhereInImages, images.line);
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
