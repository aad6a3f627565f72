// Reductions, scans and sums by index.
#include <algorithm>

#include <fmt/format.h>

#include "hone/pattern/expression.h"
#include "hone/pattern/plain_ops.h"
#include "hone/pattern/plain_value.h"

namespace hone::pattern::plain {

using task::Dims;
using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;
using Kind = Running::Kind;

namespace {

Kind kind_of(Prim op) {
  switch (op) {
    case Prim::kProd: case Prim::kCumProd: return Kind::kProduct;
    case Prim::kMax: case Prim::kCumMax: case Prim::kPoolMax: return Kind::kMax;
    case Prim::kMin: case Prim::kCumMin: return Kind::kMin;
    case Prim::kAny: return Kind::kAny;
    case Prim::kAll: return Kind::kAll;
    case Prim::kArgMax: return Kind::kArgMax;
    case Prim::kArgMin: return Kind::kArgMin;
    case Prim::kCumLogSumExp: return Kind::kLogSumExp;
    case Prim::kLinearScan: return Kind::kLinear;
    default: return Kind::kSum;
  }
}

/// The least or greatest value that a running extreme starts from.
std::string extreme(DType dtype, bool least) {
  if (task::is_float(dtype)) return least ? "-__builtin_inf()" : "__builtin_inf()";
  if (dtype == DType::kBool) return least ? "false" : "true";
  if (dtype == DType::kI64) return least ? "INT64_MIN" : "INT64_MAX";
  return least ? "INT32_MIN" : "INT32_MAX";
}

}  // namespace

Running running_of(Function& f, int id) {
  const Node& node = f.node(id);
  Running running;
  running.kind = kind_of(node.prim);
  const DType dtype = running.is_arg() ? f.node(node.operands[0]).type.dtype : node.type.dtype;
  switch (running.kind) {
    case Kind::kSum: case Kind::kProduct: case Kind::kLinear:
      running.type = summing_type(dtype);
      running.start = running.kind == Kind::kProduct ? "1" : "0";
      break;
    case Kind::kMax: case Kind::kArgMax: case Kind::kMin: case Kind::kArgMin: {
      running.type = computing_type(dtype);
      const bool most = running.kind == Kind::kMax || running.kind == Kind::kArgMax;
      running.start = extreme(dtype, most);
      if (dtype != DType::kBool) running.start = f.maybe(running.start, {{"a running extreme that starts at 0", "0"}});
      break;
    }
    case Kind::kAny: case Kind::kAll:
      running.type = "bool";
      running.start = running.kind == Kind::kAll ? "true" : "false";
      break;
    case Kind::kLogSumExp:
      running.type = "double";
      running.start = "-__builtin_inf()";
      break;
  }
  if (running.type == "double" && dtype != DType::kF64)
    running.narrowed = f.maybe("", {{"the accumulator narrowed to bf16", "hone::bf16"}, {"the accumulator narrowed to f16", "hone::f16"}});
  return running;
}

std::string Running::take(const std::string& into, const std::string& x, const std::string& index) const {
  const auto assigned = [&](const std::string& result) {
    if (narrowed.empty()) return fmt::format("{} = {};", into, result);
    return fmt::format("{} = float({}(float({})));", into, narrowed, result);
  };
  const bool whole = type == "int64_t";  // wraps around
  switch (kind) {
    case Kind::kSum: return assigned(whole ? fmt::format("hone::whole_add<int64_t>({}, {})", into, x) : into + " + " + x);
    case Kind::kProduct: return assigned(whole ? fmt::format("hone::whole_mul<int64_t>({}, {})", into, x) : into + " * " + x);
    case Kind::kLinear: return assigned(fmt::format("{} * {} + {}", into, index, x));
    case Kind::kMax: return fmt::format("{0} = {1} > {0} || {1} != {1} ? {1} : {0};", into, x);
    case Kind::kMin: return fmt::format("{0} = {1} < {0} || {1} != {1} ? {1} : {0};", into, x);
    case Kind::kAny: return fmt::format("{0} = {0} | {1};", into, x);
    case Kind::kAll: return fmt::format("{0} = {0} & {1};", into, x);
    case Kind::kArgMax: case Kind::kArgMin:
      return fmt::format("if ({1} {2} {0} || ({1} != {1} && {0} == {0})) {0} = {1}, {3} = {4};", into, x,
                         kind == Kind::kArgMax ? ">" : "<", into.rfind("sum", 0) == 0 ? "best" + into.substr(3) : "best", index);
    case Kind::kLogSumExp: return assigned(fmt::format("hone::plain::log_add_exp({}, {})", into, x));
  }
  return {};
}

namespace {

/// A block of columns: the last dimension is not reduced, so sums of neighbours run side by side.
void reduce_columns(Function& f, int id, const std::string& tensor, const std::vector<size_t>& kept,
                    const std::vector<size_t>& reduced) {
  const Node& node = f.node(id);
  const int operand = node.operands[0];
  const Dims& dims = f.node(operand).type.dims;
  const size_t last = kept.back();
  const Running running = running_of(f, id);
  f.grid_blocks(dims[last], "column", "kColumns", 256);
  Position at = grid_over(f, dims, std::vector<size_t>(kept.begin(), kept.end() - 1), "row");
  f.line(fmt::format("{} sum[hone::plain::kColumns];", running.type));
  if (running.is_arg()) f.line("int64_t best[hone::plain::kColumns];");
  f.loop("j", number(0), {"count", 0});
  f.line(fmt::format("sum[j] = {};", running.start));
  if (running.is_arg()) f.line("best[j] = 0;");
  f.close();
  const int outside = f.level();
  for (const size_t d : reduced) at.at[d] = f.loop_over(fmt::format("r{}", d), dims[d]);
  f.loop("j", number(0), {"count", 0});
  at.at[last] = {"(start + j)", f.level()};
  const Text x = value(f, operand, at);
  f.line(running.take("sum[j]", x.text, reduced.empty() ? "0" : at.at[reduced.back()].text));
  while (f.level() > outside) f.close();
  f.loop("j", number(0), {"count", 0});
  at.at[last] = {"(start + j)", f.level()};
  for (const size_t d : reduced) at.at[d] = number(0);
  f.line(store_text(f, id, tensor, at, running.is_arg() ? "best[j]" : "sum[j]"));
  f.close();
}

void reduce_rows(Function& f, int id, const std::string& tensor, const std::vector<size_t>& kept,
                 const std::vector<size_t>& reduced) {
  const Node& node = f.node(id);
  const int operand = node.operands[0];
  const Dims& dims = f.node(operand).type.dims;
  const Running running = running_of(f, id);
  Position at = grid_over(f, dims, kept, "row");
  f.line(fmt::format("{} sum = {};", running.type, running.start));
  if (running.is_arg()) f.line("int64_t best = 0;");
  const bool adds = running.kind == Kind::kSum && running.type == "double" && running.narrowed.empty();
  const bool lanes = adds && !reduced.empty();
  for (size_t k = 0; k < reduced.size(); ++k) {
    const size_t d = reduced[k];
    const std::string name = fmt::format("r{}", d);
    if (lanes && k + 1 == reduced.size()) {
      const std::string length = f.maybe_short(dims[d]);
      f.open(fmt::format("sum += hone::plain::sum_of({}, [&](int64_t {}) -> double", length, name), "});");
      at.at[d] = {name, f.level()};
    } else {
      at.at[d] = f.loop_over(name, dims[d]);
    }
  }
  const Text x = value(f, operand, at);
  if (lanes) f.line("return " + x.text + ";");
  else f.line(running.take("sum", x.text, reduced.empty() ? "0" : at.at[reduced.back()].text));
  while (f.level() > 0) f.close();
  for (const size_t d : reduced) at.at[d] = number(0);
  f.line(store_text(f, id, tensor, at, running.is_arg() ? "best" : "sum"));
}

}  // namespace

void write_reduction(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const auto& axes = node.attr<std::vector<int64_t>>("axes");
  std::vector<size_t> kept, reduced;
  for (const size_t d : walked(f.node(node.operands[0]).type.dims))
    (std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) == axes.end() ? kept : reduced).push_back(d);
  if (!kept.empty() && (reduced.empty() || kept.back() > reduced.back())) reduce_columns(f, id, tensor, kept, reduced);
  else reduce_rows(f, id, tensor, kept, reduced);
}

