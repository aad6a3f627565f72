// What has loops of its own, in Triton: a lane has one element of the result and goes through all that it is computed from. What lies
// outside of an operand is computed from its nearest element and left out of the result.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "hone/pattern/plain_ops.h"
#include "hone/pattern/triton_text.h"

namespace hone::pattern::plain {
namespace {

using task::Dims;
using task::DType;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

/// A running result in Triton.
class LanesRunning {
 public:
  LanesRunning(Function& f, int id) : f_(f), node_(f.node(id)), of_(f.node(node_.operands[0]).type.dtype), type_(node_.type.dtype) {
    arg_ = node_.prim == Prim::kArgMax || node_.prim == Prim::kArgMin;
    std::string start = "0";
    sums_ = false;
    switch (node_.prim) {
      case Prim::kMax: case Prim::kCumMax: case Prim::kPoolMax: case Prim::kArgMax: case Prim::kScatterMax: start = extreme(true); break;
      case Prim::kMin: case Prim::kCumMin: case Prim::kArgMin: case Prim::kScatterMin: start = extreme(false); break;
      case Prim::kAny: break;
      case Prim::kAll: start = "1"; break;
      case Prim::kCumLogSumExp: start = "float(\"-inf\")"; sums_ = true; break;
      case Prim::kProd: case Prim::kCumProd: start = "1"; [[fallthrough]];
      default: sums_ = true;
    }
    const bool truth = accumulator() == DType::kBool;
    f.line(fmt::format("sum = tl.full((BLOCK,), {}, {}){}", start, truth ? "tl.int32" : lanes_type(accumulator()), truth ? " != 0" : ""));
    if (arg_) f.line("best = tl.zeros((BLOCK,), tl.int64)");
  }

  /// What the result runs in.
  [[nodiscard]] DType accumulator() const {
    if (sums_) return task::is_float(type_) ? DType::kF64 : DType::kI64;
    return arg_ ? of_ : type_;
  }
  /// An operand's element as it is taken in.
  [[nodiscard]] Text widened(const Text& x, DType of) {
    const std::string text = lanes_cast(x.text, of, accumulator(), false);
    return text == x.text ? x : f_.local("", {text, x.level});
  }

  void take(const std::string& x, const std::string& index = "0") {
    switch (node_.prim) {
      case Prim::kMax: case Prim::kCumMax: case Prim::kPoolMax: case Prim::kScatterMax: f_.line(fmt::format(fmt::runtime(truth() ? "sum = sum | {}" : "sum = greater({}, sum)"), x)); break;
      case Prim::kMin: case Prim::kCumMin: case Prim::kScatterMin: f_.line(fmt::format(fmt::runtime(truth() ? "sum = sum & {}" : "sum = less({}, sum)"), x)); break;
      case Prim::kAny: f_.line(fmt::format("sum = sum | {}", x)); break;
      case Prim::kAll: f_.line(fmt::format("sum = sum & {}", x)); break;
      case Prim::kProd: case Prim::kCumProd: f_.line(fmt::format("sum = sum * {}", x)); break;
      case Prim::kCumLogSumExp: f_.line(fmt::format("sum = log_add_exp(sum, {})", x)); break;
      case Prim::kLinearScan: f_.line(fmt::format("sum = sum * {} + {}", index, x)); break;
      case Prim::kArgMax: case Prim::kArgMin: {
        const bool most = node_.prim == Prim::kArgMax;
        const std::string one = truth() ? x + ".to(tl.int32)" : x, other = truth() ? "sum.to(tl.int32)" : "sum";
        f_.line(fmt::format("better = ({0} {2} {1}) | (({0} != {0}) & ({1} == {1}))", one, other, most ? ">" : "<"));
        f_.line(fmt::format("sum = tl.where(better, {}, sum)", x));
        f_.line(fmt::format("best = tl.where(better, {}, best)", index));
        break;
      }
      default: f_.line(fmt::format("sum = sum + {}", x));
    }
  }

