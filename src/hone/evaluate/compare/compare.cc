#include "hone/evaluate/compare/compare.h"

#include <algorithm>
#include <cmath>

#include "hone/base/random.h"
#include "hone/base/result.h"
#include "hone/evaluate/compare/sequence.h"

namespace hone::evaluate {
namespace {

constexpr int kPairsALook = 8;

}  // namespace

std::string_view name_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::kFaster: return "FASTER";
    case Comparison::kSlower: return "SLOWER";
    case Comparison::kInconclusive: break;
  }
  return "INCONCLUSIVE";
}

std::string_view name_of(StopReason reason) {
  switch (reason) {
    case StopReason::kSampling: return "sampling";
    case StopReason::kDecided: return "decided";
    case StopReason::kEquivalent: return "equivalent";
    case StopReason::kPrecise: return "precise";
    case StopReason::kCap: break;
  }
  return "cap";
}

bool usable(const PairedSample& sample) {
  return std::isfinite(sample.candidate_ns) && std::isfinite(sample.opponent_ns) &&
         sample.candidate_ns > 0 && sample.opponent_ns > 0;
}

Comparer::Comparer(const CompareOptions& options) : options_(options) {
  HONE_CHECK(options.alpha > 0 && options.alpha < 1);
  HONE_CHECK(options.confidence > 0 && options.confidence < 1);
  HONE_CHECK(options.margin >= 0 && options.half_width >= 0);
  HONE_CHECK(options.min_pairs >= 1 && options.max_pairs >= options.min_pairs);
  HONE_CHECK(options.min_processes >= 1 && options.pairs_per_process >= 1);
  HONE_CHECK(options.replicates >= 1);
}

void Comparer::add(const PairedSample& sample) {
  HONE_CHECK(usable(sample));
  const double x = std::log(sample.opponent_ns / sample.candidate_ns);

  // The process is nearly always the latest one.
  size_t slot = latest_;
  if (processes_.empty() || processes_[slot].id != sample.process) {
    const auto found = std::find_if(processes_.begin(), processes_.end(),
                                    [&](const Process& p) { return p.id == sample.process; });
    slot = static_cast<size_t>(found - processes_.begin());
    if (found == processes_.end()) processes_.push_back({sample.process, {}});
  }
  latest_ = slot;
  auto& own = processes_[slot].sorted;
  own.insert(std::upper_bound(own.begin(), own.end(), x), x);

  const auto at = std::upper_bound(sorted_.begin(), sorted_.end(), x);
  slots_.insert(slots_.begin() + (at - sorted_.begin()), static_cast<uint32_t>(slot));
  sorted_.insert(at, x);
  ratio_.reset();
}

bool Comparer::wants_new_process() const {
  return !processes_.empty() &&
         processes_[latest_].sorted.size() >= static_cast<size_t>(options_.pairs_per_process);
}

bool Comparer::is_full(size_t slot) const {
  // A process that was left early, for dropped samples say, counts from half its share.
  const size_t share = static_cast<size_t>(options_.pairs_per_process);
  const size_t have = processes_[slot].sorted.size();
  return have >= share || (slot != latest_ && 2 * have >= share);
}

size_t Comparer::full_processes() const {
  size_t full = 0;
  for (size_t slot = 0; slot < processes_.size(); ++slot) full += is_full(slot);
  return full;
}

std::vector<double> Comparer::process_medians() const {
  std::vector<double> medians;
  for (size_t slot = 0; slot < processes_.size(); ++slot) {
    if (is_full(slot)) medians.push_back(median_of_sorted(processes_[slot].sorted));
  }
  return medians;
}

Interval Comparer::over_processes() const {
  std::vector<double> medians = process_medians();
  const Interval t = mean_sequence(medians, kShareOfT * options_.alpha, kEffectScale);
  std::sort(medians.begin(), medians.end());
  const Interval signs = median_sequence(medians, kShareOfSigns * options_.alpha);
  // Each misses with its share of alpha, so both hold together: what either refutes is refuted.
  const Interval both{std::max(t.low, signs.low), std::min(t.high, signs.high)};
  if (both.low <= both.high) return both;
  // They exclude each other where mean and median differ: then neither is believed alone.
  return {std::min(t.low, signs.low), std::max(t.high, signs.high)};
}

Ratio Comparer::always_valid() const {
  if (sorted_.empty()) return {};
  Interval hull = median_sequence(sorted_, options_.alpha);
  if (options_.min_processes > 1) {
    const Interval between = over_processes();
    hull = {std::min(hull.low, between.low), std::max(hull.high, between.high)};
  }
  return {std::exp(median_of_sorted(sorted_)), std::exp(hull.low), std::exp(hull.high)};
}

Ratio Comparer::ratio() const {
  if (sorted_.empty()) return {};
  if (!ratio_) {
    const Interval interval =
        options_.min_processes == 1
            ? median_interval(sorted_, options_.confidence)
            : bootstrap_over_processes();
    ratio_ = Ratio{std::exp(median_of_sorted(sorted_)), std::exp(interval.low),
                   std::exp(interval.high)};
  }
  return *ratio_;
}

