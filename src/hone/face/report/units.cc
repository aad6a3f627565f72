#include "hone/face/report/units.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace hone::face::report {
namespace {

constexpr const char* kSpace = "\u00A0";

/// `value` with the unit that keeps it between 1 and 1000 where there is one.
std::string scaled(double value, double base, std::initializer_list<std::string_view> units) {
  const std::string_view* unit = units.begin();
  while (unit + 1 != units.end() && std::abs(value) >= base * 0.9995) value /= base, ++unit;
  return three(value) + kSpace + std::string(*unit);
}

}  // namespace

std::string three(double value) {
  if (std::isnan(value)) return kNone;
  if (std::isinf(value)) return value > 0 ? "\u221E" : "-\u221E";
  if (value == 0) return "0";
  const double size = std::abs(value);
  // The exponent after rounding to three digits: 999.7 is 1000.
  const int exponent = static_cast<int>(std::floor(std::log10(size) + std::log10(1 + 0.0005)));
  if (exponent < -4 || exponent > 5) {
    std::string text = fmt::format("{:.2e}", value);
    const size_t e = text.find('e');
    return text.substr(0, e) + "e" + std::to_string(std::stoi(text.substr(e + 1)));
  }
  if (exponent > 2) {
    const double unit = std::pow(10, exponent - 2);
    return fmt::format("{:.0f}", std::round(value / unit) * unit);
  }
  return fmt::format("{:.{}f}", value, 2 - exponent);
}

std::string time_ns(double ns) {
  if (!(ns > 0)) return kNone;
  return scaled(ns, 1000, {"ns", "µs", "ms", "s"});
}

std::string time_s(double seconds) {
  if (!(seconds >= 0)) return kNone;
  if (seconds < 1) return seconds == 0 ? fmt::format("0{}s", kSpace) : time_ns(seconds * 1e9);
  if (seconds < 99.95) return three(seconds) + kSpace + "s";
  const auto all = static_cast<int64_t>(std::llround(seconds));
  if (all < 3600) return fmt::format("{}{}min{}{:02}{}s", all / 60, kSpace, kSpace, all % 60, kSpace);
  return fmt::format("{}{}h{}{:02}{}min", all / 3600, kSpace, kSpace, all / 60 % 60, kSpace);
}

std::string bytes_moved(double bytes) {
  return bytes > 0 ? scaled(bytes, 1000, {"B", "kB", "MB", "GB", "TB"}) : kNone;
}

std::string bytes_held(double bytes) {
  if (!(bytes > 0)) return kNone;
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && bytes >= 1024) bytes /= 1024, ++unit;
  const bool whole_units = bytes == std::floor(bytes) && bytes < 1024;
  return (whole_units ? fmt::format("{:.0f}", bytes) : three(bytes)) + kSpace + std::string(kUnits[unit]);
}

std::string bandwidth(double bytes_per_ns) {
  return bytes_per_ns > 0 ? scaled(bytes_per_ns * 1e3, 1000, {"MB/s", "GB/s", "TB/s"}) : kNone;
}

std::string flop_rate(double flops_per_ns) {
  return flops_per_ns > 0 ? scaled(flops_per_ns * 1e3, 1000, {"MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s"})
                          : kNone;
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return kNone;
  return three(100 * fraction) + kSpace + "%";
}

std::string times(double ratio) { return std::isfinite(ratio) && ratio > 0 ? three(ratio) + "×" : kNone; }

std::string whole(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, "\u202F");
  return digits;
}

std::string date_utc(int64_t unix_ms) {
  // Years 0 to 9999; beyond that a clock was not set or a log is damaged.
  const int64_t seconds = unix_ms / 1000;
  if (seconds < -62'167'219'200 || seconds > 253'402'300'799) return kNone;
  return fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

bool has_interval(const evaluate::Ratio& ratio) { return ratio.low > 1e-6 || std::isfinite(ratio.high); }

RatioText ratio_text(const evaluate::Ratio& ratio) {
  // Near 1 three digits would print 1.004 [1.002, 1.006] as 1.00 [1.00, 1.01].
  const bool near_one = std::abs(ratio.median - 1) < 0.1;
  const bool plain = ratio.median >= 0.1 && ratio.median < 1000;
  const int decimals = near_one ? 3 : ratio.median >= 100 ? 0 : ratio.median >= 10 ? 1 : 2;
  const auto text = [&](double value) {
    return plain && std::abs(value) < 1000 ? fmt::format("{:.{}f}", value, decimals) : three(value);
  };
  return {text(ratio.median), has_interval(ratio) ? fmt::format("[{}, {}]", text(ratio.low), text(ratio.high)) : "[too few pairs]"};
}

}  // namespace hone::face::report
