#include "hone/diagnose/tunable_role.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hone::diagnose {

Role role_of(std::string_view name, std::string_view pattern) {
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) || name.back() == '_')) name.remove_suffix(1);
  const auto is = [&](auto... words) { return ((name == words) || ...); };
  if (is("STREAM", "NON_TEMPORAL", "NT")) return Role::kStream;
  if (is("AHEAD", "PREFETCH")) return Role::kAhead;
  if (is("UNROLL")) return Role::kUnroll;
  if (is("DEPTH")) return Role::kDepth;
  const bool product = pattern.find("matmul") != std::string_view::npos;
  if (product && is("ROWS", "COLUMNS")) return Role::kTile;
  if (is("CHUNKS", "SPLIT", "PARTS")) return Role::kParts;
  if (is("ROWS", "COLUMNS", "CHUNK", "WIDTH", "TALL", "WIDE", "BLOCK", "TILE", "GRAIN")) return Role::kGrain;
  return Role::kOther;
}

std::optional<int64_t> step(const kernel::Tunable& tunable, const kernel::Header& header, const kernel::Config& config,
                            const kernel::Limits& limits, int direction) {
  const auto now = config.find(tunable.name);
  if (now == config.end()) return std::nullopt;
  std::vector<int64_t> values = tunable.values;
  std::sort(values.begin(), values.end());
  if (direction < 0) std::reverse(values.begin(), values.end());
  for (const int64_t value : values) {
    if (direction < 0 ? value >= now->second : value <= now->second) continue;
    kernel::Config other = config;
    other[tunable.name] = value;
    if (const auto fine = kernel::allowed(header, other, limits); fine && *fine) return value;
  }
  return std::nullopt;
}

}  // namespace hone::diagnose
