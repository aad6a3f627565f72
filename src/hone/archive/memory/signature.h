// What makes two tasks alike, for memory: which operations, types and reduced axes, how much data, how deep the
// reductions, how much arithmetic a byte. Plain values; pure.
#pragma once
#include <map>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "hone/base/result.h"
#include "hone/task/task.h"

namespace hone::archive {

struct Signature {
  std::map<std::string, double> ops;  ///< class of operations ("sum", "exp", "arithmetic", …) -> log2(1 + count), times its weight
  std::set<std::string> dtypes;       ///< of inputs and outputs
  std::set<std::string> reduced;      ///< "inner" and "outer": whether reductions and scans run along the innermost axis or others
  /// Means over the workloads by weight, log2 of: bytes that must be moved; elements that make one result of the deepest
  /// reduction or product (1 without any); arithmetic operations a byte (the balance of computing and memory).
  double bytes = 0, depth = 0, balance = 0;
};

/// Of `task` at its workloads. Fails (kInput) where a workload does not fit the shapes.
[[nodiscard]] Result<Signature> signature_of(const task::Task& task);

/// In [0, 1]; 0 for tasks that this tells nothing apart about:
///   0.4 (1 - sum of the lesser / sum of the greater over `ops`) + 0.15 (1 - shared / all `dtypes`)
///   + 0.15 (1 - shared / all `reduced`) + 0.1 min(1, |bytes| / 12) + 0.1 min(1, |depth| / 8) + 0.1 min(1, |balance| / 6),
/// with |…| the absolute difference.
[[nodiscard]] double distance(const Signature& a, const Signature& b);

[[nodiscard]] nlohmann::json to_json(const Signature& signature);
/// Throws nlohmann::json::exception on what to_json never wrote.
[[nodiscard]] Signature signature_from(const nlohmann::json& json);

}  // namespace hone::archive
