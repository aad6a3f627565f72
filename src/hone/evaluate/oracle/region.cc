#include "hone/evaluate/oracle/region.h"

#include <algorithm>
#include <cmath>

#include "hone/evaluate/oracle/attributes.h"

namespace hone::evaluate {
namespace {

using task::Node;
using task::Prim;
using task::Shape;

/// Products formed in the time that an operand element takes to be read and converted.
constexpr double kProductsPerRead = 16;

/// Keeps [low, high) inside [0, extent); empty stays empty.
void put_range(Box& box, size_t d, int64_t low, int64_t high, int64_t extent) {
  low = std::max<int64_t>(low, 0);
  high = std::min(high, extent);
  box.start[d] = std::min(low, extent);
  box.extent[d] = std::max<int64_t>(high - low, 0);
}

Box broadcast_operand(const Shape& shape, const Box& result) {
  if (shape.empty()) return {};
  Box box = result;
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] == 1) box.start[d] = 0, box.extent[d] = 1;
  return box;
}

/// The bounding box, in dimensions [first, last) of `shape`, of the flat range [low, high].
void put_flat_range(Box& box, const Shape& shape, size_t first, size_t last, int64_t low,
                    int64_t high) {
  for (size_t d = first; d < last; ++d) {
    int64_t step = 1;
    for (size_t e = d + 1; e < last; ++e) step *= shape[e];
    box.start[d] = low / step;
    box.extent[d] = high / step - low / step + 1;
    if (box.extent[d] > 1) {  // the range wraps: all of what lies inside
      for (size_t e = d + 1; e < last; ++e) box.start[e] = 0, box.extent[e] = shape[e];
      return;
    }
    low %= step;
    high %= step;
  }
}

/// Groups of dimensions with equal products map to each other on their own.
Box reshape_operand(const Shape& from, const Shape& to, const Box& result) {
  Box box = whole(from);
  if (is_empty(result)) return box;
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t i_end = i, j_end = j;
    int64_t p = 1, q = 1;
    if (i_end < from.size()) p *= from[i_end++];
    if (j_end < to.size()) q *= to[j_end++];
    while (p != q) {
      if (p < q && i_end < from.size()) p *= from[i_end++];
      else if (j_end < to.size()) q *= to[j_end++];
      else p *= from[i_end++];
    }
    // A trailing run of ones belongs to the last group.
    if (i_end == from.size())
      while (j_end < to.size()) q *= to[j_end++];
    if (j_end == to.size())
      while (i_end < from.size()) p *= from[i_end++];
    int64_t low = 0, high = 0;
    for (size_t d = j; d < j_end; ++d) {
      low = low * to[d] + result.start[d];
      high = high * to[d] + result.start[d] + result.extent[d] - 1;
    }
    put_flat_range(box, from, i, i_end, low, high);
    i = i_end;
    j = j_end;
  }
  return box;
}

Box dot_operand(const EinsumSpec& spec, size_t operand, const Shape& shape, const Box& result) {
  const std::string& letters = operand == 0 ? spec.a : spec.b;
  Box box = whole(shape);
  for (size_t d = 0; d < letters.size(); ++d) {
    const size_t at = spec.result.find(letters[d]);
    if (at == std::string::npos) continue;
    box.start[d] = result.start[at];
    box.extent[d] = result.extent[at];
  }
  return box;
}

/// Channels of a grouped operand with `per_group` of its own for each group.
void put_groups(Box& box, size_t d, int64_t first_group, int64_t last_group, int64_t per_group) {
  box.start[d] = first_group * per_group;
  box.extent[d] = (last_group - first_group + 1) * per_group;
}

