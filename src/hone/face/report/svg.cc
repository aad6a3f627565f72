#include "hone/face/report/svg.h"

#include <algorithm>
#include <cmath>

#include "hone/face/report/units.h"

namespace hone::face::report::svg {
namespace {

/// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * 0.999) return factor * power;
  return 10 * power;
}

std::vector<double> linear_ticks(double low, double high, int wanted) {
  std::vector<double> all;
  const double step = round_step((high - low) / wanted);
  const double first = std::ceil(low / step - 1e-9) + 0.0;  // no tick reads "-0"
  for (double k = first; k * step <= high + 1e-9 * step; ++k) all.push_back(k * step);
  return all;
}

std::vector<double> log_ticks(double low, double high, const std::vector<double>& mantissas, int stride) {
  std::vector<double> all;
  const int last = static_cast<int>(std::floor(std::log10(high)));
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= last; ++power) {
    if (power % stride != 0) continue;
    for (const double m : mantissas) {
      const double value = m * std::pow(10, power);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) all.push_back(value);
    }
  }
  return all;
}

}  // namespace

Scale::Scale(Kind kind, double low, double high) : kind_(kind), low_(low), high_(high) {
  const bool log = kind == Kind::kLog;
  if (!std::isfinite(low_) || (log && low_ <= 0)) low_ = log ? 1e-3 : 0;
  if (!std::isfinite(high_) || high_ <= low_) high_ = log ? low_ * 10 : low_ + 1;
}

double Scale::at(double value) const {
  if (!(value > low_)) return 0;
  if (value >= high_) return 100;
  return kind_ == Kind::kLog ? 100 * std::log(value / low_) / std::log(high_ / low_)
                             : 100 * (value - low_) / (high_ - low_);
}

std::vector<double> Scale::ticks(int wanted) const {
  if (kind_ == Kind::kLinear) return linear_ticks(low_, high_, wanted);
  const auto most = static_cast<size_t>(wanted) + 2;
  for (const auto& mantissas :
       {std::vector<double>{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}}) {
    std::vector<double> all = log_ticks(low_, high_, mantissas, 1);
    if (all.size() <= most) return all.size() >= 2 ? all : linear_ticks(low_, high_, wanted);
  }
  for (int stride = 1;; ++stride) {
    std::vector<double> all = log_ticks(low_, high_, {1}, stride);
    if (all.size() <= most) return all;
  }
}

Scale log_around(double low, double high, double factor) {
  if (!(low > 0)) low = high > 0 ? high : 1;
  return {Scale::Kind::kLog, low / factor, std::max(low, high) * factor};
}

std::string pc(double percent) {
  std::string text = fmt::format("{:.2f}", percent);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + "%";
}

void y_axis(Html& out, const Scale& scale, int ticks, const std::string& unit) {
  for (const double value : scale.ticks(ticks)) {
    const std::string y = up(scale, value);
    out.add(R"(<line class="grid" x1="0" x2="100%" y1="{}" y2="{}"/>)", y, y);
    out.add(R"(<text class="tick" x="-8" y="{}" dy=".32em" text-anchor="end">{}{}</text>)", y,
            fmt::format("{:.6g}", value), unit);
  }
}

void x_axis(Html& out, const Scale& scale, int ticks, double divisor) {
  for (const double value : scale.ticks(ticks)) {
    const std::string x = along(scale, value);
    out.add(R"(<line class="grid" x1="{}" x2="{}" y1="0" y2="100%"/>)", x, x);
    out.add(R"(<text class="tick" x="{}" y="100%" dy="16" text-anchor="middle">{}</text>)", x,
            fmt::format("{:.6g}", value / divisor));
  }
}

}  // namespace hone::face::report::svg
