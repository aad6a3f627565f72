// Rounds of a program: the passes between two moments at which all that work on a row must hear of each other. Two
// passes become one round where what the first finds can be had locally and mended later: sums of exponentials under a
// running maximum (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018), and sums of squares
// around a running mean (T. Chan, G. Golub, R. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances", 1979). Pure.
#pragma once
#include <vector>

#include "hone/pattern/program.h"

namespace hone::pattern {

/// What a round finds: one reduction, or two that go together.
struct Running {
  enum class Kind : uint8_t {
    kPlain,
    kExpSum,    ///< max(a) and sum(exp(a - max(a)))
    kMoments,   ///< sum(a) and sum((a - sum(a) / n)^2)
  };
  Kind kind = Kind::kPlain;
  int first = -1;
  int second = -1;   ///< -1: alone
  int mean = -1;     ///< kMoments: the node sum(a) / n
};

struct Round {
  std::vector<size_t> passes;      ///< one or two
  std::vector<Running> results;
};

/// All passes in order. `together`: two in one round where that is possible.
[[nodiscard]] std::vector<Round> rounds_of(const Program& program, bool together);

}  // namespace hone::pattern
