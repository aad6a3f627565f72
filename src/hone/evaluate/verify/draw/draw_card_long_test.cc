// draw.cu on a card: the host's bits, and how long a gibibyte takes. Skips where there is no card; HONE_SIMT_CARD is its
// number.
#include <gtest/gtest.h>

#include <cstdlib>

#include "hone/base/clock.h"
#include "hone/evaluate/verify/draw/draw_cases_testing.h"

namespace hone::evaluate {
namespace {

class DrawCardOnACard : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* ordinal = std::getenv("HONE_SIMT_CARD");
    auto card = target::Card::open(std::string("cuda:") + (ordinal ? ordinal : "0"));
    if (!card) GTEST_SKIP() << card.error().to_string();
    card_ = std::move(*card);
    auto program = draw_program(*card_);
    ASSERT_TRUE(program) << program.error().to_string();
    program_ = *program;
  }
  std::shared_ptr<target::Card> card_;
  target::CardProgram* program_ = nullptr;
};

TEST_F(DrawCardOnACard, GivesTheHostsBits) {
  std::vector<DrawCase> cases = draw_cases();
  // Many blocks, and the last one not whole.
  for (DrawCase c : draw_cases())
    if (c.spec.structure == task::Structure::kNone && c.shape.size() == 4) {
      c.shape = {3, 1000, 1001};
      cases.push_back(std::move(c));
    }
  for (const DrawCase& c : cases)
    for (const Family family : kAllFamilies) {
      const auto memory = card_->allocate(c.bytes()).value();
      memory->fill(0, memory->size(), 0xEE, 1);
      draw_on_card(*program_, c.spec, c.shape, c.bound, family, 11, memory->address());
      std::vector<uint8_t> found(static_cast<size_t>(c.bytes()));
      memory->download(0, found.data(), c.bytes());
      ASSERT_EQ(found, c.on_host(family, 11)) << c.name(family);
      ASSERT_EQ(memory->count(c.bytes(), memory->size() - c.bytes(), 1, 0xEE, 0), memory->size() - c.bytes()) << c.name(family);
    }
}

TEST_F(DrawCardOnACard, PrintsWhatAGibibyteTakes) {
  const auto memory = card_->allocate(int64_t{1} << 30).value();
  for (const auto& [type, domain] : {std::pair{task::DType::kF32, task::Domain::kReal}, std::pair{task::DType::kBF16, task::Domain::kReal},
                                     std::pair{task::DType::kI64, task::Domain::kIndex}})
    for (const Family family : kAllFamilies) {
      DrawCase c;
      c.spec.name = "x";
      c.spec.type.dtype = type;
      c.spec.domain = domain;
      c.shape = {(int64_t{1} << 30) / task::size_of(type)};
      c.bound = domain == task::Domain::kIndex ? 1000 : 0;
      int64_t least = INT64_MAX;
      for (int i = 0; i < 4; ++i) {
        const int64_t start = base::system_clock().now_ns();
        draw_on_card(*program_, c.spec, c.shape, c.bound, family, 11, memory->address());
        least = std::min(least, base::system_clock().now_ns() - start);
      }
      fmt::print("{:<60} {:6.2f} ms\n", c.name(family), static_cast<double>(least) * 1e-6);
      EXPECT_LT(least, int64_t{50'000'000}) << c.name(family);
    }
}

}  // namespace
}  // namespace hone::evaluate
