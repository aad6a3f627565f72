#include "hone/pattern/plain_value.h"

#include <cmath>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/narrow.h"
#include "hone/pattern/spelling.h"
#include "hone/pattern/triton_text.h"
#include "hone/task/graph/fold.h"

namespace hone::pattern::plain {
namespace {

using task::Dims;
using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;

std::string literal(const task::Attr& attr, DType dtype) {
  const double real = task::constant_value(attr);
  if (dtype == DType::kBool) return real != 0 ? "true" : "false";
  if (!task::is_float(dtype)) {
    const auto* whole = std::get_if<int64_t>(&attr);
    const int64_t number = whole ? *whole : static_cast<int64_t>(real);
    if (number == INT64_MIN) return "INT64_MIN";
    return fmt::format("{}(INT64_C({}))", computing_type(dtype), number);
  }
  if (std::isnan(real)) return fmt::format("{}(__builtin_nan(\"\"))", computing_type(dtype));
  if (std::isinf(real)) return fmt::format("{}({}__builtin_inf())", computing_type(dtype), real < 0 ? "-" : "");
  if (dtype == DType::kF64) return fmt::format("double({})", real);
  return fmt::format("float({})", real);
}

/// `rounds`: to 16 bits at once; computed values keep their digits until they are stored.
std::string cast_text(const std::string& x, DType from, DType to, bool rounds) {
  const std::string type = computing_type(to);
  const char* const narrow = from == DType::kF64 ? "hone::plain::to_odd" : "float";
  if (to == DType::kBool) return from == DType::kBool ? x : x + " != 0";
  if (rounds && task::is_narrow(to)) return fmt::format("float({}({}({})))", storage_type(to), narrow, x);
  if (task::is_int(to) && task::is_float(from))
    return fmt::format("{}(hone::plain::whole<{}>({}))", type, storage_type(to), x);
  if (narrows(from, to)) return fmt::format("{}({}({}))", type, storage_type(to), x);
  return fmt::format("{}({})", type, x);
}

/// Functions of integers take 64 bits: of 32 a compiler cannot tell whether those or a double are meant.
std::vector<std::string> for_a_function(const Node& node, std::vector<std::string> x) {
  const DType type = node.type.dtype;
  if (!spelling_of(node.prim).cpp || !task::is_int(type) || type == DType::kI64) return x;
  for (std::string& operand : x) operand = fmt::format("int64_t({})", operand);
  return x;
}

std::string operation(const Function& f, const Node& node, const std::vector<std::string>& x, const std::vector<DType>& types) {
  if (node.prim == Prim::kCast) {
    const bool rounds = node.attrs.contains("rounds") || f.plan().exact[static_cast<size_t>(node.operands[0])];
    return f.in_lanes() ? lanes_cast(x[0], types[0], node.type.dtype, rounds) : cast_text(x[0], types[0], node.type.dtype, rounds);
  }
  if (f.in_lanes()) return lanes_operation(node, x, types);
  const bool real = task::is_float(node.type.dtype);
  switch (node.prim) {
    case Prim::kMod:
      if (real) return fmt::format("hone::plain::modulo({}, {})", x[0], x[1]);
      break;
    case Prim::kFloorDiv:
      if (real) return fmt::format("hone::plain::floor_quotient({}, {})", x[0], x[1]);
      break;
    case Prim::kWhere: return fmt::format("{} ? {} : {}", x[0], x[1], x[2]);
    case Prim::kIsNan: return task::is_float(types[0]) ? fmt::format("{0} != {0}", x[0]) : "false";
    case Prim::kIsInf: return task::is_float(types[0]) ? fmt::format("hone::is_inf({})", x[0]) : "false";
    case Prim::kMaximum: case Prim::kMinimum:
      if (types[0] == DType::kBool) return fmt::format("{} {} {}", x[0], node.prim == Prim::kMaximum ? "|" : "&", x[1]);
      break;
    default: break;
  }
  return operation_text(node, for_a_function(node, x), types, Way::kScalar);
}

Position operand_position(const Function& f, const Node& node, int operand, const Position& at) {
  const Dims& dims = f.node(operand).type.dims;
  if (dims.empty()) return {};
  if (at.flat) return at;
  Position position = at;
  for (size_t d = 0; d < dims.size(); ++d)
    if (is_one(dims[d]) && !is_one(node.type.dims[d])) position.at[d] = number(0);
  return position;
}

Text elementwise(Function& f, int id, const Position& at) {
  const Node& node = f.node(id);
  std::vector<std::string> operands;
  std::vector<DType> types;
  int level = 0;
  for (const int operand : node.operands) {
    const Text x = value(f, operand, operand_position(f, node, operand, at));
    operands.push_back(x.text);
    types.push_back(f.node(operand).type.dtype);
    level = std::max(level, x.level);
  }
  const std::string type = computing_type(node.type.dtype), text = operation(f, node, operands, types);
  return f.local(type, {f.in_lanes() ? text : fmt::format("{}({})", type, text), level});
}

Text reshaped(Function& f, int id, const Position& at) {
  const Node& node = f.node(id);
  const Dims& from = f.node(node.operands[0]).type.dims;
  const Dims& to = node.type.dims;
  Position position;
  position.at.assign(from.size(), number(0));
  for (const Run& run : match_reshape(from, to)) {
    Text rest = number(0);
    for (const size_t d : run.to) rest = rest * f.extent(to[d]) + at.at[d];
    if (run.from.size() > 1) rest = f.index(rest);
    for (size_t k = run.from.size(); k-- > 0;) {
      if (k == 0) {
        position.at[run.from[k]] = f.index(rest);
      } else {
        const Text e = f.extent(from[run.from[k]]);
        position.at[run.from[k]] = f.index(f.remainder(rest, e));
        rest = f.index(f.quotient(rest, e));
      }
    }
  }
  return value(f, node.operands[0], position);
}

/// Outside the operand its nearest element is read, for nothing.
Text padded(Function& f, int id, const Position& at) {
  const Node& node = f.node(id);
  const Dims& dims = f.node(node.operands[0]).type.dims;
  const Dims& low = node.attr<Dims>("low");
  const Dims& high = node.attr<Dims>("high");
  Position position = at;
  std::string inside;
  int level = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool before = !(low[d] == IntExpr(0)), behind = !(high[d] == IntExpr(0));
    if (!before && !behind) continue;
    const Text e = f.extent(dims[d]);
    const Text shifted = f.index(at.at[d] - f.extent(low[d]));
    const std::string here = f.in_lanes() ? fmt::format("({0} >= 0) & ({0} < {1})", shifted.text, e.text)
                                          : fmt::format("{0} >= 0 && {0} < {1}", shifted.text, e.text);
    std::vector<Mistake> wrong;
    if (before) wrong.push_back({"padding in front by one too little", fmt::format("{0} >= -1 && {0} < {1}", shifted.text, e.text)});
    if (before) wrong.push_back({"the first element taken for padding", fmt::format("{0} >= 1 && {0} < {1}", shifted.text, e.text)});
    if (behind) wrong.push_back({"padding behind by one too little", fmt::format("{0} >= 0 && {0} <= {1}", shifted.text, e.text)});
    if (behind) wrong.push_back({"the last element taken for padding", fmt::format("{0} >= 0 && {0} < {1} - 1", shifted.text, e.text)});
    inside = f.both(inside, f.maybe(here, wrong));
    level = std::max(level, shifted.level);
    position.at[d] = f.index(f.held(shifted, e));
  }
  const Text x = value(f, node.operands[0], position);
  const std::string type = computing_type(node.type.dtype);
  if (inside.empty()) return x;
  const task::Attr& outside = node.attrs.find("value")->second;
  const std::string right = f.select(inside, x.text, f.in_lanes() ? lanes_constant(outside, node.type.dtype) : literal(outside, node.type.dtype));
  return f.local(type, {f.maybe(right, {{"padding forgotten", x.text}}), std::max(level, x.level)});
}

Text gathered(Function& f, int id, const Position& at) {
  const Node& node = f.node(id);
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const Dims& dims = f.node(node.operands[0]).type.dims;
  const bool along = node.prim == Prim::kTakeAlongAxis;
  const size_t inserted = along ? 1 : f.node(node.operands[1]).type.dims.size();
  Position which;
  if (along) which = at;
  else which.at.assign(at.at.begin() + static_cast<std::ptrdiff_t>(axis), at.at.begin() + static_cast<std::ptrdiff_t>(axis + inserted));
  const Text picked = value(f, node.operands[1], which), chosen = f.local("int64_t", f.in_lanes() ? f.whole(picked) : picked);
  const std::string last = f.extent(dims[axis]).text + " - 1";
  Position from;
  for (size_t d = 0; d < dims.size(); ++d) from.at.push_back(d < axis ? at.at[d] : d == axis ? chosen : at.at[d + inserted - 1]);
  from.at[axis] = f.index({f.maybe(chosen.text, {{"one element behind", fmt::format("hone::plain::least({} + 1, {})", chosen.text, last)},
                                                 {"one element before", fmt::format("hone::plain::most({} - 1, 0)", chosen.text)}}),
                           chosen.level});
  return value(f, node.operands[0], from);
}

}  // namespace

