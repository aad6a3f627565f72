// Simulated measurement sessions, to test comparing where the truth is known. Owns: noise models
// and the loop a sampler would run. Used by tests only; header so that both test programs share it.
// Deterministic from a seed; no clock.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "hone/base/random.h"
#include "hone/evaluate/compare/compare.h"

namespace hone::evaluate::simulate {

/// Everything that disturbs a sample, multiplied together. "Side" is candidate or opponent.
struct Noise {
  std::string name;
  double sample = 0.03;          ///< lognormal, each sample on its own
  double luck = 0;               ///< lognormal, each process and side on its own
  double coin_luck = 0;          ///< each process and side: this much slower, or not, at even odds
  double wild_share = 0;         ///< share of processes, each side on its own, that are this much slower:
  double wild = 0;
  double linear = 0;             ///< drift of both sides over a session of 400 samples
  double wave = 0;               ///< amplitude of a slow sine of both sides, period 37 samples
  double walk = 0;               ///< AR(1), correlation 0.95, of both sides
  double side_walk = 0;          ///< AR(1), correlation 0.8, each side on its own, anew per process
  double second_mode = 0;        ///< share of samples that take 30 % longer
  double spikes = 0;             ///< share of samples hit by a Pareto(1.1) spike of 5 % and up
};

/// The models that false-call rates are quoted for. Noise is 3 % a sample, but 1 % where
/// it would hide two-valued luck.
inline std::vector<Noise> models() {
  return {
      {.name = "independent"},
      {.name = "linear drift +30 %", .linear = 0.30},
      {.name = "sine drift 10 %", .wave = 0.10},
      {.name = "process luck 1 % a side", .luck = 0.01},
      {.name = "two-valued luck 2 %", .sample = 0.01, .coin_luck = 0.02},
      {.name = "bimodal, 10 % at +30 %", .second_mode = 0.10},
      {.name = "heavy tails, 10 % spikes", .spikes = 0.10},
      {.name = "shared AR(1) 5 %", .walk = 0.05},
      {.name = "own AR(1) 2 % a side", .side_walk = 0.02},
      {.name = "luck, drift, modes, spikes", .luck = 0.01, .linear = 0.30, .wave = 0.05,
       .second_mode = 0.10, .spikes = 0.05},
  };
}

/// Neighbours that come and go, and a few processes that are far off: what restarts of a library on a
/// shared machine look like. Differences of 5 % drown in it.
inline std::vector<Noise> rough_models() {
  return {
      {.name = "process luck 10 % a side", .luck = 0.10},
      {.name = "1 process in 6 takes twice as long", .luck = 0.03, .wild_share = 1.0 / 6, .wild = 1.0},
      {.name = "1 process in 10 takes 8 times as long", .luck = 0.03, .wild_share = 0.1, .wild = 7.0},
      {.name = "spikes on 3 samples in 10", .sample = 0.10, .luck = 0.05, .second_mode = 0.10, .spikes = 0.30},
  };
}

/// One simulated session: endless pairs with a known true ratio.
class Session {
 public:
  /// `truth`: opponent's time over the candidate's.
  Session(const Noise& noise, double truth, uint64_t seed)
      : noise_(noise), truth_(truth), rng_(seed, 0x5E5510) {
    shared_ = noise.walk * rng_.normal();
    restart();
  }

  void restart() {
    ++process_;
    for (int side = 0; side < 2; ++side) {
      luck_[side] = noise_.luck * rng_.normal();
      if (noise_.coin_luck > 0 && rng_.uniform() < 0.5) luck_[side] += std::log1p(noise_.coin_luck);
      if (noise_.wild_share > 0 && rng_.uniform() < noise_.wild_share) luck_[side] += std::log1p(noise_.wild);
      own_[side] = noise_.side_walk * rng_.normal();
    }
  }

  PairedSample pair() {
    const int first = rng_.uniform() < 0.5 ? 0 : 1;
    double ns[2];
    ns[first] = sample(first);
    ns[1 - first] = sample(1 - first);
    return {ns[0], ns[1] * truth_, process_};
  }

 private:
  double sample(int side) {
    const double at = tick_++;
    shared_ = 0.95 * shared_ + std::sqrt(1 - 0.95 * 0.95) * noise_.walk * rng_.normal();
    own_[side] = 0.8 * own_[side] + 0.6 * noise_.side_walk * rng_.normal();
    double log_ns = std::log(1e5) + noise_.sample * rng_.normal() + luck_[side] + shared_ +
                    own_[side] + noise_.linear * at / 400 +
                    noise_.wave * std::sin(2 * std::numbers::pi * at / 37);
    if (rng_.uniform() < noise_.second_mode) log_ns += std::log(1.3);
    if (rng_.uniform() < noise_.spikes) {
      log_ns += std::log1p(0.05 * std::pow(1 - rng_.uniform(), -1 / 1.1));
    }
    return std::exp(log_ns);
  }

  Noise noise_;
  double truth_;
  base::Rng rng_;
  int process_ = -1;
  double luck_[2] = {}, own_[2] = {}, shared_ = 0;
  double tick_ = 0;
};

/// Samples until the comparer is done.
inline Comparer run_session(const Noise& noise, double truth, uint64_t seed,
                            const CompareOptions& options = {}) {
  Session session(noise, truth, seed);
  Comparer comparer(options);
  while (!comparer.done()) {
    if (comparer.wants_new_process()) session.restart();
    comparer.add(session.pair());
  }
  return comparer;
}

/// What became of many sessions. Shares are in [0, 1].
struct Tally {
  double faster = 0, slower = 0;
  double covered = 0;     ///< reported interval at stopping holds the truth
  double pairs = 0;       ///< mean, over all sessions
};

inline Tally tally(const Noise& noise, double truth, int trials, uint64_t seed,
                   const CompareOptions& options = {}) {
  Tally out;
  for (int trial = 0; trial < trials; ++trial) {
    const auto id = static_cast<uint64_t>(trial);
    const Comparer c = run_session(noise, truth, base::philox(seed, id)[0] + (id << 32), options);
    const Comparison call = c.decision();
    const Ratio ratio = c.ratio();
    out.faster += call == Comparison::kFaster;
    out.slower += call == Comparison::kSlower;
    out.covered += ratio.low <= truth && truth <= ratio.high;
    out.pairs += c.pairs();
  }
  out.faster /= trials;
  out.slower /= trials;
  out.covered /= trials;
  out.pairs /= trials;
  return out;
}

}  // namespace hone::evaluate::simulate
