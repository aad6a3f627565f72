#include "hone/search/tune/race.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "hone/base/result.h"

namespace hone::search::tune {
namespace {

/// After so many repetitions of the final, those are out whose mean is behind the leader's by more than this many
/// standard errors of the difference.
constexpr size_t kLeastFinal = 4;
constexpr double kErrors = 4;

struct Mean {
  double value = 0, error = 0;
};
Mean mean_of(const double* begin, const double* end) {
  const auto count = static_cast<double>(end - begin);
  Mean mean;
  for (const double* t = begin; t != end; ++t) mean.value += *t / count;
  double squares = 0;
  for (const double* t = begin; t != end; ++t) squares += (*t - mean.value) * (*t - mean.value);
  mean.error = count > 1 ? std::sqrt(squares / (count - 1) / count) : mean.value;
  return mean;
}

}  // namespace

Race::Race(size_t entrants, RaceOptions options) : options_(options), times_(entrants) {
  HONE_CHECK(options_.first >= 1 && options_.repetitions >= options_.first && options_.finalists >= 1, "a race of nothing");
}

void Race::tell(size_t entrant, double time) { times_[entrant].push_back(time); }

std::vector<size_t> Race::finalists() const {
  const auto first = static_cast<size_t>(options_.first);
  std::vector<double> early(times_.size());
  for (size_t e = 0; e < times_.size(); ++e) early[e] = mean_of(times_[e].data(), times_[e].data() + first).value;
  std::vector<size_t> order(times_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return early[a] < early[b]; });
  if (order.size() > static_cast<size_t>(options_.finalists)) order.resize(static_cast<size_t>(options_.finalists));
  std::erase_if(order, [&](size_t e) { return early[e] > (1 + options_.margin) * early[order.front()]; });
  return order;
}

std::vector<size_t> Race::round() const {
  const auto first = static_cast<size_t>(options_.first);
  std::vector<size_t> due;
  for (size_t e = 0; e < times_.size(); ++e)
    if (times_[e].size() < first) due.push_back(e);
  if (!due.empty() || times_.empty()) return due;
  std::vector<size_t> open = finalists();
  if (open.size() < 2) return {};
  // All that take part have the same number of times, as nobody comes back.
  size_t most = 0;
  for (const size_t e : open) most = std::max(most, times_[e].size());
  if (most >= static_cast<size_t>(options_.repetitions)) return {};
  std::erase_if(open, [&](size_t e) { return times_[e].size() < most; });
  if (most >= first + kLeastFinal) {
    const auto of = [&](size_t e) { return mean_of(times_[e].data() + first, times_[e].data() + times_[e].size()); };
    Mean leader = of(open.front());
    for (const size_t e : open)
      if (const Mean mean = of(e); mean.value < leader.value) leader = mean;
    std::erase_if(open, [&](size_t e) {
      const Mean mean = of(e);
      return mean.value - leader.value > kErrors * std::hypot(mean.error, leader.error);
    });
    if (open.size() < 2) return {};
  }
  // Who begins changes from round to round.
  std::rotate(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(most % open.size()), open.end());
  return open;
}

double Race::standing(size_t entrant) const {
  const auto& times = times_[entrant];
  const auto first = std::min(times.size(), static_cast<size_t>(options_.first));
  return mean_of(times.data() + (times.size() > first ? first : 0), times.data() + times.size()).value;
}

size_t Race::winner() const {
  HONE_CHECK(!times_.empty(), "a race of nobody");
  const std::vector<size_t> last = finalists();
  size_t most = 0;
  for (const size_t e : last) most = std::max(most, times_[e].size());
  size_t best = last.front();
  bool any = false;
  for (const size_t e : last) {
    if (times_[e].size() < most) continue;
    if (!any || standing(e) < standing(best)) best = e, any = true;
  }
  return best;
}

}  // namespace hone::search::tune
