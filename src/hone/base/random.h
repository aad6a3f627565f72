// Random numbers. Philox4x32-10 is counter-based: value i of a stream needs no state, so the same
// tensor can be drawn in any order, by any number of threads, or on a device. Secret seeds come
// from the operating system.
#pragma once
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace hone::base {

/// Philox4x32-10 (Salmon et al., SC'11): 128 random bits for a 128-bit counter under a 64-bit key.
[[nodiscard]] inline std::array<uint32_t, 4> philox(uint64_t key, uint64_t counter_lo,
                                                    uint64_t counter_hi = 0) {
  uint32_t c0 = static_cast<uint32_t>(counter_lo), c1 = static_cast<uint32_t>(counter_lo >> 32);
  uint32_t c2 = static_cast<uint32_t>(counter_hi), c3 = static_cast<uint32_t>(counter_hi >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * c0;
    const uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
    const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return {c0, c1, c2, c3};
}

/// 64 bits of operating-system entropy.
[[nodiscard]] uint64_t secret_seed();

/// Sequential generator over one Philox stream, the same on every platform (std distributions are
/// not). For searches and bootstrap: everything that must replay from a seed.
class Rng {
 public:
  explicit Rng(uint64_t seed, uint64_t stream = 0) : key_(seed), stream_(stream) {}
  [[nodiscard]] uint64_t next_u64() {
    const auto r = philox(key_, counter_++, stream_);
    return (uint64_t{r[1]} << 32) | r[0];
  }
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }
  /// Uniform in [0, n); n > 0. Bias below n / 2^64.
  [[nodiscard]] uint64_t below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next_u64()) * n) >> 64);
  }
  /// Every order as likely as any other (Fisher and Yates).
  template <class T>
  void shuffle(std::vector<T>& all) {
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[below(i)]);
  }
  /// Standard normal (Box-Muller; one value of the pair is dropped to keep the state a counter).
  [[nodiscard]] double normal();

 private:
  uint64_t key_, stream_, counter_ = 0;
};

}  // namespace hone::base
