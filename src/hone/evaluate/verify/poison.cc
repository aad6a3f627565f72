// Poison: what fills outputs before a launch, and its count afterwards (gate.h).
#include <atomic>
#include <cstring>

#include "hone/evaluate/verify/gate.h"
#include "hone/evaluate/parallel.h"

namespace hone::evaluate {
namespace {

using task::DType;

constexpr int64_t kPoisonPart = 1 << 18;

using Pattern = PoisonPattern;

}  // namespace

PoisonPattern poison_pattern(DType type, uint64_t secret) {
  const auto nan = [secret](uint64_t exponent, uint64_t quiet, uint64_t sign) {
    return Pattern{exponent | quiet | (secret & (quiet - 1)) | (secret >> 63 != 0 ? sign : 0), exponent};
  };
  switch (type) {
    case DType::kF64: return nan(0x7FF0000000000000, 0x0008000000000000, 0x8000000000000000);
    case DType::kF32: return nan(0x7F800000, 0x00400000, 0x80000000);
    case DType::kBF16: return nan(0x7F80, 0x0040, 0x8000);
    case DType::kF16: return nan(0x7C00, 0x0200, 0x8000);
    case DType::kI64: return {secret, 0};
    case DType::kI32: return {secret & 0xFFFFFFFF, 0};
    case DType::kI16: return {secret & 0xFFFF, 0};
    case DType::kI8: return {secret & 0xFF, 0};
    case DType::kBool: return {2 + secret % 254, 0};
  }
  return {};
}

namespace {

template <class Word>
int64_t count_words(const Word* data, int64_t count, Pattern pattern) {
  const auto bits = static_cast<Word>(pattern.bits), exponent = static_cast<Word>(pattern.exponent);
  int64_t found = 0;
  if (exponent != 0)
    for (int64_t i = 0; i < count; ++i) found += (data[i] & exponent) == exponent;
  else
    for (int64_t i = 0; i < count; ++i) found += data[i] == bits;
  return found;
}

template <class Word>
void fill_words(Word* data, int64_t count, Pattern pattern) {
  std::fill_n(data, count, static_cast<Word>(pattern.bits));
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

int64_t count_poison(DType type, Pattern pattern, const void* data, int64_t count, int threads) {
  std::atomic<int64_t> total{0};
  parallel_for((count + kPoisonPart - 1) / kPoisonPart, threads, [&](int64_t part) {
    const int64_t begin = part * kPoisonPart;
    total += with_words(type, data, [&](const auto* words) {
      return count_words(words + begin, std::min(kPoisonPart, count - begin), pattern);
    });
  });
  return total;
}

void fill_poison(DType type, Pattern pattern, void* data, int64_t count, int threads) {
  parallel_for((count + kPoisonPart - 1) / kPoisonPart, threads, [&](int64_t part) {
    const int64_t begin = part * kPoisonPart;
    with_words(type, data, [&](auto* words) {
      fill_words(words + begin, std::min(kPoisonPart, count - begin), pattern);
    });
  });
}

}  // namespace hone::evaluate
