#include "hone/diagnose/tunable_role.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace hone::diagnose {

namespace {

/// A kernel made of parts numbers its tunables.
std::string_view without_number(std::string_view name) {
  while (!name.empty() && (std::isdigit(static_cast<unsigned char>(name.back())) || name.back() == '_')) name.remove_suffix(1);
  return name;
}

}  // namespace

Role role_of(std::string_view tunable, const kernel::Header& header) {
  if (kernel::row_of(header.language).threads == kernel::Threads::kNone) return role_of(tunable, header.pattern);
  const std::string_view name = without_number(tunable);
  const auto is = [&](auto... words) { return ((name == words) || ...); };
  if (is("VEC", "VECTOR")) return Role::kVector;
  if (is("UNROLL", "AHEAD")) return Role::kUnroll;
  if (is("WORDS", "HELD", "HOLD", "ITEMS")) return Role::kHeld;
  if (is("STAGES")) return Role::kStages;
  if (is("THREADS", "ACROSS", "DOWN", "BLOCK")) return Role::kThreads;
  if (is("BLOCKS", "GROUPS", "RESIDENT", "SPLIT", "PARTS", "CHUNKS")) return Role::kParts;
  if (is("TILE", "TILE_M", "TILE_N", "TILE_K", "DEPTH")) return Role::kTile;
  if (is("ROWS", "GROUP", "COLUMNS", "LINES")) return Role::kGrain;
  return Role::kOther;
}

Role role_of(std::string_view name, std::string_view pattern) {
  name = without_number(name);
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
