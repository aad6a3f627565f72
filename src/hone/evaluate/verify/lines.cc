#include "hone/evaluate/verify/lines.h"

#include <algorithm>
#include <cmath>

#include "hone/evaluate/oracle/attributes.h"
#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/step.h"
#include "hone/evaluate/verify/alike.h"
#include "hone/evaluate/verify/telling.h"

namespace hone::evaluate {
namespace {

using task::DType;
using task::Prim;

/// A number that the task spells out, however it is laid out; NaN for others.
double constant_of(const task::ConcreteGraph& graph, int id) {
  const task::Node& node = laid_out_from(graph.graph, id);
  if (node.prim == Prim::kConstant) return number_attr(node, "value");
  if (node.prim == Prim::kSymbol) return static_cast<double>(node.attr<task::IntExpr>("value").eval(graph.bindings).value_or(0));
  return NAN;
}

/// By how many bits a node's numbers may be larger than its operands': 0 where it moves or compares them; infinity where it is neither that nor
/// linear in them.
double growth_of(const task::ConcreteGraph& graph, int id) {
  const task::Node& node = graph.graph.node(id);
  const auto elements = [&](int of) { return static_cast<double>(task::element_count(graph.shapes[static_cast<size_t>(of)])); };
  const auto by = [&](size_t k, double power) {
    const double factor = std::abs(constant_of(graph, node.operands[k]));
    return factor > 0 ? std::max(0.0, power * std::log2(factor)) : HUGE_VAL;  // NaN too
  };
  switch (node.prim) {
    case Prim::kInput: case Prim::kConstant: case Prim::kSymbol: case Prim::kIota: case Prim::kPad: return 0;
    case Prim::kCast: {
      // Nobody says which whole number a float becomes that is too large for it, and narrower floats become infinite.
      const DType from = graph.graph.node(node.operands[0]).type.dtype, to = node.type.dtype;
      const bool holds = !task::is_float(from) || (task::is_float(to) && task::largest(to) >= task::largest(from)) || to == DType::kBool;
      return holds ? 0 : HUGE_VAL;
    }
    case Prim::kAdd: case Prim::kSub: return 1;
    case Prim::kSum: return std::log2(elements(node.operands[0]) / std::max(1.0, elements(id)));
    case Prim::kCumSum: case Prim::kPoolSum: return std::log2(std::max(1.0, elements(node.operands[0])));
    case Prim::kMul: return std::min(by(0, 1), by(1, 1));
    case Prim::kDiv: return by(1, -1);
    default: return keeps_exact(node.prim) ? 0 : HUGE_VAL;
  }
}

/// The same of the whole graph, one after another; at most so much.
double growth_of(const task::ConcreteGraph& graph) {
  double growth = 0;
  for (size_t id = 0; id < graph.graph.nodes.size(); ++id)
    if (task::is_float(graph.graph.nodes[id].type.dtype) || graph.graph.nodes[id].prim == Prim::kCast) growth += growth_of(graph, static_cast<int>(id));
  return growth;
}

/// Something is added to, or compared with, a number that the task spells out: an epsilon, say. Below it another formula counts.
bool knows_a_size(const task::ConcreteGraph& graph) {
  return std::ranges::any_of(graph.graph.nodes, [&](const task::Node& node) {
    switch (node.prim) {
      case Prim::kAdd: case Prim::kSub: case Prim::kMaximum: case Prim::kMinimum: case Prim::kLt: case Prim::kLe: case Prim::kGt: case Prim::kGe:
        return std::ranges::any_of(node.operands, [&](int k) { return std::abs(constant_of(graph, k)) > 0; });
      default: return false;
    }
  });
}

/// By how many bits numbers may be smaller than they were drawn, such that squares and their sums stay normal numbers of fp32, and those of f16
/// are a few steps of it at least.
double most_smaller(DType type) { return type == DType::kF16 ? 14 : 40; }

/// A value of one line's kind.
class Filler {
 public:
  Filler(const FilledLines& lines, DType type, bool whole, bool plain, base::Rng& rng) : lines_(lines), is_float_(task::is_float(type)), rng_(rng) {
    way_ = plain && (lines.kind == FilledLines::Kind::kTruth || lines.kind == FilledLines::Kind::kIndex) ? 0 : rng.below(lines.kind == FilledLines::Kind::kTruth && !whole ? 5 : 4);
    same_ = static_cast<double>(way_ < 2 ? 0 : way_ == 2 ? lines.bound - 1 : static_cast<int64_t>(rng.below(static_cast<uint64_t>(lines.bound))));
    denormal_ = lines.denormal > 0 && way_ == 3;
    if (lines.kind == FilledLines::Kind::kSmall) same_ = std::ldexp(1.0, -static_cast<int>(rng.below(static_cast<uint64_t>(lines.most) + 1)));
  }

