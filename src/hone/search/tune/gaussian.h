// A Gaussian process over encoded points: what is known of a value near and far from what was measured. Matern
// covariance (nu = 5/2) with one length for each column, learnt by gradient steps on the posterior that go on from
// one fit to the next. Deterministic. One thread.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace hone::search::tune {

struct Belief {
  double mean = 0, deviation = 1;
};

class GaussianProcess {
 public:
  explicit GaussianProcess(size_t columns);
  ~GaussianProcess();
  /// `rows` holds values.size() encoded points, one after the other. `steps` gradient steps on the lengths first.
  void fit(std::span<const float> rows, std::span<const float> values, int steps);
  /// One belief for each of the encoded points. fit() came before. `own`: the share of the noise's variance that counts as
  /// the point's own and so adds to what its value may be.
  [[nodiscard]] std::vector<Belief> predict(std::span<const float> rows, double own = 0) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hone::search::tune
