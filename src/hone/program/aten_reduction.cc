// Reductions, scans, softmax and norms.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

/// ", axis=[1], keepdims=true" of an operator's dim and keepdim; nothing for all axes.
std::string over(const Site& site) {
  std::vector<int64_t> axes = site.integers("dim");
  for (int64_t& axis : axes)
    if (axis < 0) axis += site.rank("self");
  std::string text;
  if (!axes.empty()) text = axes.size() == 1 ? fmt::format(", axis={}", axes.front()) : ", axis=" + list_text(axes);
  if (site.flag("keepdim")) text += ", keepdims=true";
  return text;
}

/// The operand in the type that `dtype` asks for.
std::string operand(const Site& site) {
  const std::string text = site.text("self");
  const Argument* asked = site.node().find("dtype");
  const auto* type = asked == nullptr ? nullptr : std::get_if<task::DType>(&asked->value);
  return type == nullptr || site.type_of("self").dtype == *type ? text : fmt::format("cast({}, {})", text, task::name_of(*type));
}

Written reduced(const Site& site, std::string_view operation) { return written(fmt::format("{}({}{})", operation, operand(site), over(site))); }

/// values, indices = max(x, dim)
Written extreme(const Site& site, std::string_view operation) {
  return std::vector<std::string>{fmt::format("{}({}{})", operation, site.text("self"), over(site)),
                                  fmt::format("arg{}({}{})", operation, site.text("self"), over(site))};
}

/// aminmax(x, dim): both.
Written both_extremes(const Site& site, std::string_view) {
  return std::vector<std::string>{fmt::format("min({}{})", site.text("self"), over(site)), fmt::format("max({}{})", site.text("self"), over(site))};
}

/// Of a list of axes, which are none where it is empty.
Written reduced_over_some(const Site& site, std::string_view operation) {
  if (site.has("dim") && site.integers("dim").empty()) return no_word(site, "over no axis");
  return reduced(site, operation);
}

Written deviation(const Site& site, std::string_view operation) {
  const Argument* correction = site.node().find("correction");
  double value = correction == nullptr ? 1 : correction->number().value_or(1);
  if (site.has("unbiased")) value = site.flag("unbiased") ? 1 : 0;
  if (value != std::floor(value)) return no_word(site, "a correction that is no whole number");
  return written(fmt::format("{}({}{}, correction={})", operation, site.text("self"), over(site), static_cast<int64_t>(value)));
}

/// var_mean, std_mean: both.
Written deviation_and_mean(const Site& site, std::string_view operation) {
  HONE_TRY(std::vector<std::string> all, deviation(site, operation));
  all.push_back(fmt::format("mean({}{})", site.text("self"), over(site)));
  return all;
}

Written vector_norm(const Site& site, std::string_view) {
  double p = 2;
  if (site.has("ord")) p = site.number("ord", 2);
  if (site.has("p")) p = site.number("p", 2);
  return written(fmt::format("norm({}, p={}{})", operand(site), number_text(p), over(site)));
}

Written softmax(const Site& site, std::string_view operation) {
  if (site.flag("half_to_float")) return no_word(site, "half_to_float");
  if (site.rank("self") == 0) return no_word(site, "of one number");
  return written(fmt::format("{}({}, axis={})", operation, operand(site), site.axis("dim", "self", -1)));
}

Written scan(const Site& site, std::string_view operation) {
  if (site.rank("self") == 0) return no_word(site, "of one number");
  return written(fmt::format("{}({}, axis={})", operation, operand(site), site.axis("dim", "self", -1)));
}

/// values, and where the last of the largest so far was
Written running_extreme(const Site& site, std::string_view operation) {
  if (site.rank("self") == 0) return no_word(site, "of one number");
  const std::string x = site.text("self");
  const int64_t axis = site.axis("dim", "self", -1);
  std::string values = fmt::format("{}({}, axis={})", operation, x, axis);
  const auto& type = site.type_of("self").dtype;
  const std::string reached = fmt::format("({} == {}){}", x, values, type && task::is_float(*type) ? fmt::format(" | isnan({})", x) : "");
  std::string places = fmt::format("cummax(where({}, iota({}, {}), 0), axis={})", reached, list_text(site.type_of("self").shape), axis, axis);
  return std::vector<std::string>{std::move(values), std::move(places)};
}

