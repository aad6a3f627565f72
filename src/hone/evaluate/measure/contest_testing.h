// A modelled machine for contests: kernels with known times, noise and costs, and a clock that only they
// move. Deterministic. For tests.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "hone/evaluate/measure/contest.h"

namespace hone::evaluate {

/// A modelled kernel or library.
struct Model {
  double ns = 1e6;           ///< true time of a call
  double cost_s = 0.03;      ///< of timing one batch
  double start_s = 0.04;     ///< of a fresh process
  double prepare_s = 0;
  double mhz = 0;            ///< of the card's clock in its batches; 0: nobody reads it
  double noise = 0.02;       ///< lognormal, each sample
  double luck = 0.01;        ///< lognormal, each process
  double wild_share = 0;     ///< share of processes that take `wild` times as long
  double wild = 1;
  int fails_at = -1;         ///< number of the batch that fails
  bool starts = true;
  bool prepares = true;
};

class FakeArena final : public Arena {
 public:
  FakeArena(std::vector<Model> models, uint64_t seed) : models_(std::move(models)), rng_(seed), sides_(models_.size()) {}

  int64_t now_ns() override { return clock_.now_ns(); }
  Status open() override {
    spend(open_s);
    return {};
  }
  Result<bool> prepare(int who) override {
    spend(model(who).prepare_s);
    return model(who).prepares;
  }
  Result<bool> start(int who) override {
    spend(model(who).start_s);
    Side& s = side(who);
    ++s.processes;
    s.running = true;
    s.luck = model(who).luck * rng_.normal();
    if (rng_.uniform() < model(who).wild_share) s.luck += std::log(model(who).wild);
    return model(who).starts;
  }
  void stop(int who) override { side(who).running = false; }
  Status deal() override {
    spend(deal_s);
    ++deals;
    if (deals == interrupted_at) return fail(ErrorCode::kInterrupted, "interrupted");
    return {};
  }
  Result<std::optional<Lap>> time(int who) override {
    Side& s = side(who);
    EXPECT_TRUE(s.running) << who << " is timed without a process";
    spend(model(who).cost_s);
    if (s.batches++ == model(who).fails_at) return std::nullopt;
    return Lap{model(who).ns * std::exp(s.luck + model(who).noise * rng_.normal()), model(who).mhz};
  }

  [[nodiscard]] int processes(int who) const { return sides_[static_cast<size_t>(who)].processes; }
  [[nodiscard]] int batches(int who) const { return sides_[static_cast<size_t>(who)].batches; }
  [[nodiscard]] bool running(int who) const { return sides_[static_cast<size_t>(who)].running; }
  [[nodiscard]] double seconds() { return static_cast<double>(clock_.now_ns()) * 1e-9; }

  double deal_s = 0.03, open_s = 0;
  int deals = 0, interrupted_at = -1;

 private:
  struct Side {
    int processes = 0, batches = 0;
    bool running = false;
    double luck = 0;
  };
  const Model& model(int who) const { return models_[static_cast<size_t>(who)]; }
  Side& side(int who) { return sides_[static_cast<size_t>(who)]; }
  void spend(double seconds) { clock_.advance_ns(static_cast<int64_t>(seconds * 1e9)); }

  std::vector<Model> models_;
  base::FakeClock clock_;
  base::Rng rng_;
  std::vector<Side> sides_;
};

inline ContestOptions options(double seconds) {
  ContestOptions options;
  options.seconds = seconds;
  return options;
}

/// Candidate and companion are equal and quiet.
inline FakeArena arena(const std::vector<Model>& opponents, uint64_t seed = 1) {
  std::vector<Model> all(2);
  all.insert(all.end(), opponents.begin(), opponents.end());
  return {all, seed};
}

inline ContestResult play(FakeArena& arena, int opponents, const ContestOptions& options, uint64_t seed = 1) {
  base::Rng rng(seed);
  auto result = contest(arena, opponents, options, rng);
  EXPECT_TRUE(result.has_value());
  return std::move(*result);
}

}  // namespace hone::evaluate