std::string computing_type(DType dtype) {
  switch (dtype) {
    case DType::kF64: return "double";
    case DType::kBool: return "bool";
    case DType::kI64: return "int64_t";
    default: return task::is_float(dtype) ? "float" : "int32_t";
  }
}

std::string summing_type(DType dtype) { return task::is_float(dtype) ? "double" : "int64_t"; }

std::string stored(DType dtype, const std::string& x) {
  if (task::is_narrow(dtype)) return fmt::format("{}(float({}))", storage_type(dtype), x);
  return fmt::format("{}({})", storage_type(dtype), x);
}

Text offset(Function& f, const Dims& dims, const Position& at) {
  if (at.flat) return *at.flat;
  Text result = number(0);
  std::vector<size_t> walked;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!is_one(dims[d])) walked.push_back(d);
  const auto of = [&](const std::vector<size_t>& order) {
    Text sum = number(0);
    for (size_t k = 0; k < walked.size(); ++k) sum = sum * f.extent(dims[walked[k]]) + at.at[order[k]];
    return sum;
  };
  result = of(walked);
  if (walked.size() > 1) {
    std::vector<size_t> swapped = walked;
    std::swap(swapped[swapped.size() - 2], swapped.back());
    result.text = f.maybe(result.text, {{"two axes swapped", of(swapped).text}});
  }
  return result;
}

