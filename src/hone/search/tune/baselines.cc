#include "hone/search/tune/baselines.h"

#include <algorithm>
#include <limits>

namespace hone::search::tune {
namespace {

constexpr size_t kPopulation = 20;
constexpr uint64_t kMutation = 10;  // one in so many
constexpr int kBreedings = 50;

/// A point of `space` that `given` lacks.
std::optional<Point> fresh(const Space& space, const PointSet& given, base::Rng& rng) {
  for (int attempt = 0; attempt < 1000; ++attempt)
    if (auto point = space.sample(rng); point && !given.contains(*point)) return point;
  for (const Point& point : space.points())
    if (!given.contains(point)) return point;
  return std::nullopt;
}

class Random final : public Searcher {
 public:
  Random(const Space& space, uint64_t seed) : space_(space), rng_(seed, 0x72616e) {}
  std::vector<Point> ask(int most) override {
    std::vector<Point> batch;
    while (static_cast<int>(batch.size()) < most) {
      auto point = fresh(space_, given_, rng_);
      if (!point) break;
      given_.insert(*point);
      batch.push_back(std::move(*point));
    }
    return batch;
  }
  void tell(const Point& point, std::optional<double>) override { given_.insert(point); }

 private:
  const Space& space_;
  base::Rng rng_;
  PointSet given_;
};

class Genetic final : public Searcher {
 public:
  Genetic(const Space& space, uint64_t seed) : space_(space), rng_(seed, 0x67656e) {}

  std::vector<Point> ask(int most) override {
    std::vector<Point> batch;
    while (static_cast<int>(batch.size()) < most) {
      if (waiting_.empty()) {
        if (unanswered_ > 0) break;  // the generation has to be complete
        breed();
        if (waiting_.empty()) break;
      }
      batch.push_back(waiting_.back());
      waiting_.pop_back();
      ++unanswered_;
    }
    return batch;
  }
  void tell(const Point& point, std::optional<double> cost) override {
    known_[point] = cost.value_or(std::numeric_limits<double>::infinity());
    given_.insert(point);
    if (unanswered_ > 0) --unanswered_;
  }

 private:
  void breed() {
    // Generations without a new point cost nothing, but cannot go on for ever.
    for (int generation = 0; waiting_.empty() && generation < kBreedings; ++generation) {
      std::vector<Point> next;
      if (population_.empty()) {
        for (size_t i = 0; i < kPopulation; ++i)
          if (auto point = space_.sample(rng_)) next.push_back(std::move(*point));
      } else {
        std::stable_sort(population_.begin(), population_.end(), [&](const Point& a, const Point& b) { return known_.at(a) < known_.at(b); });
        for (size_t i = 0; i < kPopulation; ++i) next.push_back(child());
      }
      population_ = std::move(next);
      for (const Point& point : population_)
        if (given_.insert(point).second) waiting_.push_back(point);
    }
    if (waiting_.empty())
      if (auto point = fresh(space_, given_, rng_)) given_.insert(*point), waiting_.push_back(std::move(*point));
    std::reverse(waiting_.begin(), waiting_.end());
  }

  /// The better one of two drawn.
  const Point& parent() { return population_[std::min(rng_.below(population_.size()), rng_.below(population_.size()))]; }

  Point child() {
    for (int attempt = 0; attempt < kBreedings; ++attempt) {
      const Point& mother = parent();
      const Point& father = parent();
      Point made(mother.size());
      for (size_t p = 0; p < made.size(); ++p) {
        made[p] = (rng_.below(2) ? mother : father)[p];
        if (rng_.below(kMutation) == 0) made[p] = static_cast<uint16_t>(rng_.below(space_.parameters()[p].values.size()));
      }
      if (space_.allowed(made)) return made;
    }
    return parent();
  }

  const Space& space_;
  base::Rng rng_;
  PointSet given_;
  PointMap<double> known_;
  std::vector<Point> population_, waiting_;
  int unanswered_ = 0;
};

}  // namespace

std::unique_ptr<Searcher> random_search(const Space& space, uint64_t seed) { return std::make_unique<Random>(space, seed); }
std::unique_ptr<Searcher> genetic_search(const Space& space, uint64_t seed) { return std::make_unique<Genetic>(space, seed); }

}  // namespace hone::search::tune
