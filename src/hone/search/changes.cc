#include "hone/search/changes.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace hone::search {
namespace {

using diagnose::Metrics, diagnose::Role;

/// Shares as they are; counts (true) as powers of two.
struct Column {
  std::string_view metric;
  bool count = false;
};
constexpr Column kColumns[] = {
    {"light"}, {"sm_active_share"}, {"sm_balance"}, {"dram_share"}, {"l2_share"}, {"l1_share"}, {"issue_share"}, {"arithmetic_share"}, {"tensor_share"},
    {"memory_stall_share"}, {"execution_stall_share"}, {"ready_share"}, {"barrier_stall_share"}, {"shared_stall_share"}, {"queue_stall_share"},
    {"occupancy"}, {"occupancy_limit"}, {"occupancy_modelled"}, {"limited_by_registers"}, {"limited_by_shared"}, {"registers", true}, {"spill_bytes", true},
    {"waves", true}, {"block_threads", true}, {"fewest_blocks", true}, {"code_loads", true}, {"code_load_bytes", true}, {"launches", true}, {"workspace_ratio"},
    {"load_sectors"}, {"store_sectors"}, {"excess_sector_share"}, {"lane_share"}, {"dram_read_ratio"}, {"l2_read_ratio"}, {"l1_read_ratio"},
    {"shared_share"}, {"shared_conflict_share"}};
constexpr size_t kRoles = static_cast<size_t>(Role::kOther) + 1;
constexpr size_t kWidth = std::size(kColumns) + kRoles + 2;
/// Of a role, before it is believed to know anything; and the gains beyond which more means nothing.
constexpr int kEnough = 20;
constexpr double kMost = 0.7;
constexpr tune::ForestShape kShape = {.trees = 100, .tries = 12, .leaf = 5, .oblique = 0.2};

void encode(const Metrics& metrics, Role role, int64_t from, int64_t to, std::vector<float>& rows) {
  for (const Column& column : kColumns) {
    const double value = metrics.get_or(column.metric, 0);
    rows.push_back(static_cast<float>(column.count ? std::log2(std::max(0.0, value) + 1) : value));
  }
  for (size_t r = 0; r < kRoles; ++r) rows.push_back(r == static_cast<size_t>(role) ? 1.F : 0.F);
  rows.push_back(to > from ? 1.F : -1.F);
  rows.push_back(from > 0 && to > 0 ? static_cast<float>(std::log2(static_cast<double>(to) / static_cast<double>(from))) : 0.F);
}

}  // namespace

void Changes::add(const Metrics& before, Role role, int64_t from, int64_t to, double log_gain) {
  encode(before, role, from, to, rows_);
  gains_.push_back(static_cast<float>(std::clamp(log_gain, -kMost, kMost)));
  ++of_role_[static_cast<size_t>(role)];
  forest_.reset();
}

std::vector<tune::Effect> Changes::expect(const Metrics& metrics, const kernel::Header& header, const kernel::Config& config,
                                    const kernel::Limits& limits) const {
  std::vector<tune::Effect> effects;
  std::vector<float> asked;
  for (const kernel::Tunable& tunable : header.tunables) {
    const Role role = diagnose::role_of(tunable.name, header);
    const auto now = config.find(tunable.name);
    // Those of no role have nothing in common but that.
    if (now == config.end() || role == Role::kOther || of_role_[static_cast<size_t>(role)] < kEnough) continue;
    for (const int64_t value : tunable.values) {
      if (value == now->second) continue;
      kernel::Config other = config;
      other[tunable.name] = value;
      if (const auto fine = kernel::allowed(header, other, limits); !fine || !*fine) continue;
      encode(metrics, role, now->second, value, asked);
      effects.push_back({tunable.name, value, 0});
    }
  }
  if (effects.empty()) return effects;
  if (!forest_) {
    forest_.emplace(kWidth, kShape);
    base::Rng rng(1);
    forest_->fit(rows_, gains_, rng);
  }
  const std::vector<tune::Belief> beliefs = forest_->predict(asked);
  // Where trees and leaves disagree by more than what they say, little of that is worth saying.
  for (size_t i = 0; i < effects.size(); ++i) {
    const double mean = beliefs[i].mean, doubt = beliefs[i].deviation;
    effects[i].log_gain = mean * (mean * mean / (mean * mean + doubt * doubt + 1e-12));
  }
  return effects;
}

}  // namespace hone::search
