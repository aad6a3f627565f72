#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/library.h"
#include "hone/pattern/names.h"
#include "hone/pattern/plain.h"
#include "hone/pattern/program.h"
#include "hone/pattern/template.h"

namespace hone::pattern {
namespace {

using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

/// Values are float where the graph says f32 or less, so that the compiler sees what a person would
/// write; sums run in double.
std::string plain_type(DType dtype) {
  switch (dtype) {
    case DType::kF64: return "double";
    case DType::kBool: return "bool";
    default: return task::is_float(dtype) ? "float" : "int64_t";
  }
}

std::string in_parentheses(const IntExpr& e) { return "(" + e.to_cpp() + ")"; }

class PlainWriter {
 public:
  explicit PlainWriter(const Program& program) : program_(program) {}

  std::string body() {
    std::string text = axes_of_row();
    for (size_t p = 0; p < program_.passes.size(); ++p) text += pass(p);
    for (const int id : program_.row_outputs) {
      const std::string v = value(id, "  ");
      text += take_lines() + fmt::format("  {}[{}] = {};\n", output(id), index(id), stored(id, v));
    }
    return text;
  }

 private:
  std::string axes_of_row() const {
    std::string text, rest = "row";
    for (size_t k = program_.row_axes.size(); k-- > 0;) {
      const int axis = program_.row_axes[k];
      const std::string extent = in_parentheses(program_.extent(axis));
      text += fmt::format("  [[maybe_unused]] const int64_t at{} = {}{};\n", axis, rest, k ? " % " + extent : "");
      rest += " / " + extent;
    }
    return text;
  }

  std::string index(int id) const {
    std::vector<std::string> terms;
    for (const int axis : program_.nest.of_node[static_cast<size_t>(id)])
      terms.push_back(fmt::format("at{} * {}", axis, in_parentheses(program_.nest.stride(id, axis))));
    return terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + "));
  }

  std::string output(int id) const {
    const auto& graph = *program_.nest.graph;
    for (size_t i = 0; i < graph.outputs.size(); ++i)
      if (graph.outputs[i] == id) return graph.output_names[i];
    return {};
  }

  std::string stored(int id, const std::string& v) const {
    const DType dtype = program_.node(id).type.dtype;
    return fmt::format("{}({})", storage_type(dtype), task::is_float(dtype) && dtype != DType::kF64 ? "(float)" + v : v);
  }

  std::string take_lines() {
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    lines_.clear();
    return text;
  }

  /// Name of a value at the current loop indices.
  std::string value(int id, const std::string& indent) {
    if (const auto it = names_.find(id); it != names_.end()) return it->second;
    const Node& node = program_.node(id);
    if (node.prim == Prim::kBroadcast || node.prim == Prim::kReshape || node.prim == Prim::kTranspose)
      return names_[id] = value(node.operands[0], indent);
    const std::string type = plain_type(node.type.dtype);
    std::string text;
    if (node.prim == Prim::kConstant) {
      return names_[id] = fmt::format("{}({})", type, constant_text(node, Way::kScalar));
    } else if (node.prim == Prim::kSymbol) {
      text = fmt::format("{}{}", type, in_parentheses(node.attr<IntExpr>("value")));
    } else if (node.prim == Prim::kIota) {
      const auto axis = program_.nest.axis_of_dim(id, node.attr<int64_t>("axis"));
      text = axis ? fmt::format("at{}", *axis) : "0";
    } else if (node.prim == Prim::kInput) {
      text = fmt::format("{}({}[{}])", type, program_.tensor_of_input(id), index(id));
    } else {
      std::vector<std::string> operands;
      std::vector<DType> types;
      for (const int operand : node.operands) {
        operands.push_back(value(operand, indent));
        types.push_back(program_.node(operand).type.dtype);
      }
      text = fmt::format("{}({})", type, operation_text(node, operands, types, Way::kScalar));
    }
    const std::string name = fmt::format("v{}", id);
    lines_.push_back(fmt::format("{}const {} {} = {};", indent, type, name, text));
    return names_[id] = name;
  }

  std::string pass(size_t number) {
    const Pass& pass = program_.passes[number];
    std::string text;
    // Row values first, outside the loops.
    for (const int id : pass.reductions) prepare_row_values(program_.node(id).operands[0]);
    for (const int id : pass.stores) prepare_row_values(id);
    text += take_lines();
    const auto outside = names_;
    for (const int id : pass.reductions) {
      text += fmt::format("  {} r{} = {};\n", running(id), id, initial(id));
      if (is_arg(id)) text += fmt::format("  int64_t i{} = 0;\n", id);
    }
    std::string indent = "  ";
    for (const int axis : program_.inner_axes) {
      text += fmt::format("{0}for (int64_t at{1} = 0; at{1} < {2}; ++at{1}) {{\n", indent, axis, program_.extent(axis).to_cpp());
      indent += "  ";
    }
    std::vector<std::string> last;
    for (const int id : pass.reductions) last.push_back(step(id, value(program_.node(id).operands[0], indent)));
    for (const int id : pass.stores) last.push_back(fmt::format("{}[{}] = {};", output(id), index(id), stored(id, value(id, indent))));
    text += take_lines();
    for (const std::string& line : last) text += indent + line + "\n";
    for (size_t k = program_.inner_axes.size(); k-- > 0;) text += std::string(2 * (k + 1), ' ') + "}\n";
    names_ = outside;
    for (const int id : pass.reductions) {
      text += fmt::format("  const {0} v{1} = {0}({2}{1});\n", plain_type(program_.node(id).type.dtype), id, is_arg(id) ? "i" : "r");
      names_[id] = fmt::format("v{}", id);
    }
    return text;
  }

