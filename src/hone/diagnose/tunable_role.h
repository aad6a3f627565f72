// What a tunable does, by its name: patterns and hand-written kernels use the same words for the same things. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "hone/kernel/kernel.h"

namespace hone::diagnose {

enum class Role : uint8_t {
  kStream,  ///< STREAM, NON_TEMPORAL: store past the caches
  kAhead,   ///< AHEAD, PREFETCH: ask for data early
  kUnroll,  ///< UNROLL: independent accumulators and loads in flight
  kTile,    ///< a product's ROWS and COLUMNS: the tile in registers
  kDepth,   ///< DEPTH: how much of a sum is taken at a time
  kGrain,   ///< ROWS, CHUNK, WIDTH, TALL, WIDE, BLOCK: work of one block
  kParts,   ///< CHUNKS, SPLIT, PARTS: blocks that share a row
  kVector,   ///< a card's VEC: elements of a load or store
  kHeld,     ///< a card's WORDS, HELD, HOLD: what a thread keeps in registers
  kStages,   ///< a card's STAGES: tiles of shared memory under way
  kThreads,  ///< a card's THREADS, ACROSS, DOWN: the size of a block
  kOther,
};
inline constexpr size_t kRoles = static_cast<size_t>(Role::kOther) + 1;

/// Numbers at its end (of a kernel made of parts) do not count.
[[nodiscard]] Role role_of(std::string_view tunable, std::string_view pattern);

/// For kernels of GPUs too, whose words are more.
[[nodiscard]] Role role_of(std::string_view tunable, const kernel::Header& header);

/// The nearest other value in a direction (-1: smaller, +1: larger) that the constraints allow beside `config`.
[[nodiscard]] std::optional<int64_t> step(const kernel::Tunable& tunable, const kernel::Header& header, const kernel::Config& config,
                                          const kernel::Limits& limits, int direction);

}  // namespace hone::diagnose