/// A norm's result, the mean and 1 / deviation of `x` over `axes`, as training keeps them; the result alone where nothing else is given.
Written norm_and_moments(const Site& site, std::string text, std::string x, const std::string& over_axes, double eps) {
  const auto& types = site.node().types;
  if (!site.node().several) return written(std::move(text));
  if (types.size() != 3 || !types[1].dtype) return std::vector<std::string>{std::move(text), "", ""};
  if (types[1].dtype != site.type_of("input").dtype) x = fmt::format("cast({}, {})", x, task::name_of(*types[1].dtype));
  return std::vector<std::string>{std::move(text), fmt::format("mean({}, {})", x, over_axes), fmt::format("rsqrt(var({}, {}, correction=0) + {})", x, over_axes, number_text(eps))};
}

Written layer_norm(const Site& site, std::string_view operation) {
  const std::vector<int64_t> shape = site.integers("normalized_shape");
  const auto rank = static_cast<int64_t>(site.rank("input"));
  std::vector<int64_t> axes;
  for (int64_t axis = rank - static_cast<int64_t>(shape.size()); axis < rank; ++axis) axes.push_back(axis);
  const bool rms = operation == "rms_norm";
  double eps = site.number("eps", 1e-5);
  if (rms && !site.has("eps")) eps = site.type().dtype == task::DType::kF64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  std::string text = fmt::format("{}({}, {}{}, axis={}, eps={})", operation, site.text("input"), site.text("weight"),
                                 rms ? "" : ", " + site.text("bias"), list_text(axes), number_text(eps));
  return norm_and_moments(site, std::move(text), site.text("input"), fmt::format("axis={}, keepdims=true", list_text(axes)), eps);
}

Written group_norm(const Site& site, std::string_view) {
  const int64_t groups = site.integer("num_groups", site.integer("group", 1)), samples = site.type_of("input").shape.at(0);

  std::string text = fmt::format("group_norm({}, {}, {}, {}, eps={})", site.text("input"), groups, site.text("weight"), site.text("bias"), number_text(site.number("eps", 1e-5)));
  const int64_t each = task::element_count(site.type_of("input").shape) / std::max<int64_t>(samples * groups, 1);
  return norm_and_moments(site, std::move(text), fmt::format("reshape({}, [{}, {}, {}])", site.text("input"), samples, groups, each), "axis=2", site.number("eps", 1e-5));
}

Written instance_norm(const Site& site, std::string_view) {
  if (!site.flag("use_input_stats")) return no_word(site, "with running statistics");
  return written(fmt::format("instance_norm({}, {}, {}, eps={})", site.text("input"), site.text("weight"), site.text("bias"), number_text(site.number("eps", 1e-5))));
}

std::string normalised(const Site& site, bool own) {
  return fmt::format("batch_norm({}, {}, {}{}, eps={})", site.text("input"), site.text("weight"), site.text("bias"),
                     own ? std::string() : fmt::format(", {}, {}", site.text("running_mean"), site.text("running_var")), number_text(site.number("eps", 1e-5)));
}

/// Results y, mean, 1 / deviation: those of inference are empty tensors.
Written batch_norm_inference(const Site& site, std::string_view) { return std::vector<std::string>{normalised(site, false), "", ""}; }

Written batch_norm(const Site& site, std::string_view) {
  if (site.flag("training") && site.has("running_mean")) return no_word(site, "that updates running statistics in place");
  return written(normalised(site, site.flag("training")));
}

