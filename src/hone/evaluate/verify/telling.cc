#include "hone/evaluate/verify/telling.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/kernels/kernels.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/verify/alike.h"

namespace hone::evaluate {
namespace {

using task::Prim;

/// Of either sign, evenly spread over the bit patterns of f32: seven in each binade.
constexpr int kPointsTried = 2048;
/// Of one node's; a sine has as many as there are numbers.
constexpr size_t kMostOfANode = 16, kMostOfAnInput = 96;

/// An element of the result is an element of the operand.
bool moves(Prim op) {
  switch (op) {
    case Prim::kBroadcast: case Prim::kReshape: case Prim::kTranspose: case Prim::kSlice: case Prim::kFlip: return true;
    default: return false;
  }
}

constexpr int kOfNothing = -1, kOfSeveral = -2;

/// A graph as a function of one number: each node that hangs on one input, element by element, and on constants.
class Curves {
 public:
  explicit Curves(const task::ConcreteGraph& graph) : graph_(graph) {
    for (const task::Node& node : graph.graph.nodes) inputs_.push_back(input_of(node));
  }

  /// Which input a node hangs on: its node, kOfNothing or kOfSeveral.
  [[nodiscard]] int input(size_t id) const { return inputs_[id]; }

  /// What the nodes that hang on `input` come to at these numbers; empty for others.
  [[nodiscard]] std::vector<std::vector<double>> at(int input, const std::vector<double>& numbers) const {
    std::vector<std::vector<double>> values(inputs_.size());
    for (size_t id = 0; id < inputs_.size(); ++id)
      if (inputs_[id] == input || inputs_[id] == kOfNothing) values[id] = value(id, values, numbers);
    return values;
  }

 private:
  [[nodiscard]] int input_of(const task::Node& node) const {
    const auto id = static_cast<int>(&node - graph_.graph.nodes.data());
    if (node.prim == Prim::kInput) return task::is_float(node.type.dtype) ? id : kOfSeveral;
    if (node.prim == Prim::kConstant || node.prim == Prim::kSymbol) return kOfNothing;
    if (!task::is_elementwise(node.prim) && !moves(node.prim)) return kOfSeveral;
    int found = kOfNothing;
    for (const int operand : node.operands) {
      const int of = inputs_[static_cast<size_t>(operand)];
      if (of == kOfNothing) continue;
      if (of == kOfSeveral || (found != kOfNothing && found != of)) return kOfSeveral;
      found = of;
    }
    return found;
  }

  [[nodiscard]] std::vector<double> value(size_t id, const std::vector<std::vector<double>>& values, const std::vector<double>& numbers) const {
    const task::Node& node = graph_.graph.nodes[id];
    const auto n = static_cast<int64_t>(numbers.size());
    const auto operand = [&](size_t k) { return values[static_cast<size_t>(node.operands[k])].data(); };
    std::vector<double> y(numbers.size());
    if (node.prim == Prim::kInput) return numbers;
    if (node.prim == Prim::kConstant) std::fill(y.begin(), y.end(), number_attr(node, "value"));
    else if (node.prim == Prim::kSymbol) std::fill(y.begin(), y.end(), static_cast<double>(node.attr<task::IntExpr>("value").eval(graph_.bindings).value_or(0)));
    else if (moves(node.prim)) std::copy_n(operand(0), n, y.begin());
    else if (node.prim == Prim::kCast) std::transform(operand(0), operand(0) + n, y.begin(), [&](double v) { return task::is_float(node.type.dtype) ? v : round_to(node.type.dtype, v); });
    else if (node.prim == Prim::kWhere) kernels().select(n, operand(0), operand(1), operand(2), y.data());
    else if (node.operands.size() == 1) kernels().unary(node.prim, n, operand(0), y.data());
    else kernels().binary(node.prim, n, operand(0), operand(1), y.data());
    return y;
  }

