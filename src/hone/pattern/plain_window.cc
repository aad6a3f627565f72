// Convolutions, transposed convolutions and pooling: a block of the last dimension at a time, tap by tap, so
// that the innermost loop goes along memory; convolutions four output channels together.
#include <fmt/format.h>

#include "hone/pattern/plain_ops.h"

namespace hone::pattern::plain {
namespace {

using task::Dims;
using task::IntExpr;
using task::Node;
using task::Prim;
using Ints = std::vector<int64_t>;

class Window {
 public:
  Window(Function& f, int id, const std::string& tensor)
      : f_(f), id_(id), tensor_(tensor), node_(f.node(id)), x_(node_.operands[0]),
        dims_(node_.type.dims), x_dims_(f.node(x_).type.dims), transposed_(node_.prim == Prim::kConvTranspose),
        stride_(node_.attr<Ints>("stride")), dilation_(node_.attr<Ints>("dilation")),
        padding_(node_.attr<Ints>(transposed_ ? "padding" : "padding_low")),
        lead_(dims_.size() - stride_.size()), last_(dims_.size() - 1) {
    at_.at.assign(dims_.size(), number(0));
  }

  void convolve() {
    const int w = node_.operands[1];
    const Dims& w_dims = f_.node(w).type.dims;
    const IntExpr& groups = node_.attr<IntExpr>("groups");
    const IntExpr& outputs = dims_[1];
    const bool one_group = is_one(groups);
    rows_ = one_group && !is_one(outputs) ? 4 : 1;
    const Running running = running_of(f_, id_);
    open_block(1, rows_);
    // Output channels, and the group they are in.
    const std::string end = f_.extent(outputs).text;
    std::vector<Text> channels;
    for (int k = 0; k < rows_; ++k)
      channels.push_back(rows_ == 1 ? at_.at[1] : f_.local("int64_t", {fmt::format("hone::plain::least({} * 4 + {}, {} - 1)", at_.at[1].text, k, end), 0}));
    start(running);
    const IntExpr per_group_in = transposed_ ? divided(x_dims_[1], groups) : w_dims[1];
    const IntExpr per_group_out = transposed_ ? w_dims[1] : divided(outputs, groups);
    const Text group = one_group ? number(0) : f_.local("int64_t", {fmt::format("{} / ({})", channels[0].text, f_.extent(per_group_out).text), 0});
    const Text c = f_.loop_over("c", per_group_in);
    Position from;
    from.at.assign(dims_.size(), number(0));
    from.at[0] = at_.at[0];
    from.at[1] = f_.index(group * f_.extent(per_group_in) + c);
    std::vector<Text> taps(stride_.size());
    std::vector<IntExpr> kernel(w_dims.begin() + 2, w_dims.end());
    open_taps(kernel, from, taps);
    std::vector<Text> weights;
    for (int k = 0; k < rows_; ++k) {
      Position at;
      if (transposed_) {
        const Text o = one_group ? channels[static_cast<size_t>(k)] : f_.local("int64_t", {fmt::format("{} % ({})", channels[static_cast<size_t>(k)].text, f_.extent(per_group_out).text), 0});
        at.at = {from.at[1], o};
      } else {
        at.at = {channels[static_cast<size_t>(k)], c};
      }
      at.at.insert(at.at.end(), taps.begin(), taps.end());
      weights.push_back(widened(value(f_, w, at)));
    }
    const std::string column = open_row(from, taps.back(), kernel.back());
    const Text x = widened(value(f_, x_, from));
    for (int k = 0; k < rows_; ++k)
      f_.line(running.take(fmt::format("sum[{}][{}]", k, column), weights[static_cast<size_t>(k)].text + " * " + x.text, ""));
    finish(channels);
  }

  void pool() {
    const Running running = running_of(f_, id_);
    open_block(lead_, 1);
    start(running);
    Position from = at_;
    std::vector<Text> taps(stride_.size());
    const auto& sizes = node_.attr<Ints>("kernel");
    std::vector<IntExpr> kernel(sizes.begin(), sizes.end());
    open_taps(kernel, from, taps);
    const std::string column = open_row(from, taps.back(), kernel.back());
    f_.line(running.take(fmt::format("sum[0][{}]", column), value(f_, x_, from).text, ""));
    finish({});
  }

 private:
  static IntExpr divided(const IntExpr& channels, const IntExpr& groups) {
    const auto exact = IntExpr::divide_exactly(channels, groups);
    return exact ? *exact : IntExpr::floor_div(channels, groups);
  }

  Text widened(const Text& x) {
    const std::string type = summing_type(node_.type.dtype);
    return f_.local(type, {fmt::format("{}({})", type, x.text), x.level});
  }

  /// The grid: blocks of the last dimension by everything else, dimension `grouped` in groups of `rows`.
  void open_block(size_t grouped, int rows) {
    f_.grid_blocks(dims_[last_], "column", "kColumns", 256);
    std::vector<std::string> names;
    std::vector<IntExpr> extents;
    for (size_t d = 0; d < last_; ++d) {
      names.push_back(fmt::format("i{}", d));
      extents.push_back(d == grouped && rows > 1 ? IntExpr::ceil_div(dims_[d], rows) : dims_[d]);
    }
    const auto positions = f_.grid(names, extents, "row");
    for (size_t d = 0; d < last_; ++d) at_.at[d] = positions[d];
    four_ = at_.at[grouped].text;
  }

