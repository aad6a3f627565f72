#include "hone/search/changes.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace hone::search {
namespace {

using diagnose::kRoles, diagnose::Metrics, diagnose::Role;

/// Shares as they are; counts as powers of two. kCounter: of these only a card's counters tell, or they tell something else.
enum class Kind : uint8_t { kShare, kCount, kCounter };
struct Column {
  std::string_view metric;
  Kind kind = Kind::kShare;
};
constexpr Kind kCount = Kind::kCount, kCounter = Kind::kCounter;
constexpr Column kColumns[] = {
    {"light"}, {"sm_active_share"}, {"sm_balance", kCounter}, {"dram_share", kCounter}, {"l2_share", kCounter}, {"l1_share", kCounter},
    {"issue_share", kCounter}, {"arithmetic_share", kCounter}, {"tensor_share", kCounter}, {"memory_stall_share", kCounter},
    {"execution_stall_share", kCounter}, {"ready_share", kCounter}, {"barrier_stall_share", kCounter}, {"shared_stall_share", kCounter},
    {"queue_stall_share", kCounter}, {"occupancy", kCounter}, {"occupancy_limit", kCounter}, {"occupancy_modelled"}, {"limited_by_registers"},
    {"limited_by_shared"}, {"registers", kCount}, {"spill_bytes", kCount}, {"waves", kCount}, {"block_threads", kCount}, {"fewest_blocks", kCount},
    {"code_loads", kCount}, {"code_load_bytes", kCount}, {"launches", kCount}, {"workspace_ratio"}, {"load_sectors"}, {"store_sectors"},
    {"excess_sector_share"}, {"lane_share"}, {"dram_read_ratio", kCounter}, {"l2_read_ratio", kCounter}, {"l1_read_ratio"}, {"shared_share", kCounter},
    {"shared_conflict_share"}};
constexpr size_t kCounters = static_cast<size_t>(std::count_if(std::begin(kColumns), std::end(kColumns), [](const Column& c) { return c.kind == kCounter; }));
/// Of a row with what counters tell, and without.
constexpr size_t kWidth = std::size(kColumns) + kRoles + 2, kWidthWithout = kWidth - kCounters;
/// Of a role, before it is believed to know anything; and the gains beyond which more means nothing.
constexpr int kEnough = 20;
constexpr double kMost = 0.7;
constexpr tune::ForestShape kShape = {.trees = 100, .tries = 12, .leaf = 5, .oblique = 0.2};

void encode(const Metrics& metrics, Role role, int64_t from, int64_t to, bool counted, std::vector<float>& rows) {
  for (const Column& column : kColumns) {
    if (column.kind == kCounter && !counted) continue;
    const double value = metrics.get_or(column.metric, 0);
    rows.push_back(static_cast<float>(column.kind == kCount ? std::log2(std::max(0.0, value) + 1) : value));
  }
  for (size_t r = 0; r < kRoles; ++r) rows.push_back(r == static_cast<size_t>(role) ? 1.F : 0.F);
  rows.push_back(to > from ? 1.F : -1.F);
  rows.push_back(from > 0 && to > 0 ? static_cast<float>(std::log2(static_cast<double>(to) / static_cast<double>(from))) : 0.F);
}

}  // namespace

void Changes::add(const Metrics& before, Role role, int64_t from, int64_t to, double log_gain) {
  const bool counted = diagnose::counted(before);
  for (Lessons* const lessons : {&all_, &counted_}) {
    const bool with_counters = lessons == &counted_;
    if (with_counters && !counted) continue;
    encode(before, role, from, to, with_counters, lessons->rows);
    lessons->gains.push_back(static_cast<float>(std::clamp(log_gain, -kMost, kMost)));
    ++lessons->of_role[static_cast<size_t>(role)];
    lessons->forest.reset();
  }
}

std::vector<tune::Effect> Changes::expect(const Metrics& metrics, const kernel::Header& header, const kernel::Config& config,
                                    const kernel::Limits& limits) const {
  const bool counted = diagnose::counted(metrics);
  const Lessons& lessons = counted ? counted_ : all_;
  std::vector<tune::Effect> effects;
  std::vector<float> asked;
  for (const kernel::Tunable& tunable : header.tunables) {
    const Role role = diagnose::role_of(tunable.name, header);
    const auto now = config.find(tunable.name);
    // Those of no role have nothing in common but that.
    if (now == config.end() || role == Role::kOther || lessons.of_role[static_cast<size_t>(role)] < kEnough) continue;
    for (const int64_t value : tunable.values) {
      if (value == now->second) continue;
      kernel::Config other = config;
      other[tunable.name] = value;
      if (const auto fine = kernel::allowed(header, other, limits); !fine || !*fine) continue;
      encode(metrics, role, now->second, value, counted, asked);
      effects.push_back({tunable.name, value, 0});
    }
  }
  if (effects.empty()) return effects;
  if (!lessons.forest) {
    lessons.forest.emplace(counted ? kWidth : kWidthWithout, kShape);
    base::Rng rng(1);
    lessons.forest->fit(lessons.rows, lessons.gains, rng);
  }
  const std::vector<tune::Belief> beliefs = lessons.forest->predict(asked);
  // Where trees and leaves disagree by more than what they say, little of that is worth saying.
  for (size_t i = 0; i < effects.size(); ++i) {
    const double mean = beliefs[i].mean, doubt = beliefs[i].deviation;
    effects[i].log_gain = mean * (mean * mean / (mean * mean + doubt * doubt + 1e-12));
  }
  return effects;
}

}  // namespace hone::search
