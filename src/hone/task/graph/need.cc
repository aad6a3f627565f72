#include "hone/task/graph/need.h"

#include <algorithm>

namespace hone::task {
namespace {

using Ints = std::vector<int64_t>;

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

/// [low, high] cut to [0, extent).
Range clipped(int64_t low, int64_t high, int64_t extent) {
  low = std::max<int64_t>(low, 0);
  high = std::min(high, extent - 1);
  return {low, std::max<int64_t>(0, high - low + 1), 1};
}

/// What windows over an axis read.
Range window_range(const Range& out, int64_t kernel, int64_t stride, int64_t low, int64_t dilation,
                   int64_t extent) {
  if (kernel == 1 && low == 0 && stride > 1) return {out.start * stride, out.count, out.step * stride};
  Range range = clipped(out.start * stride - low, out.last() * stride - low + dilation * (kernel - 1),
                        extent);
  range.count = std::min(range.count, out.count * kernel);  // windows with gaps between them
  return range;
}

/// Walks the graph from the outputs to the inputs.
class Walker {
 public:
  explicit Walker(const ConcreteGraph& graph) : graph_(graph), needs_(graph.graph.nodes.size()) {}

  std::vector<Need> run() {
    for (const int id : graph_.graph.outputs) needs_[static_cast<size_t>(id)].add(whole_region(shape(id)));
    for (int id = static_cast<int>(needs_.size()); id-- > 0;) {
      const std::vector<Region> regions = needs_[static_cast<size_t>(id)].regions();
      for (const Region& region : regions) visit(graph_.graph.node(id), shape(id), region);
    }
    return std::move(needs_);
  }

 private:
  [[nodiscard]] const Shape& shape(int id) const { return graph_.shapes[static_cast<size_t>(id)]; }
  [[nodiscard]] const Shape& in(const Node& node, size_t i) const { return shape(node.operands[i]); }
  void want(const Node& node, size_t i, Region region) {
    needs_[static_cast<size_t>(node.operands[i])].add(std::move(region));
  }

  void visit(const Node& node, const Shape& result, const Region& region) {
    if (is_elementwise(node.prim) || node.prim == Prim::kBroadcast) {
      for (size_t i = 0; i < node.operands.size(); ++i) want(node, i, broadcast(region, in(node, i)));
      return;
    }
    if (is_reduction(node.prim)) return reduction(node, region);
    if (is_scan(node.prim)) return scan(node, region);
    switch (node.prim) {
      case Prim::kReshape:
        return want(node, 0, reshape_region(region, result, in(node, 0)));
      case Prim::kTranspose:
        return transpose(node, region);
      case Prim::kSlice:
        return slice(node, region);
      case Prim::kConcat:
        return concat(node, region);
      case Prim::kPad:
        return pad(node, region);
      case Prim::kFlip:
        return flip(node, region);
      case Prim::kDot:
        return dot(node, region);
      case Prim::kConv:
        return conv(node, result, region);
      case Prim::kConvTranspose:
        return conv_transpose(node, result, region);
      case Prim::kPoolMax:
      case Prim::kPoolSum:
        return pool(node, region);
      case Prim::kGather:
        return gather(node, region);
      case Prim::kTakeAlongAxis:
        return take_along_axis(node, region);
      case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin:
        return scatter_add(node, region);
      case Prim::kSort:
      case Prim::kArgSort:
        return whole_axis(node, region, node.attr<int64_t>("axis"));
      default:
        return;
    }
  }

  static Region broadcast(const Region& region, const Shape& operand) {
    Region result;
    for (size_t i = 0; i < operand.size(); ++i)
      result.push_back(operand[i] == 1 ? Range{0, 1, 1} : region[i]);
    return result;
  }

  void whole_axis(const Node& node, Region region, int64_t axis) {
    const auto at = static_cast<size_t>(axis);
    region[at] = {0, in(node, 0)[at], 1};
    want(node, 0, std::move(region));
  }