  /// Puts row values that `id` depends on into lines_, so that they stand before the loops.
  void prepare_row_values(int id) {
    if (program_.is_row_value(id)) {
      (void)value(id, "  ");
      return;
    }
    for (const int operand : program_.node(id).operands) prepare_row_values(operand);
  }

  bool is_arg(int id) const {
    return program_.node(id).prim == Prim::kArgMax || program_.node(id).prim == Prim::kArgMin;
  }
  std::string running(int id) const {
    const Node& node = program_.node(id);
    if (is_arg(id)) return plain_type(program_.node(node.operands[0]).type.dtype);
    return node.prim == Prim::kSum && task::is_float(node.type.dtype) ? "double" : plain_type(node.type.dtype);
  }
  std::string initial(int id) const {
    const bool real = task::is_float(program_.node(is_arg(id) ? program_.node(id).operands[0] : id).type.dtype);
    switch (program_.node(id).prim) {
      case Prim::kProd: return "1";
      case Prim::kMax: case Prim::kArgMax: return real ? "-__builtin_inf()" : "INT64_MIN";
      case Prim::kMin: case Prim::kArgMin: return real ? "__builtin_inf()" : "INT64_MAX";
      case Prim::kAll: return "true";
      default: return "0";
    }
  }
  std::string step(int id, const std::string& v) const {
    switch (program_.node(id).prim) {
      case Prim::kSum: return fmt::format("r{} += {};", id, v);
      case Prim::kProd: return fmt::format("r{} *= {};", id, v);
      case Prim::kMax: return fmt::format("r{0} = {1} > r{0} || {1} != {1} ? {1} : r{0};", id, v);
      case Prim::kMin: return fmt::format("r{0} = {1} < r{0} || {1} != {1} ? {1} : r{0};", id, v);
      case Prim::kArgMax: case Prim::kArgMin:
        return fmt::format("if ({1} {2} r{0} || ({1} != {1} && r{0} == r{0})) r{0} = {1}, i{0} = at{3};", id, v,
                           program_.node(id).prim == Prim::kArgMax ? ">" : "<", program_.inner_axes.back());
      case Prim::kAny: return fmt::format("r{} |= {};", id, v);
      case Prim::kAll: return fmt::format("r{} &= {};", id, v);
      default: return {};
    }
  }

  const Program& program_;
  std::map<int, std::string> names_;
  std::vector<std::string> lines_;
};

}  // namespace

namespace {

/// One function for the whole task, where the task is one loop nest.
Result<kernel::Kernel> one_nest(const task::Task& task) {
  HONE_TRY(const Program program, find_program(task, {.columns = false}));
  for (const Node& node : task.primitive.nodes)
    if ((node.prim == Prim::kArgMax || node.prim == Prim::kArgMin) && program.inner_axes.size() != 1)
      return fail(ErrorCode::kUnavailable, "an index over several loops");
  std::vector<std::string> parameters, arguments, conditions;
  for (const auto& input : task.inputs) {
    parameters.push_back(fmt::format("[[maybe_unused]] const {}* {}", storage_type(input.type.dtype), input.name));
    arguments.push_back("\"" + input.name + "\"");
  }
  for (const auto& [name, type] : task.outputs) {
    parameters.push_back(fmt::format("{}* {}", storage_type(type.dtype), name));
    arguments.push_back("\"" + name + "\"");
  }
  for (const std::string& symbol : task.symbols()) {
    parameters.push_back("[[maybe_unused]] int64_t " + symbol);
    arguments.push_back("\"i64:" + symbol + "\"");
  }
  for (const IntExpr& condition : program.nest.conditions) conditions.push_back("\"" + condition.to_string() + "\"");
  PlainWriter writer(program);
  Slots slots;
  slots["requires"] = conditions.empty() ? "" : fmt::format("requires = [{}]\n", fmt::join(conditions, ", "));
  slots["rows"] = program.rows().to_string();
  slots["args"] = fmt::format("{}", fmt::join(arguments, ", "));
  slots["parameters"] = fmt::format("{}", fmt::join(parameters, ", "));
  slots["body"] = writer.body();
  auto kernel = kernel::parse_kernel(fill_pattern("patterns/cpp/naive.cc", slots), "naive.cc");
  HONE_CHECK(kernel.has_value(), kernel ? "" : kernel.error().to_string());
  kernel->author = "pattern:naive";
  return *kernel;
}

}  // namespace

kernel::Kernel naive_kernel(const task::Task& task) {
  auto kernel = one_nest(task);
  return kernel ? std::move(*kernel) : plain_kernel(task);
}

kernel::Kernel naive_cpp(const task::Task& task) {
  const Names names(task);
  return names.given(naive_kernel(names.task()));
}

}  // namespace hone::pattern