  void start(const Running& running) {
    f_.line(fmt::format("{} sum[{}][hone::plain::kColumns];", running.type, rows_));
    f_.line(fmt::format("for (int64_t k = 0; k < {}; ++k)", rows_));
    f_.line(fmt::format("  for (int64_t j = 0; j < count; ++j) sum[k][j] = {};", running.start));
  }

  /// Loops over the taps; outside the operand a tap of the outer dimensions is passed over.
  void open_taps(const std::vector<IntExpr>& kernel, Position& from, std::vector<Text>& taps) {
    for (size_t s = 0; s < kernel.size(); ++s) {
      const size_t d = lead_ + s;
      taps[s] = f_.always_loop_over(fmt::format("t{}", s), kernel[s]);
      const Text offset = taps[s] * number(dilation_[s]);
      if (d == last_) continue;
      const std::string extent = f_.extent(x_dims_[d]).text;
      const std::string right = std::to_string(padding_[s]);
      const Text padding{f_.maybe(right, {{"the window moved by one", std::to_string(padding_[s] + 1)}}), 0};
      if (transposed_) {
        const Text reach = f_.local("int64_t", {(at_.at[d] + padding - offset).text, f_.level()});
        const std::string stride = std::to_string(stride_[s]);
        f_.line(fmt::format("if ({0} < 0 || {0} % {1} != 0 || {0} / {1} >= {2}) continue;", reach.text, stride, extent));
        from.at[d] = f_.local("int64_t", {fmt::format("{} / {}", reach.text, stride), f_.level()});
      } else {
        from.at[d] = f_.local("int64_t", {(at_.at[d] * number(stride_[s]) + offset - padding).text, f_.level()});
        const std::string right_end = fmt::format("if ({0} < 0 || {0} >= {1}) continue;", from.at[d].text, extent);
        f_.line(f_.maybe(right_end, {{"the operand's last element left out", fmt::format("if ({0} < 0 || {0} >= {1} - 1) continue;", from.at[d].text, extent)},
                                     {"the operand's first element left out", fmt::format("if ({0} < 1 || {0} >= {1}) continue;", from.at[d].text, extent)}}));
      }
    }
  }

  /// The loop along the last dimension over those columns of the block that this tap reaches; gives the
  /// column's place in the block.
  std::string open_row(Position& from, const Text& tap, const IntExpr& /*kernel*/) {
    const size_t s = stride_.size() - 1;
    const std::string extent = f_.extent(x_dims_[last_]).text, stride = std::to_string(stride_[s]);
    const int level = f_.level();
    const Text offset = tap * number(dilation_[s]);
    const Text padding{f_.maybe(std::to_string(padding_[s]), {{"the window moved by one", std::to_string(padding_[s] + 1)}}), 0};
    const std::string whole = f_.maybe(extent, {{"the operand's last element left out", extent + " - 1"}});
    if (transposed_) {
      // Position q of the operand goes to q * stride + shift of the result.
      const Text shift = f_.local("int64_t", {(offset - padding).text, level});
      const Text begin = f_.local("int64_t", {fmt::format("hone::plain::most(0, hone::ceil_div(start - {}, {}))", shift.text, stride), level});
      const Text end = f_.local("int64_t", {fmt::format("hone::plain::least({}, hone::ceil_div(start + count - {}, {}))", whole, shift.text, stride), level});
      from.at[last_] = f_.loop("q", begin, end);
      return fmt::format("q * {} + {} - start", stride, shift.text);
    }
    const Text shift = f_.local("int64_t", {fmt::format("start * {} + {} - {}", stride, offset.text, padding.text), level});
    const Text begin = f_.local("int64_t", {fmt::format("hone::plain::most(0, hone::ceil_div(-{}, {}))", shift.text, stride), level});
    const Text end = f_.local("int64_t", {fmt::format("hone::plain::least(count, hone::ceil_div({} - {}, {}))", whole, shift.text, stride), level});
    const Text j = f_.loop("j", begin, end);
    from.at[last_] = {stride_[s] == 1 ? fmt::format("(j + {})", shift.text) : fmt::format("(j * {} + {})", stride, shift.text), j.level};
    return "j";
  }

  void finish(const std::vector<Text>& channels) {
    while (f_.level() > 0) f_.close();
    std::string row = "0";
    if (rows_ > 1) {
      f_.loop("k", number(0), number(rows_));
      at_.at[1] = f_.local("int64_t", {four_ + " * 4 + k", f_.level()});
      f_.line(fmt::format("if ({} >= {}) break;", at_.at[1].text, f_.extent(dims_[1]).text));
      row = "k";
    } else if (!channels.empty()) {
      at_.at[1] = channels[0];
    }
    f_.loop("j", number(0), {"count", 0});
    at_.at[last_] = {"(start + j)", f_.level()};
    f_.line(store_text(f_, id_, tensor_, at_, fmt::format("sum[{}][j]", row)));
    while (f_.level() > 0) f_.close();
  }

  Function& f_;
  int id_;
  const std::string& tensor_;
  const Node& node_;
  int x_;
  const Dims &dims_, &x_dims_;
  bool transposed_;
  Ints stride_, dilation_, padding_;
  size_t lead_, last_;
  int rows_ = 1;
  std::string four_;   ///< which rows the block has; a number where there are no more
  Position at_;
};

}  // namespace

void write_convolution(Function& f, int id, const std::string& tensor) { Window(f, id, tensor).convolve(); }
void write_pool(Function& f, int id, const std::string& tensor) { Window(f, id, tensor).pool(); }

}  // namespace hone::pattern::plain