  const task::ConcreteGraph& graph_;
  std::vector<int> inputs_;
};

/// What two neighbouring numbers have in common unless something turns between them. `end`: what is reached far out.
int class_of(task::DType type, double value, double end) {
  if (std::isnan(value)) return 0;
  if (!task::is_float(type)) return value == 0 ? 1 : 2;
  const double held = round_to(type, value);
  const int sign = std::signbit(value) ? 16 : 0;
  if (std::isinf(held)) return 1 + sign;
  if (value == 0) return 2;
  if (std::abs(value) < task::smallest_normal(type)) return 3;
  return (held == round_to(type, end) ? 5 : 4) + sign;
}

/// Numbers of f32 in order.
double number_at(int64_t place) {
  const float v = std::bit_cast<float>(static_cast<uint32_t>(std::abs(place)));
  return place < 0 ? -double{v} : double{v};
}

/// Of f(place) for places `low` and `high`, where classes differ: the first of the class that `high` has.
template <class ClassAt>
double turn_between(int64_t low, int64_t high, ClassAt class_at) {
  const int beyond = class_at(high);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (class_at(middle) == beyond ? high : low) = middle;
  }
  return number_at(high);
}

const std::vector<int64_t>& places_tried() {
  static const std::vector<int64_t> all = [] {
    constexpr int64_t kLargest = 0x7f7fffff;
    std::vector<int64_t> places{0};
    for (int64_t i = 1; i <= kPointsTried; ++i) places.push_back(kLargest * i / kPointsTried), places.push_back(-places.back());
    std::sort(places.begin(), places.end());
    return places;
  }();
  return all;
}

/// Turns of a value that `value_at` says, and is `values` at the places tried. Of more than kMostOfANode every so many-th.
template <class ValuesAt>
void add_turns(task::DType type, const std::vector<double>& values, ValuesAt value_at, std::set<double>& found) {
  const std::vector<int64_t>& places = places_tried();
  const auto class_at = [&](int64_t place, double value) { return class_of(type, value, place < 0 ? values.front() : values.back()); };
  std::vector<size_t> turns;
  for (size_t i = 1; i < places.size(); ++i)
    if (class_at(places[i - 1], values[i - 1]) != class_at(places[i], values[i])) turns.push_back(i);
  const size_t step = turns.size() / kMostOfANode + 1;
  for (size_t t = 0; t < turns.size(); t += step)
    found.insert(turn_between(places[turns[t] - 1], places[turns[t]], [&](int64_t place) { return class_at(place, value_at(place)); }));
}

std::vector<double> numbers_tried() {
  std::vector<double> numbers;
  for (const int64_t place : places_tried()) numbers.push_back(number_at(place));
  return numbers;
}

/// Of the function alone, whatever its operand hangs on.
const std::set<double>& turns_of(Prim op, task::DType type) {
  thread_local std::map<std::pair<Prim, task::DType>, std::set<double>> known;
  const auto [it, is_new] = known.try_emplace({op, type});
  if (!is_new) return it->second;
  const auto value_at = [&](int64_t place) {
    double y = number_at(place);
    kernels().unary(op, 1, &y, &y);
    return y;
  };
  std::vector<double> values = numbers_tried();
  kernels().unary(op, static_cast<int64_t>(values.size()), values.data(), values.data());
  add_turns(type, values, value_at, it->second);
  return it->second;
}

/// And what it stands for where it is the bits of an f32.
void add_number(double value, std::set<double>& found) {
  const bool as_bits = value > 0x1p23 && value < 0x1p32 && value == std::floor(value);
  for (const double number : {value, as_bits ? double{std::bit_cast<float>(static_cast<uint32_t>(value))} : 0.0})
    if (number != 0 && std::isfinite(number)) found.insert({number, -number});
}

}  // namespace

bool is_elementwise(const task::Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const task::Node& node) {
    switch (node.prim) {
      case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota: return true;
      default: return task::is_elementwise(node.prim) || moves(node.prim);
    }
  });
}

std::vector<std::vector<double>> turning_points(const task::ConcreteGraph& graph) {
  const Curves curves(graph);
  std::vector<std::set<double>> found(graph.graph.inputs.size());
  const std::vector<double> numbers = numbers_tried();
  for (size_t i = 0; i < found.size(); ++i) {
    const int input = graph.graph.inputs[i];
    if (curves.input(static_cast<size_t>(input)) != input) continue;
    const auto values = curves.at(input, numbers);
    for (size_t id = 0; id < values.size(); ++id) {
      const task::Node& node = graph.graph.nodes[id];
      if (curves.input(id) != input || moves(node.prim) || found[i].size() >= kMostOfAnInput) continue;
      add_turns(node.type.dtype, values[id], [&](int64_t place) { return curves.at(input, {number_at(place)})[id][0]; }, found[i]);
    }
  }
  std::set<double> of_all;
  for (size_t id = 0; id < graph.graph.nodes.size(); ++id) {
    const task::Node& node = graph.graph.nodes[id];
    if (curves.input(id) == kOfSeveral && task::is_elementwise(node.prim) && node.operands.size() == 1 && node.prim != Prim::kCast && task::is_float(node.type.dtype))
      of_all.insert(turns_of(node.prim, node.type.dtype).begin(), turns_of(node.prim, node.type.dtype).end());
  }
  std::vector<std::vector<double>> all;
  for (std::set<double>& points : found) {
    points.insert(of_all.begin(), of_all.end());
    points.erase(0.0);
    all.emplace_back(points.begin(), points.end());
  }
  return all;
}

