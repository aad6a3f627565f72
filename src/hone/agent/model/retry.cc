#include "hone/agent/model/retry.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>

namespace hone::agent {
namespace {

/// Longer than anybody waits, and far from overflowing.
constexpr double kMostMs = 1e12;

std::optional<double> number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

std::chrono::milliseconds milliseconds(double ms) { return std::chrono::milliseconds(std::llround(std::min(ms, kMostMs))); }

/// Seconds since the epoch from "Sun, 06 Nov 1994 08:49:37 GMT" and the two older forms that RFC 9110 (5.6.7) has recipients read.
std::optional<time_t> http_date(const std::string& text) {
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
    std::tm when = {};
    if (const char* end = strptime(text.c_str(), form, &when); end && *end == '\0') return timegm(&when);
  }
  return std::nullopt;
}

}  // namespace

bool may_retry(int status) { return status == 408 || status == 409 || status == 429 || (status >= 500 && status < 600); }

std::optional<std::chrono::milliseconds> asked_wait(const HttpHead& head, int64_t unix_ms) {
  if (const auto ms = number(head.header("retry-after-ms"))) return milliseconds(*ms);
  const std::string text = head.header("retry-after");
  if (text.empty()) return std::nullopt;
  if (const auto seconds = number(text)) return milliseconds(*seconds * 1e3);
  const auto date = http_date(text);
  if (!date) return std::nullopt;
  return milliseconds(std::max(0.0, static_cast<double>(*date) * 1e3 - static_cast<double>(unix_ms)));
}

std::chrono::milliseconds backoff(const RetryPolicy& policy, int attempt, double uniform) {
  const double most = std::min(static_cast<double>(policy.longest.count()),
                               static_cast<double>(policy.first.count()) * std::exp2(std::min(attempt, 30)));
  return milliseconds(most * uniform);
}

}  // namespace hone::agent