  /// Of place `k` of a line, where `drawn` is; `spared` is one of its places.
  double at(int64_t k, int64_t spared, bool whole, double drawn) {
    switch (lines_.kind) {
      case FilledLines::Kind::kTruth:
        if (whole) return way_ < 2 ? 1 : 0;
        return way_ == 0 ? 0 : way_ == 1 ? 1 : way_ == 2 ? (k == spared ? 1 : 0) : way_ == 3 ? (k == spared ? 0 : 1) : k < spared ? 1 : 0;
      case FilledLines::Kind::kIndex: return same_;
      case FilledLines::Kind::kUnit: {
        const double small = std::ldexp(fraction(), way_ < 2 ? -12 : -20);
        return way_ % 2 == 0 ? 1 - small : small;
      }
      case FilledLines::Kind::kEnds: {
        const double sign = lines_.positive || way_ == 0 ? 1 : -1;
        if (denormal_) return (lines_.positive || fraction() < 0.5 ? 1 : -1) * lines_.denormal * (1 + std::floor(fraction() * 0x1p20)) * 0x1p-21;
        // Within a quarter of the end: no two numbers need be the same.
        const double value = sign * lines_.most * (1 - fraction() / 4);
        return is_float_ ? value : std::trunc(value);
      }
      case FilledLines::Kind::kSmall: return drawn * same_;
      case FilledLines::Kind::kNone: break;
    }
    return 0;
  }

 private:
  double fraction() { return static_cast<double>(rng_.next_u64() >> 40) * 0x1p-24; }

  const FilledLines& lines_;
  bool is_float_;
  base::Rng& rng_;
  uint64_t way_;
  double same_;
  bool denormal_;
};

}  // namespace

std::vector<FilledLines> lines_of(const task::Task& task, const task::ConcreteGraph& graph, std::span<const DrawBounds> bounds, bool denormals) {
  using task::Domain;
  const double growth = growth_of(graph);
  const bool sized = !is_elementwise(graph.graph) && knows_a_size(graph);
  std::vector<FilledLines> all;
  for (size_t i = 0; i < task.inputs.size(); ++i) {
    const task::InputSpec& spec = task.inputs[i];
    const DType type = spec.type.dtype;
    FilledLines lines;
    lines.positive = spec.domain == Domain::kPositive;
    const bool real = spec.domain == Domain::kReal || lines.positive;
    if (spec.structure != task::Structure::kNone) {
      all.push_back(lines);
      continue;
    }
    if (type == DType::kBool) {
      lines.kind = FilledLines::Kind::kTruth;
    } else if (spec.domain == Domain::kIndex) {
      lines.kind = FilledLines::Kind::kIndex;
      lines.bound = std::max<int64_t>(bounds[i].index, 1);
    } else if (spec.domain == Domain::kUnit && task::is_float(type)) {
      lines.kind = FilledLines::Kind::kUnit;
    } else if (real && task::is_int(type) && bounds[i].plain_bits > 0) {
      lines.kind = FilledLines::Kind::kEnds;
      const int bits = std::min<int>(bounds[i].plain_bits, 8 * static_cast<int>(task::size_of(type)) - 1);
      lines.most = std::ldexp(1.0, bits) - 1;
    } else if (real && task::is_float(type) && !task::is_f8(type) && std::isfinite(growth)) {
      lines.kind = FilledLines::Kind::kEnds;
      lines.most = growth == 0 ? task::largest(type) : std::ldexp(task::largest(type), -1 - static_cast<int>(std::ceil(growth)));
      if (denormals && growth == 0 && (type == DType::kF32 || type == DType::kF64)) lines.denormal = task::smallest_normal(type);
    } else if (real && task::is_float(type) && !task::is_f8(type) && sized) {
      lines.kind = FilledLines::Kind::kSmall;
      lines.most = most_smaller(type);
    }
    all.push_back(lines);
  }
  return all;
}

void fill_lines(std::span<std::byte> data, const task::Shape& shape, DType type, const FilledLines& lines, bool whole, bool plain, base::Rng& all, int threads) {
  if (lines.kind == FilledLines::Kind::kNone || data.empty()) return;
  const auto total = static_cast<int64_t>(data.size()) / task::size_of(type);
  int64_t stride = 1, extent = total;
  if (!whole && !shape.empty()) {
    // The last axis as often as all others.
    const size_t last = shape.size() - 1, axis = last == 0 || all.below(2) == 0 ? last : all.below(last);
    for (size_t d = axis + 1; d < shape.size(); ++d) stride *= shape[d];
    extent = shape[axis];
  }
  for_runs_of_lines(total / extent, extent, threads, all, [&](int64_t begin, int64_t end, base::Rng& rng) {
    for (int64_t line = begin; line < end; ++line) {
      if (!whole && rng.below(4) == 0) continue;
      const int64_t first = line / stride * stride * extent + line % stride;
      Filler filler(lines, type, whole, plain, rng);
      const int64_t spared = exception_of(extent, rng);
      for (int64_t k = 0; k < extent; ++k) {
        double drawn = 0;
        load_doubles(type, data.data(), first + k * stride, 1, &drawn);
        const double value = filler.at(k, spared, whole, drawn);
        store_doubles(type, &value, 1, data.data(), first + k * stride);
      }
    }
  });
}

}  // namespace hone::evaluate
