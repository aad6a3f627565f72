#include "hone/target/arch_limits.h"

#include <algorithm>

namespace hone::target {
namespace {

constexpr int64_t kKiB = 1024;

constexpr ArchLimits kCards[] = {
    {"sm_75", "a T4", 32, 40, 1024, 16, 65536, 64 * kKiB, 64 * kKiB, 0},
    {"sm_80", "an A100", 32, 108, 2048, 32, 65536, 164 * kKiB, 163 * kKiB, kKiB},
    {"sm_86", "an A40", 32, 84, 1536, 16, 65536, 100 * kKiB, 99 * kKiB, kKiB},
    {"sm_89", "an L40S", 32, 142, 1536, 24, 65536, 100 * kKiB, 99 * kKiB, kKiB},
    {"sm_90", "an H200", 32, 132, 2048, 32, 65536, 228 * kKiB, 227 * kKiB, kKiB},
    {"sm_100", "a B200", 32, 148, 2048, 32, 65536, 228 * kKiB, 227 * kKiB, kKiB},
    {"gfx90a", "one die of an MI250X", 64, 110, 2048, 16, 512, 64 * kKiB, 64 * kKiB, 0},
    {"gfx942", "an MI300X", 64, 304, 2048, 16, 512, 64 * kKiB, 64 * kKiB, 0},
    {"gfx950", "an MI355X", 64, 256, 2048, 16, 512, 160 * kKiB, 160 * kKiB, 0},
};

int64_t up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/// Waves that fit the registers of a multiprocessor, which has four schedulers (SIMDs) with a quarter each.
int64_t waves_by_registers(const ArchLimits& card, int64_t registers) {
  const int64_t most = card.threads_per_sm / card.wave;
  if (registers <= 0) return most;
  // AMD gives them out in eights of a lane, NVIDIA in 256 of a warp.
  const int64_t each = card.amd() ? card.registers / up(registers, 8) : card.registers / 4 / up(registers * card.wave, 256);
  return std::min(most, 4 * each);
}

}  // namespace

const ArchLimits* arch_limits(std::string_view arch) {
  if (arch.starts_with("sm_") && (arch.ends_with('a') || arch.ends_with('f'))) arch.remove_suffix(1);
  for (const ArchLimits& card : kCards)
    if (card.arch == arch) return &card;
  return nullptr;
}

kernel::Limits plan_limits(const ArchLimits& card) { return {{"SMS", card.sms}, {"SHARED_MAX", card.shared_max}, {"WAVE", card.wave}}; }

Occupancy occupancy(const ArchLimits& card, int64_t threads, int64_t registers, int64_t shared) {
  Occupancy found;
  found.most_waves = card.threads_per_sm / card.wave;
  const int64_t waves = std::max<int64_t>(1, up(threads, card.wave) / card.wave);
  const auto limit = [&](int64_t blocks, const char* by) {
    if (!found.limited_by.empty() && blocks >= found.blocks) return;
    found.blocks = blocks;
    found.limited_by = by;
  };
  limit(found.most_waves / waves, "threads");
  limit(waves_by_registers(card, registers) / waves, "registers");
  // A group of one wave needs none of AMD's barriers, of which there are 16.
  limit(card.amd() && waves == 1 ? found.most_waves : card.blocks_per_sm, "blocks");
  if (shared > card.shared_max) limit(0, "shared memory");
  else if (const int64_t each = up(shared + card.shared_reserved, card.amd() ? 512 : 128); each > 0) limit(card.shared_per_sm / each, "shared memory");
  found.waves = found.blocks * waves;
  return found;
}

}  // namespace hone::target
