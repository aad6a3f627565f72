#include "hone/evaluate/measure/contest.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "hone/evaluate/compare/statistics.h"

namespace hone::evaluate {
namespace {

/// How much more time an undecided comparison deserves whose reported interval excludes 1: with more
/// processes it will likely be called, while one that straddles 1 most likely will not.
constexpr double kPromising = 3;
constexpr int kMostProcesses = 1000;  // where pairs have a lower cap: only bounds the loop, pairs or time end it long before

class Contest {
 public:
  Contest(Arena& arena, int opponents, const ContestOptions& options, base::Rng& rng)
      : arena_(arena), options_(options), rng_(rng), sides_(static_cast<size_t>(opponents)) {
    result_.opponents.resize(sides_.size());
  }

  Result<ContestResult> run();

 private:
  /// An opponent's costs (seconds).
  struct Side {
    double process = 0;  ///< its part of the latest process: start and batches
    double pair = 0;     ///< its latest batch with everything around it
  };

  [[nodiscard]] double elapsed() { return static_cast<double>(arena_.now_ns() - start_ns_) * 1e-9; }
  [[nodiscard]] double left() { return options_.seconds - elapsed(); }
  [[nodiscard]] bool undecided(size_t i) const {
    const Standing& standing = result_.opponents[i];
    return !standing.out && !(standing.comparer && standing.comparer->done());
  }
  [[nodiscard]] double weight(size_t i) const {
    const auto& comparer = result_.opponents[i].comparer;
    return comparer && comparer->leaning() != Comparison::kInconclusive ? kPromising : 1;
  }
  /// Time had, counted by what it deserves.
  [[nodiscard]] double progress(size_t i) const { return result_.opponents[i].seconds / weight(i); }
  [[nodiscard]] double share_of_rest(size_t i);
  [[nodiscard]] std::vector<size_t> pick(int process);
  [[nodiscard]] bool companion_plays() const {
    return !companion_out_ && static_cast<int>(result_.companion_ns.size()) < options_.companion_pairs;
  }

  Result<bool> play_process(int process, const std::vector<size_t>& playing);
  Result<bool> start_all(const std::vector<size_t>& playing);
  Result<bool> play_pair(int process, const std::vector<size_t>& players, bool companion);

  Arena& arena_;
  const ContestOptions& options_;
  base::Rng& rng_;
  std::vector<Side> sides_;
  ContestResult result_;
  int64_t start_ns_ = 0;
  double shared_ = 0;           ///< the candidate's part of the latest process (seconds)
  bool companion_out_ = false;
};

/// What is left, split among the undecided by weight.
double Contest::share_of_rest(size_t i) {
  double all = 0;
  for (size_t k = 0; k < sides_.size(); ++k)
    if (undecided(k)) all += weight(k);
  return all > 0 ? left() * weight(i) / all : 0;
}

std::vector<size_t> Contest::pick(int process) {
  std::vector<size_t> order;
  for (size_t i = 0; i < sides_.size(); ++i)
    if (undecided(i)) order.push_back(i);
  if (process == 0 || order.empty()) return order;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return progress(a) < progress(b); });
  // Those who have had least are due, and those within half a process of them. Whoever costs no more than
  // the candidate rides along: its samples are paid for, and apart they would have to be taken twice.
  const double least = progress(order.front());
  const auto due = [&](size_t i) {
    return sides_[i].process <= shared_ || progress(i) <= least + 0.5 * sides_[i].process / weight(i);
  };
  double rest = left() - shared_;
  std::vector<size_t> playing;
  const auto take = [&](size_t i) {
    playing.push_back(i);
    rest -= sides_[i].process;
  };
  for (const size_t i : order)
    if (due(i) && sides_[i].process <= rest) take(i);
  // What is too short for those who are due may do for another.
  if (playing.empty())
    for (const size_t i : order)
      if (sides_[i].process <= rest) {
        take(i);
        break;
      }
  return playing;
}

Result<bool> Contest::start_all(const std::vector<size_t>& playing) {
  HONE_TRY(const bool candidate, arena_.start(kCandidate));
  if (!candidate) return false;
  if (companion_plays()) {
    HONE_TRY(const bool companion, arena_.start(kCompanion));
    companion_out_ = !companion;
  }
  for (const size_t i : playing) {
    const double before = elapsed();
    HONE_TRY(const bool started, arena_.start(kFirstOpponent + static_cast<int>(i)));
    sides_[i].process = elapsed() - before;
    result_.opponents[i].out = !started;
  }
  return true;
}

