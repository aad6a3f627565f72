// How long a few lines of C++ take: a snippet that somebody wants to know about before a kernel is made of it. Built in
// the compilers' jail and timed in a kernel's process, on one thread; no verdict, and nothing that a search or an archive
// hears of. One at a time.
#pragma once
#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "hone/base/result.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::engine {

inline constexpr int64_t kMostSnippetElements = int64_t{1} << 22, kMostSnippetIterations = 10'000'000;
inline constexpr size_t kMostSnippet = size_t{16} << 10;

struct Snippet {
  /// Statements of `void snippet(const float* __restrict x, float* __restrict y, int64_t n)`: x and y of n floats,
  /// 64-byte aligned; x is in [0.5, 1.5), y begins as zeros. May not outgrow kMostSnippet.
  std::string body;
  std::string declarations;    ///< in front of the function: helpers, includes
  int64_t elements = 4096;     ///< n
  int64_t iterations = 1000;   ///< calls that are timed together
};

/// Nanoseconds a call, over several batches of `iterations` calls after one to warm up.
struct SnippetTimes {
  std::string problem, detail;   ///< why there are none: the compiler's words, how it ended (bounded)
  double median_ns = 0, least_ns = 0, most_ns = 0;
  int batches = 0;
  double contended = 0;          ///< share of the time that others had the processor
  std::string toolchain;
};

/// kInput where the snippet's numbers are out of bounds; what is wrong with its code is `problem`.
[[nodiscard]] Result<SnippetTimes> time_snippet(target::Toolchain& toolchain, const Snippet& snippet);

[[nodiscard]] nlohmann::json to_json(const SnippetTimes& times);

}  // namespace hone::engine
