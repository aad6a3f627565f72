// The card itself: what it is, and memory on it.
#include <thread>

#include "bench.h"
#include "hone/target/card_peaks.h"

namespace hone::pretend {
namespace {

using ::testing::HasSubstr;

class CudaCard : public Bench {};

TEST_F(CudaCard, IsListed) {
  const auto cards = target::cards("cuda");
  ASSERT_TRUE(cards) << cards.error().to_string();
  ASSERT_EQ(cards->size(), 1);
  const target::CardInfo& card = cards->front();
  EXPECT_EQ(card.name, "Pretend card");
  EXPECT_EQ(card.arch, "sm_90a");
  EXPECT_EQ(card.sms, 4);
  EXPECT_EQ(card.l2_bytes, 1 << 20);
  EXPECT_EQ(card.memory_bytes, int64_t{80} << 30);
  EXPECT_EQ(card.target(), "cuda:0");
  EXPECT_EQ(card.driver_version, "13.0");
  EXPECT_EQ(target::card_limits(card), (kernel::Limits{{"SMS", 4}, {"SHARED_MAX", 232'448}, {"WAVE", 32}}));
  EXPECT_EQ(target::flush_bytes(card), 64 << 20);
  // A hundredth of what the data sheet of 132 multiprocessors says, about.
  EXPECT_NEAR(2e-3 * target::card_peaks(card).bf16, 989.0 * 4 / 132, 5);
}

TEST_F(CudaCard, OnlyWhatIsThereOpens) {
  const auto absent = target::Card::open("cuda:1");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(absent.error().message, HasSubstr("there is no card cuda:1; the driver has 1"));
  EXPECT_EQ(target::Card::open("cuda:0").value(), card_) << "one for all";
  EXPECT_EQ(target::card_ordinal("cuda:12"), 12);
  for (const char* name : {"cuda", "cuda:", "cuda:-1", "cuda:1x", "hip:0"}) EXPECT_FALSE(target::card_ordinal(name)) << name;
}

TEST_F(CudaCard, MemoryIsRoundedAndHasAnEnd) {
  const int64_t free = card_->free_memory();
  {
    const auto memory = card_->allocate(1).value();
    EXPECT_EQ(memory->size(), 2 << 20);
    EXPECT_GE(memory->fd(), 0);
    EXPECT_EQ(card_->free_memory(), free - memory->size());
  }
  EXPECT_EQ(card_->free_memory(), free);
  const auto much = card_->allocate(int64_t{200} << 30);
  ASSERT_FALSE(much);
  EXPECT_EQ(much.error().code, ErrorCode::kExhausted);
  EXPECT_THAT(much.error().message, HasSubstr("cannot allocate 204800 MiB on the card: out of memory"));
  EXPECT_EQ(card_->free_memory(), free);
}

TEST_F(CudaCard, BytesGoThereAndComeBack) {
  const auto memory = card_->allocate(1 << 20).value();
  std::vector<int> there(1000), back(1000);
  std::iota(there.begin(), there.end(), 7);
  memory->upload(4096, there.data(), 4000);
  memory->download(4096, back.data(), 4000);
  EXPECT_EQ(there, back);
}

TEST_F(CudaCard, PiecesComeBackToTheirPlaces) {
  const auto memory = card_->allocate(1 << 20).value();
  std::vector<uint16_t> there(1 << 19);
  std::iota(there.begin(), there.end(), uint16_t{1});
  memory->upload(0, there.data(), 1 << 20);
  // Few and many; a large one among small ones; in any order.
  for (const int64_t count : {3, 300}) {
    std::vector<target::Piece> pieces = {{800'000, 100'000}};
    for (int64_t i = count; i-- > 0;) pieces.push_back({4 + i * 2000, 2 + i % 7 * 2});
    std::vector<uint16_t> back(1 << 19), expected(1 << 19);
    memory->download(pieces, 2, reinterpret_cast<std::byte*>(back.data()));
    for (const target::Piece& piece : pieces)
      std::copy_n(there.begin() + piece.offset / 2, piece.bytes / 2, expected.begin() + piece.offset / 2);
    EXPECT_EQ(back, expected) << count;
  }
}

TEST_F(CudaCard, FillsAndCounts) {
  const auto memory = card_->allocate(1 << 20).value();
  const auto fill = [&](int width, uint64_t pattern) {
    memory->fill(0, 64, 0, 1);
    memory->fill(64, 800, pattern, width);
    memory->fill(864, 64, 0, 1);
    EXPECT_EQ(memory->count(64, 800 / width, width, pattern, 0), 800 / width) << width;
    EXPECT_EQ(memory->count(0, 64, 1, 0, 0), 64) << width;
    EXPECT_EQ(memory->count(864, 64, 1, 0, 0), 64) << width;
    uint64_t first = 0;
    memory->download(64, &first, width);
    EXPECT_EQ(first, pattern) << width;
  };
  fill(1, 0xA7);
  fill(2, 0x7FE5);
  fill(4, 0x7FC5A5A5);
  fill(8, 0x7FF8A5A5A5A5A5A5);
  // Infinities and every NaN have all of the exponent's bits.
  const float values[] = {1, INFINITY, -INFINITY, NAN, 3e38F, 0, -NAN, 5};
  memory->upload(0, values, sizeof values);
  EXPECT_EQ(memory->count(0, 8, 4, 0x7FC5A5A5, 0x7F800000), 4);
  EXPECT_EQ(memory->count(4, 2, 4, 0x7FC5A5A5, 0x7F800000), 2);
  EXPECT_EQ(memory->count(0, 8, 4, 0, 0), 1);
}

TEST_F(CudaCard, TheClocksAreRead) {
  const auto before = card_->read_clocks();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto after = card_->read_clocks();
  EXPECT_NEAR(target::clock_mhz(before, after), 1980, 1);
  EXPECT_EQ(after[3].ns, 0) << "nobody was there";
}

TEST_F(CudaCard, RegionsHaveTwoCopies) {
  auto region = target::Region::create_on(*card_, 4096, target::Region::Access::kOutput).value();
  EXPECT_TRUE(region.on_card());
  EXPECT_EQ(region.size(), 2 << 20);
  region.fill(0, 4096, 0x55, 1);
  EXPECT_EQ(region.data()[0], std::byte{0});
  region.download(0, 4096);
  EXPECT_EQ(region.data()[4095], std::byte{0x55});
  target::Region moved = std::move(region);
  EXPECT_EQ(moved.count(0, 4096, 1, 0x55, 0), 4096);
}

}  // namespace
}  // namespace hone::pretend