std::vector<double> numbers_in(std::string_view source) {
  std::set<double> found;
  for (size_t at = 0; at < source.size(); ++at) {
    const auto is = [&](size_t where, auto test) { return where < source.size() && test(static_cast<unsigned char>(source[where])); };
    const bool digit = is(at, [](int c) { return std::isdigit(c) != 0; });
    const bool point = source[at] == '.' && is(at + 1, [](int c) { return std::isdigit(c) != 0; });
    if (!digit && !point) continue;
    const bool in_word = at > 0 && (std::isalnum(static_cast<unsigned char>(source[at - 1])) != 0 || source[at - 1] == '_' || source[at - 1] == '.');
    const bool hexadecimal = source[at] == '0' && at + 1 < source.size() && (source[at + 1] == 'x' || source[at + 1] == 'X');
    const size_t begin = hexadecimal ? at + 2 : at;
    double value = 0;
    const auto read = std::from_chars(source.data() + begin, source.data() + source.size(), value, hexadecimal ? std::chars_format::hex : std::chars_format::general);
    const auto end = static_cast<size_t>(read.ptr - source.data());
    if (!in_word && read.ec == std::errc{}) add_number(value, found);
    at = std::max(at, end - 1);
    while (is(at + 1, [](int c) { return std::isalnum(c) != 0 || c == '_'; })) ++at;
  }
  return {found.begin(), found.end()};
}

Telling telling_of(const task::InputSpec& spec, const DrawBounds& bounds, std::vector<double> points, bool elementwise, bool denormals) {
  using task::Domain;
  const task::DType type = spec.type.dtype;
  const bool real = spec.domain == Domain::kReal, positive = spec.domain == Domain::kPositive, unit = spec.domain == Domain::kUnit;
  const bool is_int = task::is_int(type);
  if ((!real && !positive && !unit) || spec.structure != task::Structure::kNone || !(task::is_float(type) || is_int)) return {};
  Telling telling;
  telling.points = std::move(points);
  telling.share = elementwise ? 0.875 : 0.0625;
  telling.positive = positive || unit;
  // As large as other families draw: beyond that another formula may overflow.
  const double other = type == task::DType::kF16 || task::is_f8(type) ? 1e2 : 1e4;
  telling.most = is_int ? std::ldexp(1.0, bounds.plain_bits) - 1 : unit ? 1 : bounds.any_size ? std::min(task::largest(type), 0x1p60) : other;
  const double normal = is_int ? bounds.nonzero || telling.positive ? 1 : 0 : task::smallest_normal(type);
  telling.least = denormals && !is_int ? 0 : normal;
  if (denormals && elementwise && positive && !is_int)
    for (const double point : {normal, normal * 0x1p-5, normal / task::unit_roundoff(type) * 0x1p-42}) telling.points.push_back(point);
  return telling;
}

void put_beside(std::span<std::byte> data, task::DType type, const Telling& telling, base::Rng& all, int threads) {
  std::vector<double> points;
  for (const double point : telling.points)
    if (std::abs(point) <= telling.most && (point > 0 || !telling.positive) && (task::is_float(type) || point == std::floor(point))) points.push_back(point);
  if (points.empty()) return;
  const double roundoff = task::unit_roundoff(type);
  const int bits = roundoff > 0 ? std::bit_width(static_cast<uint64_t>(1 / roundoff)) : 1;
  const auto count = static_cast<int64_t>(data.size()) / task::size_of(type);
  for_runs_of_lines(count, 1, threads, all, [&](int64_t begin, int64_t end, base::Rng& rng) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t random = rng.next_u64();
      if (static_cast<double>(random >> 40) * 0x1p-24 >= telling.share) continue;
      const double point = points[rng.below(points.size())], sign = (random & 1) != 0 ? 1 : -1;
      // Distances of all magnitudes, none being one of them.
      const double away = std::ldexp(1 + static_cast<double>(random >> 8 & 0xffff) * 0x1p-16, -2 - static_cast<int>(rng.below(static_cast<uint64_t>(bits))));
      const double apart = (random & 0xf0) == 0 ? 0 : task::is_float(type) ? away * std::abs(point) : 1;
      const double value = point + sign * apart, held = task::is_float(type) ? round_to(type, value) : value;
      if (held == 0 || std::abs(held) < telling.least || std::abs(held) > telling.most) continue;
      store_doubles(type, &value, 1, data.data(), i);
    }
  });
}

}  // namespace hone::evaluate
