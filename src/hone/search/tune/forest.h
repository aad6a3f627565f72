// A forest of randomised regression trees whose splits may run along sums and differences of two columns, as sizes
// multiply in kernels (threads a block, elements a thread). Deterministic for its seed. One thread.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "hone/base/random.h"
#include "hone/search/tune/gaussian.h"

namespace hone::search::tune {

struct ForestShape {
  int trees = 30;
  int tries = 6;        ///< splits tried at a node
  int leaf = 2;         ///< no leaf has fewer observations
  double oblique = 0.4; ///< share of tries along two columns
};

class Forest {
 public:
  explicit Forest(size_t columns, ForestShape shape = {}) : columns_(columns), shape_(shape) {}
  /// `rows` holds values.size() encoded points, one after the other.
  void fit(std::span<const float> rows, std::span<const float> values, base::Rng& rng);
  /// Mean over the trees, and how far they and their leaves disagree.
  [[nodiscard]] std::vector<Belief> predict(std::span<const float> rows) const;

 private:
  struct Node {
    int left = -1;              ///< the right one follows it; -1: a leaf
    uint16_t a = 0, b = 0;
    float factor = 0;           ///< x[a] + factor * x[b] < threshold goes left
    float threshold = 0;
    float mean = 0, variance = 0;
  };
  void grow(std::span<const float> rows, std::span<const float> values, std::span<int> members, base::Rng& rng);

  size_t columns_;
  ForestShape shape_;
  std::vector<uint16_t> varying_;
  std::vector<Node> nodes_;
  std::vector<int> roots_;
};

}  // namespace hone::search::tune