  void reduction(const Node& node, Region region) {
    for (const int64_t axis : node.attr<Ints>("axes")) {
      const auto at = static_cast<size_t>(axis);
      region[at] = {0, in(node, 0)[at], 1};
    }
    want(node, 0, std::move(region));
  }

  void scan(const Node& node, Region region) {
    const auto at = static_cast<size_t>(node.attr<int64_t>("axis"));
    const int64_t extent = in(node, 0)[at];
    const int64_t skip = node.attr<bool>("exclusive") ? 1 : 0;
    Range& range = region[at];
    range = node.attr<bool>("reverse") ? clipped(range.start + skip, extent - 1, extent)
                                       : clipped(0, range.last() - skip, extent);
    for (size_t i = 0; i < node.operands.size(); ++i) want(node, i, region);
  }

  void transpose(const Node& node, const Region& region) {
    const Ints& perm = node.attr<Ints>("perm");
    Region result(region.size());
    for (size_t i = 0; i < perm.size(); ++i) result[static_cast<size_t>(perm[i])] = region[i];
    want(node, 0, std::move(result));
  }

  void slice(const Node& node, Region region) {
    const Ints& start = node.attr<Ints>("start");
    const Ints& step = node.attr<Ints>("step");
    for (size_t i = 0; i < region.size(); ++i) {
      region[i].start = start[i] + region[i].start * step[i];
      region[i].step = region[i].count == 1 ? 1 : region[i].step * step[i];
    }
    want(node, 0, std::move(region));
  }

  void concat(const Node& node, const Region& region) {
    const auto at = static_cast<size_t>(node.attr<int64_t>("axis"));
    int64_t offset = 0;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const int64_t extent = in(node, i)[at];
      want(node, i, cut(region, at, offset, extent));
      offset += extent;
    }
  }

  /// The part of one axis that falls into [offset, offset + extent), counted from offset.
  static Region cut(Region region, size_t at, int64_t offset, int64_t extent) {
    Range& range = region[at];
    const int64_t first = std::max<int64_t>(0, ceil_div(offset - range.start, range.step));
    const int64_t last = std::min(range.count - 1, floor_div(offset + extent - 1 - range.start, range.step));
    range = {range.start + first * range.step - offset, std::max<int64_t>(0, last - first + 1), range.step};
    return region;
  }

  void pad(const Node& node, Region region) {
    const Ints& low = node.attr<Ints>("low");
    for (size_t i = 0; i < region.size(); ++i) region = cut(std::move(region), i, low[i], in(node, 0)[i]);
    want(node, 0, std::move(region));
  }

  void flip(const Node& node, Region region) {
    for (const int64_t axis : node.attr<Ints>("axes")) {
      Range& range = region[static_cast<size_t>(axis)];
      range.start = in(node, 0)[static_cast<size_t>(axis)] - 1 - range.last();
    }
    want(node, 0, std::move(region));
  }

  void dot(const Node& node, const Region& region) {
    const std::string& spec = node.attr<std::string>("spec");
    const size_t arrow = spec.find("->");
    const std::string result = spec.substr(arrow + 2);
    size_t operand = 0;
    Region want_region;
    for (size_t at = 0; at <= arrow; ++at) {
      if (at == arrow || spec[at] == ',') {
        want(node, operand++, std::move(want_region));
        want_region.clear();
        continue;
      }
      const size_t axis = result.find(spec[at]);
      want_region.push_back(axis != std::string::npos ? region[axis]
                                                      : Range{0, in(node, operand)[want_region.size()], 1});
    }
  }

  /// The channels of the groups that a range of the other side's channels belongs to.
  static Range group_channels(const Range& range, int64_t per_group, int64_t other_per_group) {
    const int64_t first = range.start / per_group;
    const int64_t last = range.last() / per_group;
    return {first * other_per_group, (last - first + 1) * other_per_group, 1};
  }

