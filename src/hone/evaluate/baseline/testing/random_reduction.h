// Reductions and scans.
#pragma once
#include "hone/evaluate/baseline/testing/random_case.h"

namespace hone::evaluate::testing {
namespace reduction {

/// axis and keepdims: none, one axis, several.
struct Axes {
  std::string hone;   ///< ", axis=(0, 1), keepdims=True"
  std::string torch;  ///< "(0, 1), True", for over()
};
inline Axes axes(Draft& d, size_t rank) {
  Axes result;
  result.torch = "None";
  if (rank > 0 && d.chance(0.75)) {
    const std::vector<int64_t> chosen = d.axes(rank);
    result.torch = tuple_text(chosen);
    result.hone = ", axis=" + (chosen.size() == 1 && d.chance() ? std::to_string(chosen[0]) : result.torch);
  }
  const bool keep = d.chance(0.4);
  if (keep) result.hone += ", keepdims=True";
  result.torch += ", " + Draft::word(keep);
  return result;
}

/// The row's text reduces the last axis of v.
inline void compare(Draft& d, const Shape& shape, const std::string& more = "") {
  const Axes a = axes(d, shape.size());
  d.compare(fmt::format("{}(x{}{})", d.name(), a.hone, more),
            fmt::format("over(lambda v: {}, x, {})", d.torch(), a.torch));
}

inline void any(Draft& d) {
  const Shape shape = d.shape();
  d.tensor("x", d.any(), shape);
  compare(d, shape);
}
inline void numeric(Draft& d) {
  const Shape shape = d.shape();
  d.tensor("x", d.numeric(), shape);
  d.sometimes_special();
  compare(d, shape);
}
/// Integers small enough for 2^53.
inline void prod(Draft& d) {
  const DType type = d.any();
  const Shape shape = d.shape(0, 3, 4);
  d.tensor("x", type, shape, task::is_int(type) ? Domain::kSign : Domain::kReal);
  compare(d, shape);
}
/// The divisor n - correction stays at 0 or above.
inline void spread(Draft& d) {
  const Shape shape = d.shape();
  d.tensor("x", d.numeric(), shape);
  const std::string correction = d.pick({"0", "1", "0.5"});
  d.before("c = " + correction);
  compare(d, shape, correction == "0" && d.chance() ? "" : ", correction=" + correction);
}

inline void arg(Draft& d) {
  const Shape shape = d.shape();
  d.tensor("x", d.numeric(), shape);
  Options options;
  if (!shape.empty() && d.chance(0.75)) options.add("axis", "dim", std::to_string(d.axis(shape.size())));
  if (d.chance(0.4)) options.add("keepdims", "keepdim", "True");
  d.compare(fmt::format("{}(x{})", d.name(), options.hone), fmt::format("{}(x{})", d.torch(), options.torch));
}

/// The row's text makes one element of all of v's last axis; scan() applies it to every prefix.
inline void scan(Draft& d) {
  const Shape shape = d.shape(1, 4);
  const bool sum = d.op() == "cumsum", product = d.op() == "cumprod";
  const DType type = d.op() == "logcumsumexp" ? d.real() : d.numeric();
  d.tensor("x", type, shape, product && !task::is_float(type) ? Domain::kSign : Domain::kReal);
  const int64_t axis = d.axis(shape.size());
  const bool reverse = d.chance(0.4), exclusive = (product || sum) && d.chance(0.4);
  const bool masked = (product || sum) && d.chance(0.2);
  if (masked) d.tensor("m", DType::kBool, shape);
  const std::string x = masked ? "x * m" : "x";
  d.compare(fmt::format("{}({}, {}{}{}{})", d.name(), x, d.chance() ? "" : "axis=", axis,
                        reverse ? ", reverse=True" : "", exclusive ? ", exclusive=True" : ""),
            fmt::format("scan(lambda v: {}, {}, {}, {}, {})", d.torch(), x, axis, Draft::word(reverse),
                        exclusive ? product ? "1" : "0" : "None"));
}

/// Factors within -1 and 1, as those of recurrences are: products of others soon leave every type.
inline void linear_scan(Draft& d) {
  const Shape shape = d.shape(1, 4);
  const DType type = d.real();
  d.tensor("x", type, shape);
  d.tensor("a", type, d.part_of(shape));
  const int64_t axis = d.axis(shape.size());
  const bool reverse = d.chance(0.4);
  d.compare(fmt::format("linear_scan(tanh(a), x, {}{}{})", d.chance() ? "" : "axis=", axis, reverse ? ", reverse=True" : ""),
            fmt::format("linear_scan(torch.tanh(a), x, {}, {})", axis, Draft::word(reverse)));
}

inline constexpr Generator kRows[] = {
    {"sum", any, "integers(v).sum(-1)"},
    {"prod", prod, "integers(v).prod(-1)"},
    {"mean", any, "real(v).mean(-1)"},
    {"var", spread, "variance(v, c)"},
    {"std", spread, "variance(v, c).sqrt()"},
    {"max", numeric, "v.amax(-1)"},
    {"min", numeric, "v.amin(-1)"},
    {"any", any, "v.any(-1)"},
    {"all", any, "v.all(-1)"},
    {"argmax", arg, "torch.argmax"},
    {"argmin", arg, "torch.argmin"},
    {"count_nonzero", any, "torch.count_nonzero(v, -1)"},
    {"logsumexp", numeric, "torch.logsumexp(real(v), -1)"},
};
inline constexpr Generator kScanRows[] = {
    {"cumsum", scan, "integers(v).sum(-1)"},
    {"cumprod", scan, "integers(v).prod(-1)"},
    {"cummax", scan, "v.amax(-1)"},
    {"cummin", scan, "v.amin(-1)"},
    {"logcumsumexp", scan, "torch.logsumexp(v, -1)"},
    {"linear_scan", linear_scan},
};

}  // namespace reduction
}  // namespace hone::evaluate::testing