Box conv_operand(const Node& node, size_t operand, const Shape& x, const Shape& w,
                 const Shape& shape, const Box& result) {
  const Window window = window_of(node, w);
  const bool transposed = node.prim == Prim::kConvTranspose;
  const int64_t outputs_per_group = transposed ? w[1] : w[0] / window.groups;
  const int64_t inputs_per_group = x[1] / window.groups;
  const int64_t first = result.start[1] / outputs_per_group;
  const int64_t last = (result.start[1] + result.extent[1] - 1) / outputs_per_group;
  Box box = whole(shape);
  if (operand == 1) {
    if (transposed) {
      put_groups(box, 0, first, last, inputs_per_group);
      if (window.groups == 1) box.start[1] = result.start[1], box.extent[1] = result.extent[1];
    } else {
      box.start[0] = result.start[1];
      box.extent[0] = result.extent[1];
    }
    return box;
  }
  box.start[0] = result.start[0];
  box.extent[0] = result.extent[0];
  put_groups(box, 1, first, last, inputs_per_group);
  for (size_t s = 0; s < window.kernel.size(); ++s) {
    const int64_t low = result.start[s + 2], high = low + result.extent[s + 2] - 1;
    const int64_t reach = (window.kernel[s] - 1) * window.dilation[s];
    const int64_t pad = window.padding_low[s], stride = window.stride[s];
    if (transposed) {
      const int64_t from = low + pad - reach;
      put_range(box, s + 2, from > 0 ? (from + stride - 1) / stride : 0,
                high + pad < 0 ? 0 : (high + pad) / stride + 1, x[s + 2]);
    } else {
      put_range(box, s + 2, low * stride - pad, high * stride - pad + reach + 1, x[s + 2]);
    }
  }
  return box;
}

Box pool_operand(const Node& node, const Shape& x, const Box& result) {
  const Window window = window_of(node, {});
  Box box = result;
  const size_t lead = x.size() - window.kernel.size();
  for (size_t s = 0; s < window.kernel.size(); ++s) {
    const size_t d = lead + s;
    const int64_t low = result.start[d] * window.stride[s] - window.padding_low[s];
    const int64_t high = low + (result.extent[d] - 1) * window.stride[s];
    put_range(box, d, low, high + (window.kernel[s] - 1) * window.dilation[s] + 1, x[d]);
  }
  return box;
}

}  // namespace

