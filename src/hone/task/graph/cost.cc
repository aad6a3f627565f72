// The least work a computation takes: each input element that matters read once, each output written
// once, and the arithmetic of the primitive graph on the elements that matter. Only float arithmetic
// counts; casts and choices are free.
#include "hone/task/graph/cost.h"

#include <algorithm>
#include <cmath>

#include "hone/task/graph/need.h"
#include "hone/task/graph/prim_info.h"
#include "hone/task/graph/triangle.h"
#include "hone/task/task.h"

namespace hone::task {
namespace {

using Ints = std::vector<int64_t>;

bool is_transcendental(Prim op) { return info_of(op).kind == PrimInfo::kTranscendental || op == Prim::kCumLogSumExp; }

double count(const Shape& shape) {
  double n = 1;
  for (const int64_t extent : shape) n *= static_cast<double>(extent);
  return n;
}

/// Pairs (window, tap) of one axis that fall inside an extent: padding is not multiplied.
double inner_taps(int64_t windows, int64_t kernel, int64_t stride, int64_t low, int64_t dilation,
                  int64_t extent) {
  double taps = 0;
  for (int64_t k = 0; k < kernel; ++k) {
    // 0 <= w * stride - low + k * dilation < extent
    const int64_t shift = low - k * dilation;
    const int64_t first = shift <= 0 ? 0 : (shift + stride - 1) / stride;
    const int64_t room = extent - 1 + shift;
    const int64_t last = room < 0 ? -1 : std::min(windows - 1, room / stride);
    taps += static_cast<double>(std::max<int64_t>(0, last - first + 1));
  }
  return taps;
}

class Accountant {
 public:
  explicit Accountant(const ConcreteGraph& graph)
      : graph_(graph), needs_(needed_elements(graph)), triangles_(find_triangles(graph)) {}

  Cost run() const {
    Cost cost;
    for (int id = 0; id < static_cast<int>(needs_.size()); ++id) {
      if (needs_[static_cast<size_t>(id)].empty()) continue;
      const Node& node = graph_.graph.node(id);
      if (node.prim == Prim::kInput) cost.bytes_read += input_elements(id) * size_of(node.type.dtype);
      cost.flops += flops(id);
      if (is_transcendental(node.prim)) cost.transcendental += elements(id);
      if (double* kind = kind_of(node, cost.products)) {
        const double count = products(id);
        *kind += count;
        if (kind == &cost.products.f32 && node.prim != Prim::kDot) cost.products.convolved_f32 += count;
      }
    }
    for (const int id : graph_.graph.outputs)
      cost.bytes_written += count(shape(id)) * size_of(graph_.graph.node(id).type.dtype);
    return cost;
  }

  std::map<std::string, double> by_kind() const {
    std::map<std::string, double> kinds;
    for (int id = 0; id < static_cast<int>(needs_.size()); ++id)
      if (!needs_[static_cast<size_t>(id)].empty())
        if (const double n = flops(id); n > 0) kinds[std::string(name_of(graph_.graph.node(id).prim))] += n;
    return kinds;
  }

 private:
  [[nodiscard]] const Shape& shape(int id) const { return graph_.shapes[static_cast<size_t>(id)]; }

  /// Share of the last two axes inside the node's triangle.
  [[nodiscard]] double triangle_share(int id, const std::optional<Triangle>& t) const {
    const Shape& s = shape(id);
    if (!t || s.size() < 2) return 1;
    const int64_t rows = s[s.size() - 2];
    const int64_t columns = s[s.size() - 1];
    return triangle_count(*t, rows, columns) / (static_cast<double>(rows) * static_cast<double>(columns));
  }

  /// Elements of a node that have to be computed.
  [[nodiscard]] double elements(int id) const {
    const auto at = static_cast<size_t>(id);
    return needs_[at].count() * triangle_share(id, triangles_[at]);
  }

  [[nodiscard]] double input_elements(int id) const {
    const Node& node = graph_.graph.node(id);
    const auto structure = node.attrs.find("structure");
    if (structure != node.attrs.end() && std::get<std::string>(structure->second) == "symmetric")
      return needs_[static_cast<size_t>(id)].count() * triangle_share(id, Triangle{true, 0});
    return elements(id);
  }

  [[nodiscard]] bool is_real(const Node& node) const {
    return is_float(node.type.dtype) ||
           (!node.operands.empty() && is_float(graph_.graph.node(node.operands[0]).type.dtype));
  }

  /// The type of a value before casts that widened it.
  [[nodiscard]] DType narrowest(int id) const {
    DType least = graph_.graph.node(id).type.dtype;
    for (const Node* node = &graph_.graph.node(id); node->prim == Prim::kCast;) {
      node = &graph_.graph.node(node->operands[0]);
      const DType type = node->type.dtype;
      if (is_float(type) != is_float(least) || size_of(type) > size_of(least)) break;
      least = type;
    }
    return least;
  }

