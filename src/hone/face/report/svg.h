// Charts whose positions are percentages and whose sizes are pixels: they stretch to any width while
// dots stay round and letters keep their size. Owns scales, ticks and axes. Pure.
#pragma once
#include <string>
#include <vector>

#include "hone/face/report/html.h"

namespace hone::face::report::svg {

/// Maps values to percent of an extent.
class Scale {
 public:
  enum class Kind { kLinear, kLog };
  /// `low` < `high`, both positive for kLog; else a scale that holds them is taken.
  Scale(Kind kind, double low, double high);

  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// 0 at low(), 100 at high(); values outside are clamped.
  [[nodiscard]] double at(double value) const;
  /// Round numbers within the scale, ascending, about `wanted` of them.
  [[nodiscard]] std::vector<double> ticks(int wanted) const;

 private:
  Kind kind_;
  double low_, high_;
};

/// A logarithmic scale that holds both values with room of `factor` at either end.
[[nodiscard]] Scale log_around(double low, double high, double factor);

/// A percentage with two decimals at most.
[[nodiscard]] std::string pc(double percent);
/// `scale` as height: 0 % is the top.
[[nodiscard]] inline std::string up(const Scale& scale, double value) { return pc(100 - scale.at(value)); }
[[nodiscard]] inline std::string along(const Scale& scale, double value) { return pc(scale.at(value)); }

/// Grid lines with labels to the left, `unit` appended to each.
void y_axis(Html& out, const Scale& scale, int ticks, const std::string& unit);
/// Grid lines with labels below. Values are divided by `divisor` for their labels.
void x_axis(Html& out, const Scale& scale, int ticks, double divisor = 1);

}  // namespace hone::face::report::svg
