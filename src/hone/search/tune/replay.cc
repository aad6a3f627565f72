#include "hone/search/tune/replay.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <numeric>

namespace hone::search::tune {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

Replay replay(Searcher& searcher, const Oracle& oracle, int evaluations, int batch) {
  Replay result;
  while (static_cast<int>(result.points.size()) < evaluations) {
    double begin = cpu_seconds();
    const auto asked = searcher.ask(std::min(batch, evaluations - static_cast<int>(result.points.size())));
    result.search_seconds += cpu_seconds() - begin;
    if (asked.empty()) break;
    for (const Point& point : asked) {
      const auto cost = oracle(point);
      begin = cpu_seconds();
      searcher.tell(point, cost);
      result.search_seconds += cpu_seconds() - begin;
      result.points.push_back(point);
      result.costs.push_back(cost);
    }
  }
  return result;
}

RacedReplay raced_replay(Searcher& searcher, const TuningCache& cache, int evaluations, RaceOptions options) {
  PointMap<size_t> index;
  for (size_t n = 0; n < cache.points.size(); ++n) index[cache.points[n]] = n;
  std::vector<size_t> entered;
  const auto first = static_cast<size_t>(options.first);
  const Replay search = replay(searcher, [&](const Point& point) -> std::optional<double> {
    const size_t n = index.at(point);
    const Measured& m = cache.measured[n];
    if (!m.cost || m.times.size() < first) return std::nullopt;
    entered.push_back(n);
    return std::accumulate(m.times.begin(), m.times.begin() + options.first, 0.0) / options.first;
  }, evaluations);
  RacedReplay result;
  if (entered.empty()) return result;
  double spent = 0, all = 0, least = std::numeric_limits<double>::infinity();
  for (const size_t n : entered) {
    const Measured& m = cache.measured[n];
    options.repetitions = std::min(options.repetitions, static_cast<int>(m.times.size()));
    all += std::accumulate(m.times.begin(), m.times.end(), 0.0);
    least = std::min(least, *m.cost);
  }
  Race race(entered.size(), options);
  std::vector<size_t> taken(entered.size(), 0);
  for (auto round = race.round(); !round.empty(); round = race.round())
    for (const size_t e : round) {
      const double time = cache.measured[entered[e]].times[taken[e]++];
      spent += time;
      race.tell(e, time);
    }
  result.loss = *cache.measured[entered[race.winner()]].cost / least - 1;
  result.device_share = spent / all;
  return result;
}

}  // namespace hone::search::tune