Text value(Function& f, int id, const Position& at) {
  const std::string& memory = f.plan().memory[static_cast<size_t>(id)];
  if (memory.empty()) return compute(f, id, at);
  const Node& node = f.node(id);
  const std::string type = computing_type(node.type.dtype);
  const Text element = offset(f, node.type.dims, at);
  const std::string place = f.reads(memory);
  if (f.in_lanes()) {
    const DType kept = f.dtype_of(memory), computed = node.type.dtype;
    return f.local(type, {lanes_loaded(fmt::format("load_lanes({}, {}, inside{})", place, element.text, task::is_f8(kept) ? ", 0.0" : ""), kept, computed), element.level});
  }
  const std::string stored = fmt::format("{}[{}]", place, element.text);
  return f.local(type, {fmt::format("{}({})", type, stored), element.level});
}

Text compute(Function& f, int id, const Position& at) {
  const Node& node = f.node(id);
  if (task::is_elementwise(node.prim)) return elementwise(f, id, at);
  switch (node.prim) {
    case Prim::kConstant: {
      const task::Attr& constant = node.attrs.find("value")->second;
      return {f.in_lanes() ? lanes_constant(constant, node.type.dtype) : literal(constant, node.type.dtype), 0};
    }
    case Prim::kSymbol: return f.whole(f.extent(node.attr<IntExpr>("value")));
    case Prim::kIota: {
      return f.whole(at.at[static_cast<size_t>(node.attr<int64_t>("axis"))]);
    }
    case Prim::kBroadcast: return value(f, node.operands[0], operand_position(f, node, node.operands[0], at));
    case Prim::kReshape:
      if (at.flat) return value(f, node.operands[0], at);
      return reshaped(f, id, at);
    case Prim::kTranspose: {
      const auto& perm = node.attr<std::vector<int64_t>>("perm");
      Position position = at;
      for (size_t d = 0; d < perm.size(); ++d) position.at[static_cast<size_t>(perm[d])] = at.at[d];
      return value(f, node.operands[0], position);
    }
    case Prim::kSlice: {
      const Dims& start = node.attr<Dims>("start");
      const auto& step = node.attr<std::vector<int64_t>>("step");
      Position position = at;
      for (size_t d = 0; d < start.size(); ++d) position.at[d] = f.index(at.at[d] * number(step[d]) + f.extent(start[d]));
      return value(f, node.operands[0], position);
    }
    case Prim::kFlip: {
      Position position = at;
      for (const int64_t axis : node.attr<std::vector<int64_t>>("axes")) {
        Text& d = position.at[static_cast<size_t>(axis)];
        d = f.index({f.extent(node.type.dims[static_cast<size_t>(axis)]).text + " - 1 - " + d.text, d.level});
      }
      return value(f, node.operands[0], position);
    }
    case Prim::kPad: return padded(f, id, at);
    case Prim::kGather: case Prim::kTakeAlongAxis: return gathered(f, id, at);
    case Prim::kInput: return value(f, id, at);
    default: HONE_CHECK(false, std::string(task::name_of(node.prim)) + " has loops of its own");
  }
}

bool goes_flat(const Function& f, int id) {
  const Node& node = f.node(id);
  const auto operand_goes = [&](int operand, auto&& self) -> bool {
    const Node& x = f.node(operand);
    const bool scalar = x.type.dims.empty();
    if (!f.plan().memory[static_cast<size_t>(operand)].empty()) return scalar || x.type.dims == node.type.dims;
    if (scalar) return true;
    if (!task::is_elementwise(x.prim) || x.type.dims != node.type.dims) return false;
    for (const int k : x.operands)
      if (!self(k, self)) return false;
    return true;
  };
  if (node.type.dims.empty() || !task::is_elementwise(node.prim)) return false;
  for (const int operand : node.operands)
    if (!operand_goes(operand, operand_goes)) return false;
  return true;
}

}  // namespace hone::pattern::plain
