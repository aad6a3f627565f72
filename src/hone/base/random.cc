#include "hone/base/random.h"

#include <sodium.h>

#include <cmath>
#include <numbers>

#include "hone/base/result.h"

namespace hone::base {

uint64_t secret_seed() {
  HONE_CHECK(sodium_init() >= 0);
  uint64_t seed;
  randombytes_buf(&seed, sizeof seed);
  return seed;
}

double Rng::normal() {
  const double u = 1.0 - uniform();
  const double v = uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace hone::base