  /// Where a node's products are counted; null: they are not.
  double* kind_of(const Node& node, Products& products) const {
    if (node.prim != Prim::kDot && node.prim != Prim::kConv && node.prim != Prim::kConvTranspose)
      return nullptr;
    const DType a = narrowest(node.operands[0]), b = narrowest(node.operands[1]);
    if (a == DType::kF64 || b == DType::kF64) return &products.f64;
    if ((a == DType::kI8 && b == DType::kI8) || (is_f8(a) && is_f8(b))) return &products.i8;
    // A byte beside a number of 16 bits is widened to those.
    const auto fits_16 = [](DType type) { return is_narrow(type) || type == DType::kI8; };
    if (fits_16(a) && fits_16(b) && (is_float(a) || is_float(b))) return &products.bf16;
    return is_float(a) || is_float(b) ? &products.f32 : nullptr;
  }

  [[nodiscard]] double products(int id) const {
    const Node& node = graph_.graph.node(id);
    const double share = needs_[static_cast<size_t>(id)].count() / count(shape(id));
    const auto in = [&](size_t i) -> const Shape& { return shape(node.operands[i]); };
    switch (node.prim) {
      case Prim::kDot:
        return share * dot_products(graph_, id, triangles_);
      case Prim::kConv:
        return share * conv_products(node, shape(id), in(0), in(1));
      case Prim::kConvTranspose:
        return share * conv_transpose_products(node, shape(id), in(0), in(1));
      default:
        return 0;
    }
  }

  [[nodiscard]] double flops(int id) const {
    const Node& node = graph_.graph.node(id);
    if (!is_real(node) || node.prim == Prim::kCast || node.prim == Prim::kWhere) return 0;
    if (node.prim == Prim::kLinearScan) return 2 * elements(id);
    if (is_elementwise(node.prim) || is_scan(node.prim)) return elements(id);
    const double share = needs_[static_cast<size_t>(id)].count() / count(shape(id));
    const auto in = [&](size_t i) -> const Shape& { return shape(node.operands[i]); };
    if (is_reduction(node.prim)) {
      const auto& t = triangles_[static_cast<size_t>(node.operands[0])];
      return std::max(0.0, share * (count(in(0)) * triangle_share(node.operands[0], t) - count(shape(id))));
    }
    switch (node.prim) {
      case Prim::kDot:
      case Prim::kConv:
      case Prim::kConvTranspose:
        return 2 * products(id);
      case Prim::kPoolMax:
      case Prim::kPoolSum:
        return share * pool_operations(node, shape(id), in(0));
      case Prim::kScatterAdd: case Prim::kScatterMax: case Prim::kScatterMin:
        return share * count(in(2));
      case Prim::kSort:
      case Prim::kArgSort: {
        const auto axis = static_cast<size_t>(node.attr<int64_t>("axis"));
        return elements(id) * std::max(1.0, std::log2(static_cast<double>(in(0)[axis])));
      }
      default:
        return 0;
    }
  }

  static double conv_products(const Node& node, const Shape& result, const Shape& x, const Shape& w) {
    double n = static_cast<double>(result[0]) * static_cast<double>(result[1]) * static_cast<double>(w[1]);
    for (size_t i = 2; i < x.size(); ++i)
      n *= inner_taps(result[i], w[i], node.attr<Ints>("stride")[i - 2],
                      node.attr<Ints>("padding_low")[i - 2], node.attr<Ints>("dilation")[i - 2], x[i]);
    return n;
  }

  /// The same with the roles of x and the result exchanged.
  static double conv_transpose_products(const Node& node, const Shape& result, const Shape& x,
                                        const Shape& w) {
    double n = static_cast<double>(x[0]) * static_cast<double>(x[1]) * static_cast<double>(w[1]);
    for (size_t i = 2; i < x.size(); ++i)
      n *= inner_taps(x[i], w[i], node.attr<Ints>("stride")[i - 2], node.attr<Ints>("padding")[i - 2],
                      node.attr<Ints>("dilation")[i - 2], result[i]);
    return n;
  }

  static double pool_operations(const Node& node, const Shape& result, const Shape& x) {
    const Ints& kernel = node.attr<Ints>("kernel");
    const size_t plain = x.size() - kernel.size();
    double n = 1;
    for (size_t i = 0; i < plain; ++i) n *= static_cast<double>(result[i]);
    for (size_t i = 0; i < kernel.size(); ++i)
      n *= inner_taps(result[plain + i], kernel[i], node.attr<Ints>("stride")[i],
                      node.attr<Ints>("padding_low")[i], node.attr<Ints>("dilation")[i], x[plain + i]);
    return std::max(0.0, n - count(result));
  }

  const ConcreteGraph& graph_;
  std::vector<Need> needs_;
  std::vector<std::optional<Triangle>> triangles_;
};

}  // namespace

Cost minimal_cost(const ConcreteGraph& graph) { return Accountant(graph).run(); }

std::map<std::string, double> operations_by_kind(const ConcreteGraph& graph) {
  return Accountant(graph).by_kind();
}

}  // namespace hone::task