  [[nodiscard]] std::string neutral() const {
    if (node_.prim == Prim::kScatterMin) return extreme(false);
    return node_.prim == Prim::kPoolMax || node_.prim == Prim::kScatterMax ? extreme(true) : "0";
  }
  [[nodiscard]] std::string result() const { return arg_ ? "best" : "sum"; }

 private:
  [[nodiscard]] bool truth() const { return accumulator() == DType::kBool; }

  [[nodiscard]] std::string extreme(bool least) const {
    if (task::is_float(of_)) return least ? "float(\"-inf\")" : "float(\"inf\")";
    if (of_ == DType::kBool) return least ? "0" : "1";
    const int64_t high = static_cast<int64_t>(~uint64_t{0} >> (65 - 8 * task::size_of(of_)));
    return fmt::format("{}", least ? -high - 1 : high);
  }

  Function& f_;
  const Node& node_;
  DType of_, type_;
  bool arg_ = false, sums_ = false;
};

bool is_among(const Ints& axes, size_t d) { return std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end(); }

void close_all(Function& f) {
  while (f.level() > 0) f.close();
}

void lanes_reduction(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const int operand = node.operands[0];
  const Dims& dims = f.node(operand).type.dims;
  const auto& axes = node.attr<Ints>("axes");
  std::vector<size_t> kept, reduced;
  for (const size_t d : walked(dims)) (is_among(axes, d) ? reduced : kept).push_back(d);
  const Position result = grid_over(f, dims, kept, "lane");
  LanesRunning running(f, id);
  Position at = result;
  for (const size_t d : reduced) at.at[d] = f.loop_over(fmt::format("r{}", d), dims[d]);
  const Text x = running.widened(value(f, operand, at), f.node(operand).type.dtype);
  running.take(x.text, reduced.empty() ? "0" : at.at[reduced.back()].text);
  close_all(f);
  f.line(store_text(f, id, tensor, result, running.result()));
}

void lanes_scan(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  std::vector<size_t> others = walked(node.type.dims);
  std::erase(others, axis);
  Position at = grid_over(f, node.type.dims, others, "lane");
  LanesRunning running(f, id);
  const Text length = f.extent(node.type.dims[axis]);
  const Text t = f.loop("t", number(0), length);
  at.at[axis] = node.attr<bool>("reverse") ? f.index({fmt::format("{} - 1 - t", length.text), t.level}) : t;
  const bool linear = node.prim == Prim::kLinearScan;
  const auto operand = [&](size_t k) { return running.widened(value(f, node.operands[k], at), f.node(node.operands[k]).type.dtype).text; };
  const std::string factor = linear ? f.select("t == 0", "0.0", operand(0)) : "0", x = operand(linear ? 1 : 0);
  const bool exclusive = node.attr<bool>("exclusive");
  if (!exclusive) running.take(x, factor);
  f.line(store_text(f, id, tensor, at, running.result()));
  if (exclusive) running.take(x);
  close_all(f);
}

/// Of all that is added along its line, each element takes what has its index.
void lanes_scatter(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  const Position at = grid_over(f, node.type.dims, walked(node.type.dims), "lane");
  LanesRunning running(f, id);
  const auto operand = [&](size_t k, const Position& from) { return running.widened(value(f, node.operands[k], from), f.node(node.operands[k]).type.dtype).text; };
  running.take(operand(0, at));
  Position from = at;
  from.at[axis] = f.always_loop_over("r", f.node(node.operands[2]).type.dims[axis]);
  const Text index = f.whole(value(f, node.operands[1], from));
  running.take(f.select(fmt::format("{} == {}", index.text, at.at[axis].text), operand(2, from), running.neutral()));
  close_all(f);
  f.line(store_text(f, id, tensor, at, running.result()));
}

/// Each element goes where as many lie before it as do in sorted order.
void lanes_sort(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const Dims& dims = node.type.dims;
  const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
  Position at = grid_over(f, dims, walked(dims), "lane");
  const std::string own = value(f, node.operands[0], at).text, place = at.at[axis].text;
  f.line("rank = tl.zeros((BLOCK,), tl.int64)");
  Position other = at;
  other.at[axis] = f.loop_over("j", dims[axis]);
  const Text x = value(f, node.operands[0], other);
  const bool truth = f.node(node.operands[0]).type.dtype == DType::kBool, descending = node.attr<bool>("descending");
  const std::string a = truth ? x.text + ".to(tl.int32)" : x.text, b = truth ? own + ".to(tl.int32)" : own;
  const std::string before = fmt::format(fmt::runtime(descending ? "below({1}, {0})" : "below({0}, {1})"), a, b);
  const std::string after = fmt::format(fmt::runtime(descending ? "below({0}, {1})" : "below({1}, {0})"), a, b);
  f.line(fmt::format("rank += ({} | (~{} & ({} < {}))).to(tl.int64)", before, after, other.at[axis].text, place));
  close_all(f);
  const bool indices = node.prim == Prim::kArgSort;
  const std::string result = indices ? f.whole({place, 0}).text : own;
  if (!is_one(dims[axis])) at.at[axis] = {"rank", 0};
  f.line(store_text(f, id, tensor, at, result));
}

void lanes_dot(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const std::string& spec = node.attr<std::string>("spec");
  const size_t comma = spec.find(','), arrow = spec.find("->");
  const std::string letters[2] = {spec.substr(0, comma), spec.substr(comma + 1, arrow - comma - 1)};
  const std::string result = spec.substr(arrow + 2);
  std::map<char, Text> where;
  const Position at = grid_over(f, node.type.dims, walked(node.type.dims), "lane");
  for (size_t d = 0; d < result.size(); ++d) where[result[d]] = at.at[d];
  LanesRunning running(f, id);
  Text factors[2];
  for (const int side : {0, 1})
    for (size_t d = 0; d < letters[side].size(); ++d)
      if (const char c = letters[side][d]; !where.contains(c))
        where[c] = f.loop_over(fmt::format("i_{}", c), f.node(node.operands[static_cast<size_t>(side)]).type.dims[d]);
  for (const int side : {0, 1}) {
    const int operand = node.operands[static_cast<size_t>(side)];
    Position from;
    for (const char c : letters[side]) from.at.push_back(where.at(c));
    factors[side] = running.widened(value(f, operand, from), f.node(operand).type.dtype);
  }
  running.take(fmt::format("{} * {}", factors[0].text, factors[1].text));
  close_all(f);
  f.line(store_text(f, id, tensor, at, running.result()));
}

/// Loops over the taps of a window; where the tap lies, and what says that it lies inside.
std::string lanes_taps(Function& f, const Node& node, const Dims& x_dims, const std::vector<IntExpr>& kernel, Position& from, std::vector<Text>& taps) {
  const bool transposed = node.prim == Prim::kConvTranspose;
  const auto &stride = node.attr<Ints>("stride"), &dilation = node.attr<Ints>("dilation"), &padding = node.attr<Ints>(transposed ? "padding" : "padding_low");
  const size_t lead = x_dims.size() - kernel.size();
  std::string inside;
  for (size_t s = 0; s < kernel.size(); ++s) taps[s] = f.loop_over(fmt::format("t{}", s), kernel[s]);
  for (size_t s = 0; s < kernel.size(); ++s) {
    const size_t d = lead + s;
    const Text extent = f.extent(x_dims[d]), offset = taps[s] * number(dilation[s]);
    Text place = transposed ? from.at[d] + number(padding[s]) - offset : from.at[d] * number(stride[s]) + offset - number(padding[s]);
    place.level = f.level();
    place = f.index(place);
    if (transposed && stride[s] != 1) {
      inside = f.both(inside, fmt::format("{} % {} == 0", place.text, stride[s]));
      // A negative one is no place, whichever way it is rounded.
      inside = f.both(inside, fmt::format("{} >= 0", place.text));
      place = f.index(f.quotient(place, number(stride[s])));
    } else {
      inside = f.both(inside, fmt::format("{} >= 0", place.text));
    }
    inside = f.both(inside, fmt::format("{} < {}", place.text, extent.text));
    from.at[d] = f.index(f.held(place, extent));
  }
  return inside;
}

void lanes_convolution(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const bool transposed = node.prim == Prim::kConvTranspose;
  const int x = node.operands[0], w = node.operands[1];
  const Dims &x_dims = f.node(x).type.dims, &w_dims = f.node(w).type.dims;
  const IntExpr& groups = node.attr<IntExpr>("groups");
  const auto divided = [&](const IntExpr& channels) { return IntExpr::divide_exactly(channels, groups).value_or(IntExpr::floor_div(channels, groups)); };
  const IntExpr in = transposed ? divided(x_dims[1]) : w_dims[1], out = transposed ? w_dims[1] : divided(node.type.dims[1]);
  const Position at = grid_over(f, node.type.dims, walked(node.type.dims), "lane");
  const Text group = is_one(groups) ? number(0) : f.index(f.quotient(at.at[1], f.extent(out)));
  LanesRunning running(f, id);
  const Text c = f.loop_over("c", in);
  Position from = at;
  from.at[1] = f.index(group * f.extent(in) + c);
  std::vector<Text> taps(w_dims.size() - 2);
  const std::string inside = lanes_taps(f, node, x_dims, {w_dims.begin() + 2, w_dims.end()}, from, taps);
  Position weight;
  if (transposed) weight.at = {from.at[1], is_one(groups) ? at.at[1] : f.index(f.remainder(at.at[1], f.extent(out)))};
  else weight.at = {at.at[1], c};
  weight.at.insert(weight.at.end(), taps.begin(), taps.end());
  const Text factor = running.widened(value(f, w, weight), f.node(w).type.dtype), element = running.widened(value(f, x, from), f.node(x).type.dtype);
  running.take(fmt::format("tl.where({}, {} * {}, 0)", inside, factor.text, element.text));
  close_all(f);
  f.line(store_text(f, id, tensor, at, running.result()));
}

void lanes_pool(Function& f, int id, const std::string& tensor) {
  const Node& node = f.node(id);
  const int x = node.operands[0];
  const auto& sizes = node.attr<Ints>("kernel");
  const Position at = grid_over(f, node.type.dims, walked(node.type.dims), "lane");
  LanesRunning running(f, id);
  Position from = at;
  std::vector<Text> taps(sizes.size());
  const std::string inside = lanes_taps(f, node, f.node(x).type.dims, {sizes.begin(), sizes.end()}, from, taps);
  const Text element = running.widened(value(f, x, from), f.node(x).type.dtype);
  running.take(fmt::format("tl.where({}, {}, {})", inside, element.text, running.neutral()));
  close_all(f);
  f.line(store_text(f, id, tensor, at, running.result()));
}

}  // namespace

auto lanes_writer_for(Prim op) -> void (*)(Function&, int id, const std::string& tensor) {
  if (task::is_reduction(op)) return lanes_reduction;
  if (task::is_scan(op)) return lanes_scan;
  switch (op) {
    case Prim::kDot: return lanes_dot;
    case Prim::kConv: case Prim::kConvTranspose: return lanes_convolution;
    case Prim::kPoolMax: case Prim::kPoolSum: return lanes_pool;
    case Prim::kSort: case Prim::kArgSort: return lanes_sort;
    case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin: return lanes_scatter;
    default: return write_elements;
  }
}

}  // namespace hone::pattern::plain
