#include "hone/pattern/gpu_index.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/nest.h"

namespace hone::pattern {
namespace {

using task::Dims;
using task::Node;
using task::Prim;
using At = std::vector<std::string>;   ///< a position along each dimension

class IndexText {
 public:
  explicit IndexText(const task::Graph& graph) : graph_(graph) {}

  Result<std::string> function(int id, const std::string& name, const std::string& parameters) {
    HONE_TRY(const std::string result, element(id, positions("place_at", graph_.node(id).type.dims)));
    return fmt::format("__device__ inline int64_t {}({}, [[maybe_unused]] int64_t place_at) {{\n{}  return static_cast<int64_t>({});\n}}\n", name, parameters, lines_, result);
  }

 private:
  std::string local(const std::string& type, const std::string& value) {
    const std::string name = fmt::format("i{}", names_++);
    lines_ += fmt::format("{}const {} {} = {};\n", indent_, type, name, value);
    return name;
  }
  /// Of a place in a dense tensor.
  At positions(const std::string& place, const Dims& dims) {
    const Strides strides = dense(dims);
    At at;
    for (size_t d = 0; d < dims.size(); ++d) {
      std::string text = is_one(strides[d]) ? place : fmt::format("{} / {}", place, parenthesised(strides[d]));
      bool outermost = true;
      for (size_t k = 0; k < d; ++k) outermost = outermost && is_one(dims[k]);
      if (!outermost) text = fmt::format("{} % {}", text, parenthesised(dims[d]));
      at.push_back(is_one(dims[d]) ? "0" : text == place ? place : local("int64_t", text));
    }
    return at;
  }
  static std::string place(const At& at, const Dims& dims) {
    const Strides strides = dense(dims);
    std::string sum;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (at[d] == "0") continue;
      const std::string term = is_one(strides[d]) ? at[d] : fmt::format("{} * {}", at[d], parenthesised(strides[d]));
      sum += (sum.empty() ? "" : " + ") + term;
    }
    return sum.empty() ? "0" : sum;
  }

  /// The name of the element of node `id` there.
  Result<std::string> element(int id, At at) {
    const Node& node = graph_.node(id);
    const std::string type = value_type(node.type.dtype, Way::kThread);
    const auto operand = [&](size_t k) -> const Node& { return graph_.node(node.operands[k]); };
    if (task::is_elementwise(node.prim)) {
      std::vector<std::string> values;
      std::vector<task::DType> types;
      for (const int of : node.operands) {
        const Dims& dims = graph_.node(of).type.dims;
        At own = at;
        if (dims.empty()) own.clear();
        for (size_t d = 0; d < dims.size(); ++d)
          if (is_one(dims[d])) own[d] = "0";
        HONE_TRY(const std::string value, element(of, own));
        values.push_back(value);
        types.push_back(graph_.node(of).type.dtype);
      }
      return local(type, thread_text(graph_, node, values, types));
    }
    switch (node.prim) {
      case Prim::kInput: return local(type, fmt::format("{}[{}]", node.attr<std::string>("name"), place(at, node.type.dims)));
      case Prim::kConstant: return constant_text(node, Way::kThread);
      case Prim::kSymbol: return local(type, node.attr<task::IntExpr>("value").to_cpp());
      case Prim::kIota: return at[static_cast<size_t>(node.attr<int64_t>("axis"))];
      case Prim::kReshape:
        if (operand(0).prim == Prim::kInput) return local(type, fmt::format("{}[{}]", operand(0).attr<std::string>("name"), place(at, node.type.dims)));
        return element(node.operands[0], positions(local("int64_t", place(at, node.type.dims)), operand(0).type.dims));
      case Prim::kBroadcast:
        for (size_t d = 0; d < at.size(); ++d)
          if (is_one(operand(0).type.dims[d])) at[d] = "0";
        return element(node.operands[0], at);
      case Prim::kTranspose: {
        At own(at.size());
        const auto& perm = node.attr<std::vector<int64_t>>("perm");
        for (size_t d = 0; d < perm.size(); ++d) own[static_cast<size_t>(perm[d])] = at[d];
        return element(node.operands[0], own);
      }
      case Prim::kSlice: {
        const auto& start = node.attr<Dims>("start");
        const auto& step = node.attr<std::vector<int64_t>>("step");
        for (size_t d = 0; d < at.size(); ++d) at[d] = local("int64_t", fmt::format("{} + {} * {}", start[d].to_cpp(), at[d], step[d]));
        return element(node.operands[0], at);
      }
      case Prim::kGather: case Prim::kTakeAlongAxis: {
        const bool along = node.prim == Prim::kTakeAlongAxis;
        const auto axis = node.attr<int64_t>("axis"), count = along ? 1 : static_cast<int64_t>(operand(1).type.dims.size());
        HONE_TRY(const std::string index, element(node.operands[1], along ? at : At(at.begin() + axis, at.begin() + axis + count)));
        at.erase(at.begin() + axis, at.begin() + axis + count);
        at.insert(at.begin() + axis, index);
        return element(node.operands[0], at);
      }
      case Prim::kSum: case Prim::kMax: case Prim::kMin: case Prim::kAny: case Prim::kAll: return reduced(node, at, type);
      default: return fail(ErrorCode::kUnavailable, fmt::format("an index made by {}", task::name_of(node.prim)));
    }
  }

  Result<std::string> reduced(const Node& node, At at, const std::string& type) {
    const std::string sum = fmt::format("i{}", names_++), outside = indent_;
    const bool counts = node.prim == Prim::kSum;
    // Extremes begin with the first element, which is taken once more.
    std::string loops, ends;
    At first = at;
    const auto& axes = node.attr<std::vector<int64_t>>("axes");
    for (const int64_t axis : axes) first[static_cast<size_t>(axis)] = "0";
    std::string begin = counts || node.prim == Prim::kAny ? "0" : "1";
    if (node.prim == Prim::kMax || node.prim == Prim::kMin) {
      HONE_TRY(begin, element(node.operands[0], first));
    }
    lines_ += fmt::format("{}{} {} = {};\n", indent_, type, sum, begin);
    for (const int64_t axis : axes) {
      const std::string name = fmt::format("i{}", names_++);
      const std::string extent = graph_.node(node.operands[0]).type.dims[static_cast<size_t>(axis)].to_cpp();
      lines_ += fmt::format("{0}for (int64_t {1} = 0; {1} < {2}; ++{1}) {{\n", indent_, name, extent);
      at[static_cast<size_t>(axis)] = name;
      indent_ += "  ";
    }
    HONE_TRY(const std::string value, element(node.operands[0], at));
    const char* const take = counts ? "{0} += {1}" : node.prim == Prim::kAny ? "{0} = {0} || {1}" : node.prim == Prim::kAll ? "{0} = {0} && {1}"
                             : node.prim == Prim::kMax ? "{0} = {1} > {0} ? {1} : {0}" : "{0} = {1} < {0} ? {1} : {0}";
    lines_ += indent_ + fmt::format(fmt::runtime(take), sum, value) + ";\n";
    for (size_t k = axes.size(); k-- > 0;) {
      indent_.resize(outside.size() + 2 * k);
      lines_ += indent_ + "}\n";
    }
    return sum;
  }

  const task::Graph& graph_;
  std::string lines_, indent_ = "  ";
  int names_ = 0;
};

}  // namespace

Result<std::string> index_text(const task::Graph& graph, int id, const std::string& name, const std::string& parameters) {
  return IndexText(graph).function(id, name, parameters);
}

}  // namespace hone::pattern
