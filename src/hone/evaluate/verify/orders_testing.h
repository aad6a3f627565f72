// Ways of adding up that kernels use, for the gate's tests: fp32 in blocks, in a tree, split, backwards,
// with products fused or not, and the same with partial sums kept in a narrower type.
#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "hone/evaluate/oracle/number.h"
#include "hone/evaluate/oracle/summation.h"

namespace hone::evaluate::testing {

/// A 24-bit sum, one term at a time.
inline double plus_f32(double a, double b) { return static_cast<float>(a + b); }

/// What f16 and the others make of a partial sum. f16 without its overflow: only its precision is at
/// stake.
inline double narrowed(task::Track track, double v) {
  switch (track) {
    case task::Track::kTf32:
    case task::Track::kF16: return round_bits(v, 11, -126);
    case task::Track::kBf16: return round_bits(v, 8, -126);
    default: return v;
  }
}

struct Order {
  enum Kind { kBlocks, kTree, kParts } kind = kBlocks;
  int64_t block = 64;    ///< terms that one running sum takes; the blocks' sums are added as a tree
  bool backwards = false;
  bool fused = true;     ///< products enter sums unrounded
  int64_t parts = 4;     ///< of a split sum; each in blocks, the parts' sums one after another
  /// Parts' sums, and the sum of them, are kept in the track's type.
  task::Track kept_in = task::Track::kStrict;
};

class OrderedSummation final : public Summation {
 public:
  explicit OrderedSummation(const Order& order) : order_(order) {}

  double fold(bool product, int64_t n, const double* x, int64_t stride) const override {
    if (product) {
      return total(n, [&](int64_t i) { return x[i * stride]; }, 1.0,
                   [](double a, double b) { return static_cast<double>(static_cast<float>(a * b)); });
    }
    return total(n, [&](int64_t i) { return x[i * stride]; }, 0.0, plus_f32);
  }

  double dot(int64_t n, const double* a, int64_t a_stride, const double* b, int64_t b_stride) const override {
    // A product of two fp32 numbers is exact in fp64.
    return total(n, [&](int64_t i) {
      const double p = a[i * a_stride] * b[i * b_stride];
      return order_.fused ? p : static_cast<double>(static_cast<float>(p));
    }, 0.0, plus_f32);
  }

  /// Blocks by themselves, then each with what comes before it. Trees: two blocks.
  void scan(bool product, int64_t n, const double* x, double* y) const override {
    const int64_t parts = order_.kind == Order::kTree ? 2 : order_.parts;
    const int64_t block = order_.kind == Order::kBlocks ? order_.block : (n + parts - 1) / parts;
    const auto join = [&](double a, double b) {
      return static_cast<double>(static_cast<float>(product ? a * b : a + b));
    };
    double before = product ? 1 : 0;
    for (int64_t i = 0; i < n; i += block) {
      double local = product ? 1 : 0;
      for (int64_t k = i; k < std::min(n, i + block); ++k) {
        local = join(local, x[k]);
        y[k] = narrowed(order_.kept_in, join(before, local));
      }
      before = narrowed(order_.kept_in, join(before, local));
    }
  }

  /// The same of the steps of a linear recurrence: within a block its results and the product of its factors.
  void linear_scan(int64_t n, const double* a, const double* b, double* y) const override {
    const int64_t parts = order_.kind == Order::kTree ? 2 : order_.parts;
    const int64_t block = order_.kind == Order::kBlocks ? order_.block : (n + parts - 1) / parts;
    const auto step = [&](double factor, double h, double added) { return plus_f32(order_.fused ? factor * h : plus_f32(factor * h, 0), added); };
    double before = 0;
    for (int64_t i = 0; i < n; i += block) {
      double local = 0, product = 1;
      for (int64_t k = i; k < std::min(n, i + block); ++k) {
        local = step(a[k], local, b[k]);
        product = static_cast<float>(product * a[k]);
        y[k] = narrowed(order_.kept_in, step(product, before, local));
      }
      before = y[std::min(n, i + block) - 1];
    }
  }

 private:
  template <class Term, class Join>
  [[nodiscard]] double total(int64_t n, const Term& term, double start, const Join& join) const {
    const auto at = [&](int64_t i) { return term(order_.backwards ? n - 1 - i : i); };
    switch (order_.kind) {
      case Order::kBlocks: return blocks(0, n, at, start, join);
      case Order::kTree: return tree(0, n, at, start, join);
      case Order::kParts: break;
    }
    double sum = start;
    const int64_t length = std::max<int64_t>((n + order_.parts - 1) / order_.parts, 1);
    for (int64_t i = 0; i < n; i += length) {
      const double part = narrowed(order_.kept_in, blocks(i, std::min(n, i + length), at, start, join));
      sum = i == 0 ? part : narrowed(order_.kept_in, join(sum, part));
    }
    return sum;
  }

  template <class At, class Join>
  [[nodiscard]] double blocks(int64_t from, int64_t to, const At& at, double start, const Join& join) const {
    if (to - from <= order_.block) return run(from, to, at, start, join);
    const int64_t blocks_of = (to - from + order_.block - 1) / order_.block;
    const int64_t middle = from + blocks_of / 2 * order_.block;
    return join(blocks(from, middle, at, start, join), blocks(middle, to, at, start, join));
  }

  template <class At, class Join>
  [[nodiscard]] static double run(int64_t from, int64_t to, const At& at, double start, const Join& join) {
    double sum = start;
    for (int64_t i = from; i < to; ++i) sum = join(sum, at(i));
    return sum;
  }

  template <class At, class Join>
  [[nodiscard]] static double tree(int64_t from, int64_t to, const At& at, double start, const Join& join) {
    if (to - from <= 2) return run(from, to, at, start, join);
    const int64_t middle = (from + to) / 2;
    return join(tree(from, middle, at, start, join), tree(middle, to, at, start, join));
  }

  Order order_;
};

}  // namespace hone::evaluate::testing