void write_scan(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const bool linear = node.prim == Prim::kLinearScan;
  const int operand = node.operands[linear ? 1 : 0];
  const Dims& dims = node.type.dims;
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  std::vector<size_t> others;
  for (const size_t d : walked(dims))
    if (d != axis) others.push_back(d);
  const Running running = running_of(f, id);
  const bool columns = !others.empty() && others.back() > axis;
  const size_t last = columns ? others.back() : 0;
  if (columns) {
    others.pop_back();
    f.grid_blocks(dims[last], "column", "kColumns", 256);
  }
  Position at = grid_over(f, dims, others, "row");
  std::string sum = "sum";
  if (columns) {
    sum = "sum[j]";
    f.line(fmt::format("{} sum[hone::plain::kColumns];", running.type));
    f.loop("j", number(0), {"count", 0});
    f.line(fmt::format("sum[j] = {};", running.start));
    f.close();
  } else {
    f.line(fmt::format("{} sum = {};", running.type, running.start));
  }
  const std::string length = f.extent(dims[axis]).text;
  (void)f.loop("t", number(0), {length, 0});
  const std::string forward = "t", backward = length + " - 1 - t";
  const bool reverse = node.attr<bool>("reverse");
  at.at[axis] = f.local("int64_t", {f.maybe(reverse ? backward : forward,
                                           {{"scanned from the other end", reverse ? forward : backward}}), f.level()});
  if (columns) {
    f.loop("j", number(0), {"count", 0});
    at.at[last] = {"(start + j)", f.level()};
  }
  const std::string factor = linear ? fmt::format("(t == 0 ? 0 : {})", value(f, node.operands[0], at).text) : "";
  const std::string take = running.take(sum, value(f, operand, at).text, factor);
  const std::string store = store_text(f, id, tensor, at, sum);
  const bool exclusive = node.attr<bool>("exclusive");
  const std::string inclusive_text = take + " " + store, exclusive_text = store + " " + take;
  f.line(f.maybe(exclusive ? exclusive_text : inclusive_text,
                 {{"its own element taken in, or not", exclusive ? inclusive_text : exclusive_text}}));
  while (f.level() > 0) f.close();
}

