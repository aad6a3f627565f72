#include "hone/evaluate/verify/draw/draw_card.h"

#include <gtest/gtest.h>

#include "hone/evaluate/fake_card_testing.h"
#include "hone/evaluate/verify/draw/draw_cases_testing.h"

namespace hone::evaluate {
namespace {

constexpr int64_t kAround = 64;
constexpr uint8_t kUntouched = 0xEE;

/// What a program draws, with what lies before and behind it.
std::vector<uint8_t> drawn_by(target::CardProgram& program, const DrawCase& c, Family family, uint64_t seed) {
  std::vector<uint8_t> memory(static_cast<size_t>(c.bytes() + 2 * kAround), kUntouched);
  draw_on_card(program, c.spec, c.shape, c.bound, family, seed, reinterpret_cast<uint64_t>(memory.data() + kAround));
  return memory;
}

TEST(DrawCard, GivesTheHostsBitsAndTouchesNothingElse) {
  FakeProgram program;
  for (const DrawCase& c : draw_cases()) {
    ASSERT_TRUE(card_draws(c.spec, c.bound)) << c.name(Family::kNormal);
    for (const Family family : kAllFamilies)
      for (const uint64_t seed : {uint64_t{3}, uint64_t{0xFEDCBA9876543210}}) {
        std::vector<uint8_t> expected(kAround, kUntouched);
        const std::vector<uint8_t> host = c.on_host(family, seed);
        expected.insert(expected.end(), host.begin(), host.end());
        expected.insert(expected.end(), kAround, kUntouched);
        ASSERT_EQ(drawn_by(program, c, family, seed), expected) << c.name(family) << " seed " << seed;
      }
  }
}

TEST(DrawCard, SlabsOfZerosAreDrawnToo) {
  // Three of four draws have them: over ten seeds both with and without are met.
  FakeProgram program;
  DrawCase c = draw_cases().front();
  int with = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const int before = program.launches;
    const auto memory = drawn_by(program, c, Family::kSparse, seed);
    with += program.launches - before > 1;
    const auto host = c.on_host(Family::kSparse, seed);
    ASSERT_TRUE(std::equal(host.begin(), host.end(), memory.begin() + kAround)) << seed;
  }
  EXPECT_GT(with, 0);
  EXPECT_LT(with, 10);
}

TEST(DrawCard, LeavesToTheHostWhatItCannotDraw) {
  const auto draws = [](task::DType type, task::Domain domain, int64_t bound = 0) {
    task::InputSpec spec;
    spec.type.dtype = type;
    spec.domain = domain;
    return card_draws(spec, bound);
  };
  using task::Domain;
  using task::DType;
  EXPECT_FALSE(draws(DType::kF64, Domain::kReal));
  EXPECT_FALSE(draws(DType::kF32, Domain::kSimplex));
  EXPECT_FALSE(draws(DType::kF32, Domain::kIndex, 10));
  EXPECT_FALSE(draws(DType::kI8, Domain::kIndex, 129));
  EXPECT_TRUE(draws(DType::kI8, Domain::kIndex, 128));
  EXPECT_FALSE(draws(DType::kI32, Domain::kIndex, (int64_t{1} << 31) + 1));
  EXPECT_TRUE(draws(DType::kI64, Domain::kIndex, int64_t{1} << 62));
}

TEST(DrawCard, TheSourceIsOneKernelFile) {
  const std::string source = draw_source();
  EXPECT_EQ(source.find("#include"), std::string::npos);
  const auto kernel = kernel::parse_kernel(source, "draw.cu");
  ASSERT_TRUE(kernel) << kernel.error().to_string();
  EXPECT_EQ(kernel->header.launches.size(), 5u);
}

}  // namespace
}  // namespace hone::evaluate
