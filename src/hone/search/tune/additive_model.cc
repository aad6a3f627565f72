#include "hone/search/tune/additive_model.h"

#include <fmt/format.h>

namespace hone::search {
namespace {

/// Weight of the pull towards zero, in observations.
constexpr double kShrinkage = 0.5;
constexpr int kSweeps = 30;

}  // namespace

std::vector<int> AdditiveModel::columns(int source, const kernel::Config& config, bool grow) {
  std::vector<int> found;
  const auto look = [&](const std::string& key) {
    const auto it = index_.find(key);
    if (it != index_.end()) {
      found.push_back(it->second);
    } else if (grow) {
      found.push_back(static_cast<int>(index_.size()));
      index_.emplace(key, found.back());
    }
  };
  look(fmt::format("source={}", source));
  // A value's effect is shared between sources (streaming helps or not whatever the body is) and may
  // differ by source where there is evidence for it.
  for (const auto& [name, value] : config) {
    look(fmt::format("{}={}", name, value));
    look(fmt::format("{}/{}={}", source, name, value));
  }
  return found;
}

void AdditiveModel::add(int source, const kernel::Config& config, double log_score) {
  rows_.push_back({columns(source, config, true), log_score});
  stale_ = true;
}

void AdditiveModel::fit() {
  effect_.assign(index_.size(), 0);
  mean_ = 0;
  for (const Row& row : rows_) mean_ += row.value / static_cast<double>(rows_.size());
  // Gauss-Seidel on the normal equations: few columns, few rows.
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t c = 0; c < effect_.size(); ++c) {
      double residual = 0;
      double count = kShrinkage;
      for (const Row& row : rows_) {
        bool has = false;
        double rest = row.value - mean_;
        for (const int column : row.columns) {
          if (static_cast<size_t>(column) == c) has = true;
          else rest -= effect_[static_cast<size_t>(column)];
        }
        if (!has) continue;
        residual += rest;
        count += 1;
      }
      effect_[c] = residual / count;
    }
  }
  stale_ = false;
}

double AdditiveModel::predict(int source, const kernel::Config& config) {
  if (stale_) fit();
  double value = mean_;
  for (const int column : columns(source, config, false)) value += effect_[static_cast<size_t>(column)];
  return value;
}

}  // namespace hone::search