void write_scatter(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const Dims &dims = node.type.dims, &source = f.node(node.operands[2]).type.dims;
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  std::vector<size_t> others = walked(dims);
  std::erase(others, axis);
  const bool columns = !others.empty() && others.back() > axis;
  const size_t last = columns ? others.back() : 0;
  if (columns) {
    others.pop_back();
    f.grid_blocks(dims[last], "column", "kColumns", 256);
  }
  Position at = grid_over(f, dims, others, "row");
  const auto along = [&](const std::string& name, const IntExpr& extent) {
    at.at[axis] = f.always_loop_over(name, extent);
    if (!columns) return;
    f.loop("j", number(0), {"count", 0});
    at.at[last] = {"(start + j)", f.level()};
  };
  const auto close = [&] {
    while (f.level() > 0) f.close();
  };
  along("t", dims[axis]);
  f.line(store_text(f, id, tensor, at, value(f, node.operands[0], at).text));
  close();
  along("r", source[axis]);
  Position to = at;
  to.at[axis] = f.local("int64_t", value(f, node.operands[1], at));
  const Text added = value(f, node.operands[2], at);
  const std::string place = fmt::format("{}[{}]", f.writes(tensor), offset(f, dims, to).text);
  if (node.prim != Prim::kScatterAdd) {
    const std::string type = computing_type(node.type.dtype), x = f.local(type, {f.maybe(added.text, {{"what is compared left out", place}}), added.level}).text;
    const std::string stays = fmt::format("{1} {2} {0}({3}) || {1} != {1} ? {1} : {0}({3})", type, x, node.prim == Prim::kScatterMax ? ">" : "<", place);
    f.line(fmt::format("{} = {};", place, stored(f.dtype_of(tensor), stays)));
    return close();
  }
  const std::string term = f.maybe(added.text, {{"what is added left out", "0"}});
  const std::string sum = task::is_int(node.type.dtype) ? fmt::format("hone::whole_add<{}>({}, {})", storage_type(node.type.dtype), place, term) : fmt::format("{} + {}", place, term);
  f.line(fmt::format("{} = {};", place, stored(f.dtype_of(tensor), sum)));
  close();
}

}  // namespace hone::pattern::plain