Result<bool> Contest::play_pair(int process, const std::vector<size_t>& players, bool companion) {
  HONE_TRY_VOID(arena_.deal());
  std::vector<int> order{kCandidate};
  if (companion) order.push_back(kCompanion);
  for (const size_t i : players) order.push_back(kFirstOpponent + static_cast<int>(i));
  rng_.shuffle(order);
  std::map<int, Lap> laps;
  for (const int who : order) {
    const double before = elapsed();
    HONE_TRY(const std::optional<Lap> lap, arena_.time(who));
    if (who >= kFirstOpponent) {
      Side& side = sides_[static_cast<size_t>(who - kFirstOpponent)];
      side.pair = elapsed() - before;
      side.process += side.pair;
    }
    if (lap) {
      laps[who] = *lap;
    } else if (who == kCandidate) {
      return false;
    } else if (who == kCompanion) {
      companion_out_ = true;
    } else {
      result_.opponents[static_cast<size_t>(who - kFirstOpponent)].out = true;
    }
  }
  const Lap mine = laps.at(kCandidate);
  result_.candidate_ns.push_back(mine.ns);
  if (mine.mhz > 0) result_.candidate_mhz.push_back(mine.mhz);
  if (const auto other = laps.find(kCompanion); other != laps.end()) {
    result_.companion_ns.push_back(other->second.ns);
    result_.companion_ratio.push_back(other->second.ns / mine.ns);
  }
  for (const size_t i : players) {
    const auto found = laps.find(kFirstOpponent + static_cast<int>(i));
    if (found == laps.end()) continue;
    const Lap& other = found->second;
    Standing& standing = result_.opponents[i];
    if (!standing.comparer) standing.comparer.emplace(options_.compare);
    standing.times_ns.push_back(other.ns);
    standing.comparer->add({mine.ns, other.ns, process});
    if (mine.mhz > 0 && other.mhz > 0) standing.cycle_ratio.push_back(other.ns * other.mhz / (mine.ns * mine.mhz));
  }
  return true;
}

Result<bool> Contest::play_process(int process, const std::vector<size_t>& playing) {
  const double before = elapsed();
  HONE_TRY(const bool started, start_all(playing));
  if (!started) return false;
  for (int pair = 0; pair < options_.compare.pairs_per_process; ++pair) {
    std::vector<size_t> players;
    for (const size_t i : playing) {
      const bool too_dear = pair > 0 && sides_[i].pair > share_of_rest(i);
      if (!result_.opponents[i].out && !too_dear) players.push_back(i);
    }
    const bool companion = companion_plays();
    if (pair > 0 && players.empty() && !companion) break;
    HONE_TRY(const bool goes_on, play_pair(process, players, companion));
    if (!goes_on) return false;
  }
  double own = 0;
  for (const size_t i : playing) own += sides_[i].process;
  shared_ = elapsed() - before - own;
  for (const size_t i : playing) {
    result_.opponents[i].seconds += sides_[i].process + shared_ / static_cast<double>(playing.size());
    if (!undecided(i)) arena_.stop(kFirstOpponent + static_cast<int>(i));
  }
  if (!companion_plays()) arena_.stop(kCompanion);
  return true;
}

Result<ContestResult> Contest::run() {
  for (size_t i = 0; i < sides_.size(); ++i) {
    HONE_TRY(const bool ready, arena_.prepare(kFirstOpponent + static_cast<int>(i)));
    result_.opponents[i].out = !ready;
  }
  HONE_TRY_VOID(arena_.open());
  start_ns_ = arena_.now_ns();
  for (int process = 0; process < std::max(kMostProcesses, options_.compare.max_pairs); ++process) {
    const std::vector<size_t> playing = pick(process);
    const bool alone = std::none_of(result_.opponents.begin(), result_.opponents.end(), [&](const Standing& standing) {
      return undecided(static_cast<size_t>(&standing - result_.opponents.data()));
    });
    const bool companion_goes_on = companion_plays() && (process == 0 || (alone && shared_ <= left()));
    if (playing.empty() && !companion_goes_on) break;
    HONE_TRY(const bool goes_on, play_process(process, playing));
    if (!goes_on) {
      result_.candidate_failed = true;
      break;
    }
  }
  for (size_t i = 0; i < sides_.size(); ++i) result_.opponents[i].time_was_up = undecided(i);
  result_.seconds = elapsed();
  return std::move(result_);
}

}  // namespace

Comparison decision_of(const Standing& standing) {
  if (!standing.comparer) return Comparison::kInconclusive;
  const Comparison decision = standing.comparer->decision();
  if (standing.cycle_ratio.empty()) return decision;
  const double cycles = median(standing.cycle_ratio);
  const bool flips = (decision == Comparison::kFaster && cycles < 1) || (decision == Comparison::kSlower && cycles > 1);
  return flips ? Comparison::kInconclusive : decision;
}

Result<ContestResult> contest(Arena& arena, int opponents, const ContestOptions& options, base::Rng& rng) {
  HONE_CHECK(opponents >= 0 && options.companion_pairs >= 0);
  return Contest(arena, opponents, options, rng).run();
}

}  // namespace hone::evaluate