  void conv(const Node& node, const Shape& result, const Region& region) {
    const int64_t groups = node.attr<int64_t>("groups");
    const Shape& x = in(node, 0);
    const Shape& w = in(node, 1);
    Region input{region[0], group_channels(region[1], result[1] / groups, w[1])};
    Region weight = whole_region(w);
    weight[0] = region[1];
    for (size_t i = 2; i < x.size(); ++i)
      input.push_back(window_range(region[i], w[i], node.attr<Ints>("stride")[i - 2],
                                   node.attr<Ints>("padding_low")[i - 2], node.attr<Ints>("dilation")[i - 2],
                                   x[i]));
    want(node, 0, std::move(input));
    want(node, 1, std::move(weight));
  }

  void conv_transpose(const Node& node, const Shape& result, const Region& region) {
    const int64_t groups = node.attr<int64_t>("groups");
    const Shape& x = in(node, 0);
    const Shape& w = in(node, 1);
    const Range channels = group_channels(region[1], result[1] / groups, x[1] / groups);
    Region input{region[0], channels};
    for (size_t i = 2; i < x.size(); ++i) {
      const int64_t stride = node.attr<Ints>("stride")[i - 2];
      const int64_t padding = node.attr<Ints>("padding")[i - 2];
      const int64_t reach = node.attr<Ints>("dilation")[i - 2] * (w[i] - 1);
      input.push_back(clipped(ceil_div(region[i].start + padding - reach, stride),
                              floor_div(region[i].last() + padding, stride), x[i]));
    }
    Region weight = whole_region(w);
    weight[0] = channels;
    if (groups == 1) weight[1] = region[1];
    want(node, 0, std::move(input));
    want(node, 1, std::move(weight));
  }

  void pool(const Node& node, Region region) {
    const Ints& kernel = node.attr<Ints>("kernel");
    const size_t plain = region.size() - kernel.size();
    for (size_t i = 0; i < kernel.size(); ++i)
      region[plain + i] = window_range(region[plain + i], kernel[i], node.attr<Ints>("stride")[i],
                                       node.attr<Ints>("padding_low")[i], node.attr<Ints>("dilation")[i],
                                       in(node, 0)[plain + i]);
    want(node, 0, std::move(region));
  }

  /// At most as many rows as there are indices.
  void gather(const Node& node, const Region& region) {
    const auto at = static_cast<size_t>(node.attr<int64_t>("axis"));
    const size_t index_rank = in(node, 1).size();
    const Region indices(region.begin() + static_cast<std::ptrdiff_t>(at),
                         region.begin() + static_cast<std::ptrdiff_t>(at + index_rank));
    Region rows(region.begin(), region.begin() + static_cast<std::ptrdiff_t>(at));
    rows.push_back(
        {0, static_cast<int64_t>(std::min(volume(indices), static_cast<double>(in(node, 0)[at]))), 1});
    rows.insert(rows.end(), region.begin() + static_cast<std::ptrdiff_t>(at + index_rank), region.end());
    want(node, 0, std::move(rows));
    want(node, 1, indices);
  }

  void take_along_axis(const Node& node, Region region) {
    want(node, 1, region);
    const auto at = static_cast<size_t>(node.attr<int64_t>("axis"));
    region[at] = {0, std::min(region[at].count, in(node, 0)[at]), 1};
    want(node, 0, std::move(region));
  }

  void scatter_add(const Node& node, Region region) {
    want(node, 0, region);
    const auto at = static_cast<size_t>(node.attr<int64_t>("axis"));
    region[at] = {0, in(node, 1)[at], 1};
    want(node, 1, region);
    want(node, 2, std::move(region));
  }

  const ConcreteGraph& graph_;
  std::vector<Need> needs_;
};

}  // namespace

std::vector<Need> needed_elements(const ConcreteGraph& graph) { return Walker(graph).run(); }

}  // namespace hone::task