/// Results y, mean, 1 / deviation, and the running statistics as they are after the step.
Written batch_norm_training(const Site& site, std::string_view) {
  if (!site.flag("training")) return std::vector<std::string>{normalised(site, false), "", "", site.text("running_mean"), site.text("running_var")};
  const ValueType& input = site.type_of("input");
  std::vector<int64_t> axes;
  int64_t count = 1;
  for (size_t axis = 0; axis < input.shape.size(); ++axis) {
    if (axis == 1) continue;
    axes.push_back(static_cast<int64_t>(axis));
    count *= input.shape[axis];
  }
  const std::string x = site.text("input"), over_all = list_text(axes);
  std::vector<std::string> all{normalised(site, true), fmt::format("mean({}, axis={})", x, over_all),
                               fmt::format("rsqrt(var({}, axis={}, correction=0) + {})", x, over_all, number_text(site.number("eps", 1e-5)))};
  if (!site.has("running_mean") || !site.has("running_var")) return all;
  const double momentum = site.number("momentum", 0.1);
  const auto blend = [&](std::string_view kept, const std::string& fresh) {
    return fmt::format("{} * {} + {} * {}", number_text(1 - momentum), site.text(kept), number_text(momentum), fresh);
  };
  all.push_back(blend("running_mean", fmt::format("mean({}, axis={})", x, over_all)));
  all.push_back(blend("running_var", fmt::format("var({}, axis={}, correction={})", x, over_all, count > 1 ? 1 : 0)));
  return all;
}

constexpr Row kReductions[] = {
    {"aten.sum.default", reduced, "sum"},
    {"aten.sum.dim_IntList", reduced, "sum"},
    {"aten.mean.default", reduced, "mean"},
    {"aten.mean.dim", reduced, "mean"},
    {"aten.prod.default", reduced, "prod"},
    {"aten.prod.dim_int", reduced, "prod"},
    {"aten.amax.default", reduced, "max"},
    {"aten.amin.default", reduced, "min"},
    {"aten.max.default", reduced, "max"},
    {"aten.min.default", reduced, "min"},
    {"aten.max.dim", extreme, "max"},
    {"aten.min.dim", extreme, "min"},
    {"aten.argmax.default", reduced, "argmax"},
    {"aten.argmin.default", reduced, "argmin"},
    {"aten.any.default", reduced, "any"},
    {"aten.any.dim", reduced, "any"},
    {"aten.all.default", reduced, "all"},
    {"aten.all.dim", reduced, "all"},
    {"aten.any.dims", reduced_over_some, "any"},
    {"aten.all.dims", reduced_over_some, "all"},
    {"aten.aminmax.default", both_extremes},
    {"aten.logsumexp.default", reduced, "logsumexp"},
    {"aten.var.correction", deviation, "var"},
    {"aten.var.dim", deviation, "var"},
    {"aten.std.correction", deviation, "std"},
    {"aten.std.dim", deviation, "std"},
    {"aten.var_mean.correction", deviation_and_mean, "var"},
    {"aten.var_mean.dim", deviation_and_mean, "var"},
    {"aten.std_mean.correction", deviation_and_mean, "std"},
    {"aten.std_mean.dim", deviation_and_mean, "std"},
    {"aten.linalg_vector_norm.default", vector_norm},
    {"aten.norm.ScalarOpt_dim", vector_norm},
    {"aten.norm.Scalar", vector_norm},
    {"aten.softmax.int", softmax, "softmax"},
    {"aten._softmax.default", softmax, "softmax"},
    {"aten.log_softmax.int", softmax, "log_softmax"},
    {"aten._log_softmax.default", softmax, "log_softmax"},
    {"aten.cumsum.default", scan, "cumsum"},
    {"aten.cumprod.default", scan, "cumprod"},
    {"aten.logcumsumexp.default", scan, "logcumsumexp"},
    {"aten.cummax.default", running_extreme, "cummax"},
    {"aten.cummin.default", running_extreme, "cummin"},
    {"aten.layer_norm.default", layer_norm, "layer_norm"},
    {"aten.native_layer_norm.default", layer_norm, "layer_norm"},
    {"aten.rms_norm.default", layer_norm, "rms_norm"},
    {"aten.group_norm.default", group_norm},
    {"aten.native_group_norm.default", group_norm},
    {"aten.instance_norm.default", instance_norm},
    {"aten.batch_norm.default", batch_norm},
    {"aten._native_batch_norm_legit_no_training.default", batch_norm_inference},
    {"aten._native_batch_norm_legit_functional.default", batch_norm_training},
    {"aten._native_batch_norm_legit.no_stats", batch_norm_training},
};

}  // namespace

std::span<const Row> reduction_rows() { return kReductions; }

}  // namespace hone::program
