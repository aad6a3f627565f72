// Losses, and what else two tensors are compared by.
#include <stdexcept>

#include <fmt/format.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

/// Of each of x1 from each of x2.
Written distances(const Site& site, std::string_view) {
  const auto with_axis = [&](std::string_view name, size_t at) {
    task::Shape shape = site.type_of(name).shape;
    if (shape.size() < 2) throw std::out_of_range(std::string(name));
    shape.insert(shape.end() - static_cast<std::ptrdiff_t>(at), 1);
    return fmt::format("reshape({}, {})", site.text(name), list_text(shape));
  };
  return written(fmt::format("norm({} - {}, p={}, axis={})", with_axis("x1", 1), with_axis("x2", 2), number_text(site.number("p", 2)), site.type().shape.size()));
}

/// x . y of two vectors, each divided by its length, or by eps.
Written cosine(const Site& site, std::string_view) {
  const auto rank = static_cast<int64_t>(std::max(site.type_of("x1").shape.size(), site.type_of("x2").shape.size()));
  const int64_t axis = site.integer("dim", 1), from_end = axis < 0 ? axis : axis - rank;   // of what is broadcast
  const auto direction = [&](std::string_view name) {
    const int64_t own = from_end + site.rank(name);
    if (own < 0) throw std::out_of_range(std::string(name));
    return fmt::format("{0} / maximum(norm({0}, axis={1}, keepdims=true), {2})", site.text(name), own, number_text(site.number("eps", 1e-8)));
  };
  return written(fmt::format("sum(({}) * ({}), axis={})", direction("x1"), direction("x2"), from_end + rank));
}

constexpr std::string_view kLossModes[] = {"", "mean", "sum"};

/// Whole losses: none, their mean, their sum.
Written lost(const Site& site, const std::string& text) {
  const int64_t reduction = site.integer("reduction", 1);
  if (reduction < 0 || reduction > 2) return no_word(site, "with an unknown reduction");
  return written(reduction == 0 ? text : fmt::format("{}({})", kLossModes[reduction], text));
}

/// (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x))
Written cross_entropy_of_logits(const Site& site, std::string_view) {
  const std::string x = site.text("self"), y = site.text("target");
  std::string weight;
  if (site.has("pos_weight")) weight = fmt::format("(1 + ({} - 1) * {}) * ", site.text("pos_weight"), y);
  std::string text = fmt::format("((1 - {1}) * {0} - {2}log_sigmoid({0}))", x, y, weight);
  if (site.has("weight")) text += " * " + site.text("weight");
  return lost(site, text);
}

/// -log p of the classes that the targets say, along axis 1, or the only one. A target that is ignored picks class 0, and counts for nothing.
class ByClass {
 public:
  ByClass(const Site& site, std::string logarithms) : site_(site), logarithms_(std::move(logarithms)), shape_(site.type_of("self").shape), axis_(shape_.size() > 1 ? 1 : 0) {
    classes_ = shape_.at(axis_);
    if (site.has("weight")) {
      task::Shape along(shape_.size(), 1);
      along[axis_] = classes_;
      weights_ = fmt::format("reshape({}, {})", site.text("weight"), list_text(along));
    }
  }

  /// The loss, and what a mean is divided by.
  [[nodiscard]] Written written_out() const {
    const int64_t reduction = site_.integer("reduction", 1);
    if (reduction < 0 || reduction > 2) return no_word(site_, "with an unknown reduction");
    const ValueType& target = site_.type_of("target");
    if (!target.dtype || !site_.type().dtype) return no_word(site_, "of an element type that the language lacks");
    const bool of_classes = task::is_int(*target.dtype);
    const std::string each = of_classes ? picked() : mixed();
    const std::string count = of_classes ? counted() : number_text(static_cast<double>(task::element_count(shape_) / classes_));
    if (reduction == 0) return std::vector<std::string>{each, ""};
    const std::string sum = fmt::format("sum({})", each);
    return std::vector<std::string>{reduction == 2 ? sum : fmt::format("{} / {}", sum, count), of_classes ? fmt::format("cast({}, {})", count, task::name_of(*site_.type().dtype)) : ""};
  }

 private:
  [[nodiscard]] double smoothing() const { return site_.number("label_smoothing", 0); }
  [[nodiscard]] std::string weighted(const std::string& text) const { return weights_.empty() ? text : fmt::format("{} * {}", text, weights_); }
  [[nodiscard]] std::string is_kept() const { return fmt::format("({} != ({}))", site_.text("target"), site_.integer("ignore_index", -100)); }
  [[nodiscard]] std::string label() const { return fmt::format("where({}, {}, 0)", is_kept(), site_.text("target")); }

  [[nodiscard]] std::string picked() const {
    const task::Shape& targets = site_.type_of("target").shape;
    task::Shape one = shape_;
    one[axis_] = 1;
    std::string text = fmt::format("-reshape(take_along_axis({}, reshape({}, {}), axis={}), {})", logarithms_, label(), list_text(one), axis_, list_text(targets));
    if (!weights_.empty()) text += fmt::format(" * take({}, {}, axis=0)", site_.text("weight"), label());
    if (smoothing() > 0)
      text = fmt::format("{} * ({}) - {} * sum({}, axis={})", number_text(1 - smoothing()), text, number_text(smoothing() / static_cast<double>(classes_)), weighted(logarithms_), axis_);
    return fmt::format("where({}, {}, 0)", is_kept(), text);
  }

  [[nodiscard]] std::string counted() const {
    return fmt::format("sum({})", weights_.empty() ? is_kept() : fmt::format("where({}, take({}, {}, axis=0), 0)", is_kept(), site_.text("weight"), label()));
  }

  /// Targets that are probabilities.
  [[nodiscard]] std::string mixed() const {
    std::string text = site_.text("target");
    if (smoothing() > 0) text = fmt::format("({} * {} + {})", text, number_text(1 - smoothing()), number_text(smoothing() / static_cast<double>(classes_)));
    return fmt::format("-sum({} * {}, axis={})", weighted(logarithms_), text, axis_);
  }

  const Site& site_;
  std::string logarithms_;
  task::Shape shape_;
  size_t axis_;
  int64_t classes_ = 1;
  std::string weights_;
};

Written by_class(const Site& site, std::string_view detail) {
  const task::Shape& shape = site.type_of("self").shape;
  if (shape.empty()) return no_word(site, "of one number");
  if (task::element_count(shape) == 0) return no_word(site, "of no elements");
  const std::string x = site.text("self");
  HONE_TRY(std::vector<std::string> all, ByClass(site, detail == "logits" ? fmt::format("log_softmax({}, axis={})", x, shape.size() > 1 ? 1 : 0) : x).written_out());
  if (!site.node().several) all.resize(1);
  return all;
}

constexpr Row kLosses[] = {
    {"aten.cdist.default", distances},
    {"aten.cosine_similarity.default", cosine},
    {"aten.binary_cross_entropy_with_logits.default", cross_entropy_of_logits},
    {"aten.cross_entropy_loss.default", by_class, "logits"},
    {"aten.nll_loss_nd.default", by_class},
    {"aten.nll_loss_forward.default", by_class},
    {"aten.nll_loss2d_forward.default", by_class},
};

}  // namespace

std::span<const Row> loss_rows() { return kLosses; }

}  // namespace hone::program