Box operand_box(const task::ConcreteGraph& graph, int id, size_t operand, const Box& result) {
  const Node& node = graph.graph.node(id);
  const auto shape_of = [&](size_t k) -> const Shape& {
    return graph.shapes[static_cast<size_t>(node.operands[k])];
  };
  const Shape& shape = shape_of(operand);
  Box box = result;
  switch (node.prim) {
    case Prim::kReshape: return reshape_operand(shape, graph.shapes[static_cast<size_t>(id)], result);
    case Prim::kTranspose: {
      const auto perm = ints_attr(node, "perm");
      for (size_t i = 0; i < perm.size(); ++i) {
        box.start[static_cast<size_t>(perm[i])] = result.start[i];
        box.extent[static_cast<size_t>(perm[i])] = result.extent[i];
      }
      return box;
    }
    case Prim::kSlice: {
      const auto start = ints_attr(node, "start"), step = ints_attr(node, "step");
      for (size_t d = 0; d < shape.size(); ++d) {
        box.start[d] = start[d] + result.start[d] * step[d];
        box.extent[d] = (result.extent[d] - 1) * step[d] + 1;
      }
      return box;
    }
    case Prim::kConcat: {
      const auto axis = static_cast<size_t>(int_attr(node, "axis"));
      int64_t before = 0;
      for (size_t k = 0; k < operand; ++k) before += shape_of(k)[axis];
      put_range(box, axis, result.start[axis] - before,
                result.start[axis] + result.extent[axis] - before, shape[axis]);
      return box;
    }
    case Prim::kPad: {
      const auto low = ints_attr(node, "low");
      for (size_t d = 0; d < shape.size(); ++d)
        put_range(box, d, result.start[d] - low[d], result.start[d] + result.extent[d] - low[d],
                  shape[d]);
      return box;
    }
    case Prim::kFlip:
      for (const int64_t axis : ints_attr(node, "axes")) {
        const auto d = static_cast<size_t>(axis);
        box.start[d] = shape[d] - result.start[d] - result.extent[d];
      }
      return box;
    case Prim::kSum: case Prim::kProd: case Prim::kMax: case Prim::kMin: case Prim::kAny:
    case Prim::kAll: case Prim::kArgMax: case Prim::kArgMin:
      for (const int64_t axis : ints_attr(node, "axes")) {
        box.start[static_cast<size_t>(axis)] = 0;
        box.extent[static_cast<size_t>(axis)] = shape[static_cast<size_t>(axis)];
      }
      return box;
    case Prim::kCumSum: case Prim::kCumProd: case Prim::kCumMax: case Prim::kCumMin:
    case Prim::kCumLogSumExp: case Prim::kLinearScan: {
      const auto d = static_cast<size_t>(int_attr(node, "axis"));
      const int64_t end = result.start[d] + result.extent[d];
      const bool reverse = bool_attr(node, "reverse");
      box.start[d] = reverse ? result.start[d] : 0;
      box.extent[d] = reverse ? shape[d] - result.start[d] : end;
      return box;
    }
    case Prim::kDot: return dot_operand(einsum_spec(node), operand, shape, result);
    case Prim::kConv:
    case Prim::kConvTranspose:
      return conv_operand(node, operand, shape_of(0), shape_of(1), shape, result);
    case Prim::kPoolMax:
    case Prim::kPoolSum: return pool_operand(node, shape, result);
    case Prim::kGather: {
      const auto axis = static_cast<size_t>(int_attr(node, "axis"));
      const size_t inserted = shape_of(1).size();
      if (operand == 1) {
        const auto d = static_cast<std::ptrdiff_t>(axis), n = static_cast<std::ptrdiff_t>(inserted);
        return {Shape(result.start.begin() + d, result.start.begin() + d + n),
                Shape(result.extent.begin() + d, result.extent.begin() + d + n)};
      }
      box = whole(shape);
      for (size_t d = 0; d < shape.size(); ++d) {
        if (d == axis) continue;
        const size_t from = d < axis ? d : d + inserted - 1;
        box.start[d] = result.start[from];
        box.extent[d] = result.extent[from];
      }
      return box;
    }
    case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin: {
      if (operand == 0) return result;
      const auto axis = static_cast<size_t>(int_attr(node, "axis"));
      box.start[axis] = 0;
      box.extent[axis] = shape[axis];
      return box;
    }
    case Prim::kTakeAlongAxis:
      if (operand == 1) return result;
      [[fallthrough]];
    case Prim::kSort:
    case Prim::kArgSort: {
      const auto axis = static_cast<size_t>(int_attr(node, "axis"));
      box.start[axis] = 0;
      box.extent[axis] = shape[axis];
      return box;
    }
    default: return broadcast_operand(shape, result);
  }
}

double work_per_element(const task::ConcreteGraph& graph, int id) {
  const Node& node = graph.graph.node(id);
  const auto shape_of = [&](size_t k) -> const Shape& {
    return graph.shapes[static_cast<size_t>(node.operands[k])];
  };
  switch (node.prim) {
    case Prim::kDot: {
      const EinsumSpec spec = einsum_spec(node);
      double length = 1;
      for (size_t d = 0; d < spec.a.size(); ++d)
        if (spec.result.find(spec.a[d]) == std::string::npos)
          length *= static_cast<double>(shape_of(0)[d]);
      return 1 + length / kProductsPerRead;
    }
    case Prim::kConv:
    case Prim::kConvTranspose: {
      const Shape& w = shape_of(1);
      const auto outputs = static_cast<double>(node.prim == Prim::kConv ? w[0] : w[1]);
      return 1 + static_cast<double>(task::element_count(w)) / outputs / (kProductsPerRead / 2);  // taps are gathered too
    }
    case Prim::kPoolMax:
    case Prim::kPoolSum: {
      double length = 1;
      for (const int64_t k : ints_attr(node, "kernel")) length *= static_cast<double>(k);
      return 1 + length;
    }
    case Prim::kSort:
    case Prim::kArgSort: return 16;
    default: return 1;  // reductions are paid for by their operands' boxes
  }
}

}  // namespace hone::evaluate
