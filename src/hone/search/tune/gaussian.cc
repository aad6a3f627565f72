#include "hone/search/tune/gaussian.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace hone::search::tune {
namespace {

using Matrix = Eigen::MatrixXf;
using Vector = Eigen::VectorXf;
using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const RowMatrix>;

constexpr float kSqrt5 = 2.2360679775f;
/// Log-normal priors: a length of about the column's whole range, more for each further column that shares the
/// distance; values of unit spread; noise of a few per cent of that.
constexpr float kLengthSpread = 1.0f;
constexpr float kNoiseMean = -3.5f, kNoiseSpread = 1.0f;
constexpr float kSignalMean = 0.0f, kSignalSpread = 0.7f;
constexpr float kLeastNoise = 1e-3f;
/// What log costs are taken to spread by before there are any, and how many values that counts as.
constexpr float kUsualSpread = 0.25f, kUsualWorth = 1;
constexpr float kStep = 0.25f, kLargestStep = 0.4f;

}  // namespace

struct GaussianProcess::State {
  Vector log_length;
  float log_signal = kSignalMean, log_noise = kNoiseMean;
  float length_mean = 0;
  Matrix scaled;             ///< rows divided by lengths, a point a column
  Vector norms;
  Vector weights;
  Eigen::LLT<Matrix> factor;
  float mean = 0, spread = 1;
  Vector moment1, moment2;
  int steps = 0;

  [[nodiscard]] float noise() const { return std::exp(log_noise) + kLeastNoise; }
  /// Squared scaled distances to the fitted points.
  [[nodiscard]] Matrix distances(const Matrix& others, const Vector& other_norms) const {
    Matrix d = -2 * (scaled.transpose() * others);
    d.colwise() += norms;
    d.rowwise() += other_norms.transpose();
    return d.cwiseMax(0.f);
  }
  void scale(const Rows& rows) {
    scaled = rows.transpose();
    const Vector inverse = (-log_length.array()).exp();
    scaled = inverse.asDiagonal() * scaled;
    norms = scaled.colwise().squaredNorm();
  }
};

namespace {

/// Matern 5/2 of squared distances, and the factor of its derivative.
Matrix covariance(const Matrix& squared) {
  const Eigen::ArrayXXf r = squared.array().sqrt() * kSqrt5;
  return ((1.f + r + r.square() / 3.f) * (-r).exp()).matrix();
}
Matrix slope(const Matrix& squared) {
  const Eigen::ArrayXXf r = squared.array().sqrt() * kSqrt5;
  return ((1.f + r) * (-r).exp() * (5.f / 3.f)).matrix();
}

}  // namespace

GaussianProcess::GaussianProcess(size_t columns) : state_(std::make_unique<State>()) {
  state_->length_mean = 0.5f * std::log(std::max(1.f, static_cast<float>(columns))) - 0.7f;
  state_->log_length = Vector::Constant(static_cast<Eigen::Index>(columns), state_->length_mean);
  state_->moment1 = Vector::Zero(static_cast<Eigen::Index>(columns) + 2);
  state_->moment2 = state_->moment1;
}
GaussianProcess::~GaussianProcess() = default;

void GaussianProcess::fit(std::span<const float> values_in, std::span<const float> targets, int steps) {
  State& s = *state_;
  const auto n = static_cast<Eigen::Index>(targets.size());
  const Eigen::Index d = s.log_length.size();
  const Rows rows(values_in.data(), n, d);
  Vector y = Eigen::Map<const Vector>(targets.data(), n);
  s.mean = y.mean();
  y.array() -= s.mean;
  // A few values alike do not make a space flat.
  s.spread = std::sqrt((y.squaredNorm() + kUsualWorth * kUsualSpread * kUsualSpread) / (static_cast<float>(n) + kUsualWorth));
  y /= s.spread;
  for (int step = 0;; ++step) {
    s.scale(rows);
    const Matrix squared = s.distances(s.scaled, s.norms);
    const float signal = std::exp(s.log_signal);
    const Matrix k = signal * covariance(squared);
    Matrix with_noise = k;
    with_noise.diagonal().array() += s.noise();
    s.factor.compute(with_noise);
    s.weights = s.factor.solve(y);
    if (step >= steps) break;
    // Gradient of the log posterior: tr((w w' - K^-1) dK) / 2, and the priors'.
    Matrix inner = s.weights * s.weights.transpose();
    inner -= s.factor.solve(Matrix::Identity(n, n));
    Vector gradient(d + 2);
    gradient(d) = 0.5f * inner.cwiseProduct(k).sum() - (s.log_signal - kSignalMean) / (kSignalSpread * kSignalSpread);
    gradient(d + 1) = 0.5f * inner.trace() * std::exp(s.log_noise) - (s.log_noise - kNoiseMean) / (kNoiseSpread * kNoiseSpread);
    const Matrix weight = 0.5f * signal * inner.cwiseProduct(slope(squared));
    // Sum over pairs of weight (x_i - x_j)^2 = 2 (sum_i r_i x_i^2 - x' W x), r the row sums.
    const Vector sums = weight.rowwise().sum();
    const Matrix product = s.scaled * weight;
    for (Eigen::Index c = 0; c < d; ++c) {
      const float pairs = 2 * (s.scaled.row(c).array().square().matrix().dot(sums.transpose()) - product.row(c).dot(s.scaled.row(c)));
      gradient(c) = pairs - (s.log_length(c) - s.length_mean) / (kLengthSpread * kLengthSpread);
    }
    ++s.steps;
    s.moment1 = 0.8f * s.moment1 + 0.2f * gradient;
    s.moment2 = 0.95f * s.moment2 + 0.05f * gradient.cwiseAbs2();
    const float bias1 = 1 - std::pow(0.8f, static_cast<float>(s.steps)), bias2 = 1 - std::pow(0.95f, static_cast<float>(s.steps));
    for (Eigen::Index c = 0; c < d + 2; ++c) {
      const float change = std::clamp(kStep * (s.moment1(c) / bias1) / (std::sqrt(s.moment2(c) / bias2) + 1e-3f), -kLargestStep, kLargestStep);
      if (!std::isfinite(change)) continue;
      float& parameter = c < d ? s.log_length(c) : c == d ? s.log_signal : s.log_noise;
      parameter = std::clamp(parameter + change, -7.f, 5.f);
    }
  }
}

std::vector<Belief> GaussianProcess::predict(std::span<const float> rows_in, double own) const {
  const State& s = *state_;
  const Eigen::Index d = s.log_length.size();
  const auto m = d > 0 ? static_cast<Eigen::Index>(rows_in.size()) / d : 0;
  const Rows rows(rows_in.data(), m, d);
  const Vector inverse = (-s.log_length.array()).exp();
  const Matrix others = inverse.asDiagonal() * rows.transpose();
  const Vector norms = others.colwise().squaredNorm();
  const float signal = std::exp(s.log_signal);
  Matrix k = signal * covariance(s.distances(others, norms));
  const Vector mean = k.transpose() * s.weights;
  s.factor.matrixL().solveInPlace(k);
  const Vector explained = k.colwise().squaredNorm();
  const float apart = static_cast<float>(own) * s.noise();
  std::vector<Belief> beliefs(static_cast<size_t>(m));
  for (Eigen::Index i = 0; i < m; ++i)
    beliefs[static_cast<size_t>(i)] = {s.mean + s.spread * mean(i), s.spread * std::sqrt(std::max(1e-6f, signal - explained(i)) + apart)};
  return beliefs;
}

}  // namespace hone::search::tune
