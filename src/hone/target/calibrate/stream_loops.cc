// Memory streams. Vectors of 32 bytes where the CPU has them: wider ones are no faster from memory.
#include <cstring>

#include "hone/target/calibrate/loops.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::target::calibrate {
namespace {

typedef int64_t Word __attribute__((vector_size(16)));
constexpr size_t kStep = 8 * sizeof(Word);

void read_plain(const std::byte* from, size_t bytes) {
  Word sum[8] = {};
  for (size_t at = 0; at < bytes; at += kStep)
    for (int i = 0; i < 8; ++i) sum[i] |= reinterpret_cast<const Word*>(from + at)[i];
  for (Word& s : sum) __asm__ volatile("" : : "m"(s));  // the loads must happen
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void read_avx2(const std::byte* from, size_t bytes) {
  __m256i sum[8] = {};
  for (size_t at = 0; at < bytes; at += sizeof sum)
    for (int i = 0; i < 8; ++i)
      sum[i] = _mm256_or_si256(sum[i], _mm256_load_si256(reinterpret_cast<const __m256i*>(from + at) + i));
  for (__m256i& s : sum) __asm__ volatile("" : : "m"(s));
}

__attribute__((target("avx2"))) void copy_around_avx2(std::byte* to, const std::byte* from, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 128)
    for (int i = 0; i < 4; ++i)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at) + i,
                          _mm256_load_si256(reinterpret_cast<const __m256i*>(from + at) + i));
  _mm_sfence();
}
#endif

}  // namespace

void read_stream(const std::byte* from, size_t bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return read_avx2(from, bytes);
#endif
  read_plain(from, bytes);
}

void write_stream(std::byte* to, size_t bytes, [[maybe_unused]] bool around) {
#if defined(__x86_64__)
  if (around) {
    const __m128i one = _mm_set1_epi8(1);
    for (size_t at = 0; at < bytes; at += sizeof one) _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), one);
    _mm_sfence();
    return;
  }
#endif
  std::memset(to, 1, bytes);
  __asm__ volatile("" : : "r"(to) : "memory");
}

void copy_stream(std::byte* to, const std::byte* from, size_t bytes, [[maybe_unused]] bool around) {
#if defined(__x86_64__)
  if (around && __builtin_cpu_supports("avx2")) return copy_around_avx2(to, from, bytes);
#endif
  std::memcpy(to, from, bytes);
  __asm__ volatile("" : : "r"(to) : "memory");
}

}  // namespace hone::target::calibrate
