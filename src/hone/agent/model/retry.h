// When a call is sent again, and after how long. Pure; thread-safe.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "hone/agent/model/transport.h"

namespace hone::agent {

struct RetryPolicy {
  int attempts = 6;
  std::chrono::milliseconds first{1'000};      ///< the most that the first wait may take, without word from the server
  std::chrono::milliseconds longest{60'000};   ///< of any wait that we choose
  std::chrono::milliseconds total{900'000};    ///< from the first attempt to the end of the last wait
};

/// 408, 409, 429 and everything from 500 (529 too).
[[nodiscard]] bool may_retry(int status);

/// What the server asks for: retry-after-ms, else retry-after in seconds or as a date. `unix_ms`: now.
/// Absent where it says nothing, or nothing that makes sense.
[[nodiscard]] std::optional<std::chrono::milliseconds> asked_wait(const HttpHead& head, int64_t unix_ms);

/// Full jitter: uniform up to first · 2^(attempt), at most `longest`. `attempt` from 0, `uniform` in [0, 1).
[[nodiscard]] std::chrono::milliseconds backoff(const RetryPolicy& policy, int attempt, double uniform);

}  // namespace hone::agent
