// Poison: what fills outputs before a launch, and its count afterwards (gate.h).
#include <atomic>
#include <bit>
#include <cstring>

#include "hone/base/random.h"
#include "hone/evaluate/verify/gate.h"
#include "hone/evaluate/parallel.h"

namespace hone::evaluate {
namespace {

using task::DType;

constexpr int64_t kPoisonPart = 1 << 18;

/// A quiet NaN of either sign whose payload, `bits` wide below the quiet bit, is neither none nor all ones: those are what processors make.
uint64_t odd_nan(uint64_t quiet, int bits, uint64_t secret) {
  const uint64_t sign = (secret >> 63) << (bits + std::bit_width(quiet >> bits));
  return sign | quiet | (1 + secret % ((uint64_t{1} << bits) - 2));
}

}  // namespace

PoisonPattern poison_pattern(DType type, uint64_t secret) {
  switch (type) {
    case DType::kF64: return {odd_nan(0x7FF8000000000000, 51, secret), 0x7FF0000000000000};
    case DType::kF32: return {odd_nan(0x7FC00000, 22, secret), 0x7F800000};
    case DType::kBF16: return {odd_nan(0x7FC0, 6, secret), 0x7F80};
    case DType::kF16: return {odd_nan(0x7E00, 9, secret), 0x7C00};
    case DType::kI64: return {secret, 0};
    case DType::kI32: return {secret & 0xFFFFFFFF, 0};
    case DType::kI16: return {secret & 0xFFFF, 0};
    case DType::kF8E4M3:
    case DType::kF8E5M2:
    case DType::kI8: return {secret & 0xFF, 0};
    case DType::kBool: return {2 + secret % 254, 0};
  }
  return {};
}

namespace {

template <class Word>
int64_t count_equal(const Word* data, int64_t count, Word bits) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += data[i] == bits;
  return found;
}

template <class Word>
int64_t count_words(const Word* data, int64_t count, Word exponent) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += (data[i] & exponent) == exponent;
  return found;
}

int64_t count_untrue(const uint8_t* data, int64_t count) {
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += data[i] > 1;
  return found;
}

/// The sum of part(begin, count) over all parts.
template <class Part>
int64_t sum_of_parts(int64_t count, int threads, Part part) {
  std::atomic<int64_t> total{0};
  parallel_for((count + kPoisonPart - 1) / kPoisonPart, threads, [&](int64_t number) {
    const int64_t begin = number * kPoisonPart;
    total += part(begin, std::min(kPoisonPart, count - begin));
  });
  return total;
}

/// Calls f with `data` as an array of unsigned words of the element's size.
template <class F>
auto with_words(DType type, auto* data, F f) {
  using Void = std::remove_pointer_t<decltype(data)>;
  const auto as = [&]<class Word>(Word*) {
    return f(static_cast<std::conditional_t<std::is_const_v<Void>, const Word, Word>*>(data));
  };
  switch (task::size_of(type)) {
    case 8: return as(static_cast<uint64_t*>(nullptr));
    case 4: return as(static_cast<uint32_t*>(nullptr));
    case 2: return as(static_cast<uint16_t*>(nullptr));
    default: return as(static_cast<uint8_t*>(nullptr));
  }
}

}  // namespace

int64_t count_poison(DType type, PoisonPattern pattern, const void* data, int64_t count, int threads) {
  return sum_of_parts(count, threads, [&](int64_t begin, int64_t length) {
    if (type == DType::kBool) return count_untrue(static_cast<const uint8_t*>(data) + begin, length);
    return with_words(type, data, [&]<class Word>(const Word* words) {
      return pattern.exponent != 0 ? count_words(words + begin, length, static_cast<Word>(pattern.exponent))
                                   : count_equal(words + begin, length, static_cast<Word>(pattern.bits));
    });
  });
}

int64_t count_unwritten(DType type, PoisonPattern pattern, const void* data, int64_t count, int threads) {
  return sum_of_parts(count, threads, [&](int64_t begin, int64_t length) {
    return with_words(type, data, [&]<class Word>(const Word* words) { return count_equal(words + begin, length, static_cast<Word>(pattern.bits)); });
  });
}

void fill_poison(DType type, PoisonPattern pattern, void* data, int64_t count, int threads) {
  parallel_for((count + kPoisonPart - 1) / kPoisonPart, threads, [&](int64_t part) {
    const int64_t begin = part * kPoisonPart;
    with_words(type, data, [&]<class Word>(Word* words) { std::fill_n(words + begin, std::min(kPoisonPart, count - begin), static_cast<Word>(pattern.bits)); });
  });
}

std::vector<int64_t> places_not_finite(DType type, const void* data, int64_t count, size_t most, uint64_t seed) {
  HONE_CHECK(task::is_float(type), "integers are numbers");
  const uint64_t exponent = poison_pattern(type, 0).exponent;
  std::vector<int64_t> places;
  base::Rng rng(seed);
  uint64_t seen = 0;
  with_words(type, data, [&](const auto* words) {
    using Word = std::remove_cvref_t<decltype(*words)>;
    const auto all = static_cast<Word>(exponent);
    for (int64_t i = 0; i < count; ++i) {
      if ((words[i] & all) != all) continue;
      // Each of those seen so far is among the places with the same probability.
      if (const uint64_t at = places.size() < most ? places.size() : rng.below(seen + 1); at < most) {
        places.resize(std::max(places.size(), static_cast<size_t>(at) + 1));
        places[static_cast<size_t>(at)] = i;
      }
      ++seen;
    }
  });
  return places;
}

}  // namespace hone::evaluate