Interval Comparer::bootstrap_over_processes() const {
  const size_t k = processes_.size();
  if (k < 2) {
    const double infinity = std::numeric_limits<double>::infinity();
    return {-infinity, infinity};
  }
  // A replicate draws k processes with replacement. Its median is found by walking the sorted
  // ratios, each counted as often as its process was drawn.
  base::Rng rng(options_.seed);
  std::vector<double> medians(static_cast<size_t>(options_.replicates));
  std::vector<uint32_t> drawn(k);
  for (double& m : medians) {
    std::fill(drawn.begin(), drawn.end(), 0);
    size_t total = 0;
    for (size_t i = 0; i < k; ++i) {
      const size_t slot = rng.below(k);
      ++drawn[slot];
      total += processes_[slot].sorted.size();
    }
    size_t seen = 0, i = 0;
    while (true) {
      seen += drawn[slots_[i]];
      if (2 * seen >= total) break;
      ++i;
    }
    m = sorted_[i];
    if (2 * seen == total) {
      size_t next = i + 1;
      while (drawn[slots_[next]] == 0) ++next;
      m = 0.5 * (m + sorted_[next]);
    }
  }
  std::sort(medians.begin(), medians.end());
  const double tail = 0.5 * (1.0 - options_.confidence);
  // Few processes show too little of their own spread: scale as Student's interval for the mean
  // of k values is scaled against the plain bootstrap.
  const auto count = static_cast<double>(k);
  const double widening = std::sqrt(count / (count - 1)) *
                         student_t(options_.confidence, static_cast<int>(k) - 1) /
                         normal_z(options_.confidence);
  const double centre = median_of_sorted(sorted_);
  return {centre - widening * std::max(0.0, centre - quantile_of_sorted(medians, tail)),
          centre + widening * std::max(0.0, quantile_of_sorted(medians, 1.0 - tail) - centre)};
}

Comparison Comparer::side_of(const Ratio& interval) const {
  if (interval.low > 1.0 + options_.margin) return Comparison::kFaster;
  if (interval.high < 1.0 / (1.0 + options_.margin)) return Comparison::kSlower;
  return Comparison::kInconclusive;
}

bool Comparer::has_enough() const {
  if (pairs() < options_.min_pairs) return false;
  return options_.min_processes == 1 ||
         full_processes() >= static_cast<size_t>(options_.min_processes);
}

Comparison Comparer::decision() const {
  if (!has_enough()) return Comparison::kInconclusive;
  // The cheapest first: it spares the others, and the bootstrap, most of the time.
  const Interval pairs = median_sequence(sorted_, options_.alpha);
  if (side_of({1, std::exp(pairs.low), std::exp(pairs.high)}) == Comparison::kInconclusive) return Comparison::kInconclusive;
  const Comparison valid = side_of(always_valid());
  if (valid == Comparison::kInconclusive) return valid;
  return agreed(valid, side_of(ratio()));
}

Ratio Comparer::deciding() const {
  const Ratio fixed = ratio();
  // Too few pairs to say anything.
  if (!has_enough()) return {fixed.median, 0, std::numeric_limits<double>::infinity()};
  const Ratio valid = always_valid();
  return {fixed.median, std::min(fixed.low, valid.low), std::max(fixed.high, valid.high)};
}

Comparison Comparer::leaning() const { return side_of(ratio()); }

bool Comparer::could_be_precise() const {
  // Looked at between processes only, about every eight pairs, and no interval is narrower than one
  // standard error: this spares most bootstraps.
  if (options_.min_processes == 1) return true;
  if (!is_full(latest_) || pairs() % kPairsALook >= options_.pairs_per_process) return false;
  const std::vector<double> medians = process_medians();
  double mean = 0, squares = 0;
  const auto k = static_cast<double>(medians.size());
  for (const double m : medians) mean += m / k;
  for (const double m : medians) squares += (m - mean) * (m - mean);
  return std::sqrt(squares / (k - 1) / k) <= options_.half_width;
}

StopReason Comparer::stop_reason() const {
  if (!has_enough()) {
    return pairs() >= options_.max_pairs ? StopReason::kCap : StopReason::kSampling;
  }
  if (decision() != Comparison::kInconclusive) return StopReason::kDecided;
  if (options_.margin > 0) {
    const Ratio valid = always_valid();
    if (valid.low >= 1.0 / (1.0 + options_.margin) && valid.high <= 1.0 + options_.margin)
      return StopReason::kEquivalent;
  }
  if (could_be_precise()) {
    const Ratio reported = ratio();
    // A narrow interval that excludes 1 is worth more pairs: the call may still come.
    if (reported.relative_half_width() <= options_.half_width &&
        side_of(reported) == Comparison::kInconclusive) {
      return StopReason::kPrecise;
    }
  }
  return pairs() >= options_.max_pairs ? StopReason::kCap : StopReason::kSampling;
}

}  // namespace hone::evaluate
