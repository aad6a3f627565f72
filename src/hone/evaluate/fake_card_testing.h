// A card where there is none: its memory is this machine's, and hone's own device code (draw.cu, reduce.cu) runs on
// this CPU, one thread of a block after another. Candidates do not run on it. Include it in one file of a test.
#pragma once
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hone/target/card.h"

namespace hone::evaluate::on_cpu {

// What draw.cu and reduce.cu find in CUDA. Not inlined, so that no compiler fuses one operation with another.
struct Index {
  unsigned x = 0;
};
inline Index blockIdx, threadIdx;
[[gnu::noinline]] inline float __fadd_rn(float a, float b) { return a + b; }
[[gnu::noinline]] inline float __fsub_rn(float a, float b) { return a - b; }
[[gnu::noinline]] inline float __fmul_rn(float a, float b) { return a * b; }
[[gnu::noinline]] inline float __fdiv_rn(float a, float b) { return a / b; }
[[gnu::noinline]] inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __int2float_rn(int i) { return static_cast<float>(i); }
inline int __float2int_rz(float v) { return static_cast<int>(v); }
inline float __uint_as_float(uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline float __int_as_float(int32_t bits) { return __builtin_bit_cast(float, bits); }
inline uint32_t __float_as_uint(float v) { return __builtin_bit_cast(uint32_t, v); }
inline double __longlong_as_double(long long bits) { return __builtin_bit_cast(double, bits); }
inline long long __double_as_longlong(double v) { return __builtin_bit_cast(long long, v); }
#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(threads)
#include "hone/evaluate/verify/draw/draw.cu"
namespace reduce {
#define HONE_UNROLLED
#define HONE_ROLLED
#include "hone/evaluate/oracle/card/reduce.cu"
#undef HONE_UNROLLED
#undef HONE_ROLLED
}  // namespace reduce
#undef __device__
#undef __global__
#undef __forceinline__
#undef __launch_bounds__
#undef HONE_DRAW_FUNCTION
#undef HONE_ORACLE_FUNCTION

}  // namespace hone::evaluate::on_cpu

namespace hone::evaluate {

class FakeProgram final : public target::CardProgram {
 public:
  void launch(std::string_view function, int64_t blocks, int threads, std::span<const void* const> arguments) override {
    static const std::map<std::string_view, Call> functions = {{"draw_values", call_of(on_cpu::draw_values)},
                                                               {"draw_indices", call_of(on_cpu::draw_indices)},
                                                               {"zero_slab", call_of(on_cpu::zero_slab)},
                                                               {"zero_triangle", call_of(on_cpu::zero_triangle)},
                                                               {"mirror_triangle", call_of(on_cpu::mirror_triangle)},
                                                               {"fold_parts", call_of(on_cpu::reduce::fold_parts)},
                                                               {"combine_parts", call_of(on_cpu::reduce::combine_parts)}};
    const auto found = functions.find(function);
    HONE_CHECK(found != functions.end(), function);
    ++launches;
    for (int64_t b = 0; b < blocks; ++b)
      for (int t = 0; t < threads; ++t) {
        on_cpu::blockIdx.x = static_cast<unsigned>(b);
        on_cpu::threadIdx.x = static_cast<unsigned>(t);
        found->second(arguments);
      }
    if (after_launch) after_launch(arguments);
  }

  int launches = 0;
  std::function<void(std::span<const void* const>)> after_launch;  ///< a card that does wrong

 private:
  using Call = std::function<void(std::span<const void* const>)>;
  template <class... Parameters>
  static Call call_of(void (*function)(Parameters...)) {
    return [function](std::span<const void* const> arguments) {
      HONE_CHECK(arguments.size() == sizeof...(Parameters));
      std::tuple<Parameters...> values;
      // The driver copies as many bytes as a parameter has, too.
      [&]<size_t... I>(std::index_sequence<I...>) { (std::memcpy(&std::get<I>(values), arguments[I], sizeof(std::get<I>(values))), ...); }
      (std::index_sequence_for<Parameters...>{});
      std::apply(function, values);
    };
  }
};

class FakeMemory final : public target::CardMemory {
 public:
  explicit FakeMemory(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {}
  int fd() const override { return -1; }
  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  uint64_t address() const override { return reinterpret_cast<uint64_t>(bytes_.data()); }
  void upload(int64_t offset, const void* from, int64_t bytes) override { std::memcpy(bytes_.data() + offset, from, static_cast<size_t>(bytes)); }
  void download(int64_t offset, void* to, int64_t bytes) override { std::memcpy(to, bytes_.data() + offset, static_cast<size_t>(bytes)); }
  void download(std::span<const target::Piece> pieces, int, std::byte* to) override {
    for (const target::Piece& piece : pieces) download(piece.offset, to + piece.offset, piece.bytes);
  }
  void fill(int64_t offset, int64_t bytes, uint64_t pattern, int width) override {
    for (int64_t i = 0; i < bytes; i += width) std::memcpy(bytes_.data() + offset + i, &pattern, static_cast<size_t>(width));
  }
  int64_t count(int64_t offset, int64_t count, int width, uint64_t bits, uint64_t exponent) override {
    int64_t found = 0;
    for (int64_t i = 0; i < count; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, bytes_.data() + offset + i * width, static_cast<size_t>(width));
      found += exponent != 0 ? (word & exponent) == exponent : word == bits;
    }
    return found;
  }

 private:
  std::vector<std::byte> bytes_;
};

class FakeCard final : public target::Card {
 public:
  explicit FakeCard(int64_t free_bytes = int64_t{80} << 30) : free_bytes_(free_bytes) {}
  const target::CardInfo& info() const override { return info_; }
  Result<std::unique_ptr<target::CardMemory>> allocate(int64_t bytes) override {
    return std::unique_ptr<target::CardMemory>(std::make_unique<FakeMemory>(bytes));
  }
  int64_t free_memory() override { return free_bytes_; }
  Result<target::CardProgram*> program(const std::string&, std::string_view) override { return &drawer; }
  std::vector<target::ClockReading> read_clocks() override { return {}; }
  void expect(int) override {}
  Result<std::variant<std::unique_ptr<target::Session>, target::LoadFailure>> start(const target::Build&, const kernel::BoundPlan&, int,
                                                                                    std::span<const target::Region* const>) override {
    return fail(ErrorCode::kUnavailable, "candidates do not run on a card that is none");
  }

  FakeProgram drawer;

 private:
  target::CardInfo info_;
  int64_t free_bytes_;
};

}  // namespace hone::evaluate
