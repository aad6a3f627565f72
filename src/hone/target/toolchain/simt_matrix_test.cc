// Matrix units as the emulator has them: where elements lie in lanes, against plain products of numbers that are exact in
// every type and differ from each other as far as the type allows; and how sums round.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "hone/target/toolchain/include/hone/simt/runtime/mfma.h"

namespace hone::simt {
namespace {

struct Shape {
  MatrixOp op;
  int rows, columns, depth;
};

int bits_of(MatrixOp op) { return op == MatrixOp::kI8 ? 8 : op == MatrixOp::kF16 || op == MatrixOp::kBf16 ? 16 : 32; }

uint32_t encode(MatrixOp op, double v) {
  if (op == MatrixOp::kI8) return static_cast<uint8_t>(static_cast<int8_t>(v));
  if (op == MatrixOp::kF16) {
    const auto h = static_cast<_Float16>(v);
    uint16_t bits;
    std::memcpy(&bits, &h, 2);
    return bits;
  }
  const uint32_t word = word_of(static_cast<float>(v));
  return op == MatrixOp::kBf16 ? word >> 16 : word;
}
void put(uint32_t* words, int element, MatrixOp op, double v) {
  const int in_word = 32 / bits_of(op);
  words[element / in_word] |= encode(op, v) << (bits_of(op) * (element % in_word));
}

struct Factors {
  std::vector<double> a, b, c, expected;
};
/// Up to 256 values each, of at most eight bits.
Factors factors_of(const Shape& s) {
  Factors f;
  for (int i = 0; i < s.rows * s.depth; ++i) f.a.push_back((i * 7 + 3) % 256 - 128);
  for (int i = 0; i < s.depth * s.columns; ++i) f.b.push_back((i * 11 + 5) % 256 - 128);
  for (int i = 0; i < s.rows * s.columns; ++i) f.c.push_back(i - 300);
  f.expected = f.c;
  for (int i = 0; i < s.rows; ++i)
    for (int j = 0; j < s.columns; ++j)
      for (int k = 0; k < s.depth; ++k)
        f.expected[static_cast<size_t>(i * s.columns + j)] +=
            f.a[static_cast<size_t>(i * s.depth + k)] * f.b[static_cast<size_t>(k * s.columns + j)];
  return f;
}

uint32_t encode_sum(MatrixOp op, double v) {
  return op == MatrixOp::kI8 ? static_cast<uint32_t>(static_cast<int32_t>(v)) : word_of(static_cast<float>(v));
}
double decode_sum(MatrixOp op, uint32_t word) {
  return op == MatrixOp::kI8 ? static_cast<int32_t>(word) : static_cast<double>(float_of(word));
}

std::vector<uint64_t> addresses(std::vector<MatrixCall>& calls) {
  std::vector<uint64_t> all;
  for (MatrixCall& call : calls) all.push_back(reinterpret_cast<uint64_t>(&call));
  return all;
}

class Mfma : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Instructions, Mfma,
                         testing::Values(Shape{MatrixOp::kF32, 16, 16, 4}, Shape{MatrixOp::kF32, 32, 32, 2},      //
                                         Shape{MatrixOp::kF16, 16, 16, 16}, Shape{MatrixOp::kF16, 32, 32, 8},     //
                                         Shape{MatrixOp::kBf16, 16, 16, 16}, Shape{MatrixOp::kBf16, 32, 32, 8},   //
                                         Shape{MatrixOp::kTf32, 16, 16, 8}, Shape{MatrixOp::kTf32, 32, 32, 4},    //
                                         Shape{MatrixOp::kI8, 16, 16, 16}, Shape{MatrixOp::kI8, 32, 32, 8},       //
                                         Shape{MatrixOp::kI8, 16, 16, 32}, Shape{MatrixOp::kI8, 32, 32, 16}));

TEST_P(Mfma, ElementsLieWhereAmdSaysTheyDo) {
  const Shape s = GetParam();
  const Factors f = factors_of(s);
  const int size = s.rows, each = s.depth * size / 64, held = size * size / 64;
  const auto row_of = [&](int lane, int i) { return size == 16 ? 4 * (lane / 16) + i : 8 * (i / 4) + 4 * (lane / 32) + i % 4; };
  std::vector<MatrixCall> calls(64);
  for (int lane = 0; lane < 64; ++lane) {
    MatrixCall& call = calls[static_cast<size_t>(lane)] = {};
    call.op = s.op, call.size = size, call.each = each;
    for (int k = 0; k < each; ++k) {
      const int depth = lane / size * each + k;
      put(call.a, k, s.op, f.a[static_cast<size_t>(lane % size * s.depth + depth)]);
      put(call.b, k, s.op, f.b[static_cast<size_t>(depth * size + lane % size)]);
    }
    for (int i = 0; i < held; ++i) call.c[i] = encode_sum(s.op, f.c[static_cast<size_t>(row_of(lane, i) * size + lane % size)]);
  }
  operate_wave(addresses(calls).data());
  for (int lane = 0; lane < 64; ++lane)
    for (int i = 0; i < held; ++i)
      ASSERT_EQ(decode_sum(s.op, calls[static_cast<size_t>(lane)].c[i]),
                f.expected[static_cast<size_t>(row_of(lane, i) * size + lane % size)])
          << "lane " << lane << ", element " << i;
}

class Mma : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Instructions, Mma,
                         testing::Values(Shape{MatrixOp::kTf32, 16, 8, 8}, Shape{MatrixOp::kBf16, 16, 8, 16},    //
                                         Shape{MatrixOp::kF16, 16, 8, 16}, Shape{MatrixOp::kI8, 16, 8, 32}));

TEST_P(Mma, ElementsLieWhereNvidiaSaysTheyDo) {
  const Shape s = GetParam();
  const Factors f = factors_of(s);
  const int in_word = 32 / bits_of(s.op);
  std::vector<MatrixCall> calls(32);
  const auto at_of_c = [&](int lane, int i) { return static_cast<size_t>((lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2); };
  for (int lane = 0; lane < 32; ++lane) {
    MatrixCall& call = calls[static_cast<size_t>(lane)] = {};
    call.op = s.op;
    const int r = lane / 4, t = lane % 4;
    for (int k = 0; k < in_word; ++k) {
      for (int w = 0; w < 4; ++w)
        put(call.a + w, k, s.op, f.a[static_cast<size_t>((r + w % 2 * 8) * s.depth + w / 2 * s.depth / 2 + in_word * t + k)]);
      for (int w = 0; w < 2; ++w)
        put(call.b + w, k, s.op, f.b[static_cast<size_t>((w * s.depth / 2 + in_word * t + k) * 8 + r)]);
    }
    for (int i = 0; i < 4; ++i) call.c[i] = encode_sum(s.op, f.c[at_of_c(lane, i)]);
  }
  operate_warp(addresses(calls).data());
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i)
      ASSERT_EQ(decode_sum(s.op, calls[static_cast<size_t>(lane)].c[i]), f.expected[at_of_c(lane, i)])
          << "lane " << lane << ", element " << i;
}

/// Element (0, 0) of an MFMA whose first row and column are given.
float first_sum(MatrixOp op, int size, float c, const std::vector<double>& row, const std::vector<double>& column) {
  const int each = static_cast<int>(row.size()) * size / 64;
  std::vector<MatrixCall> calls(64);
  for (MatrixCall& call : calls) call = {}, call.op = op, call.size = size, call.each = each;
  for (size_t k = 0; k < row.size(); ++k) {
    MatrixCall& call = calls[k / static_cast<size_t>(each) * static_cast<size_t>(size)];
    put(call.a, static_cast<int>(k) % each, op, row[k]);
    put(call.b, static_cast<int>(k) % each, op, column[k]);
  }
  calls[0].c[0] = word_of(c);
  operate_wave(addresses(calls).data());
  return float_of(calls[0].c[0]);
}

TEST(MfmaRounding, FloatsAreAChainOfFusedMultiplyAdds) {
  const double tiny = std::ldexp(1, -24);
  EXPECT_EQ(first_sum(MatrixOp::kF32, 16, 1, {tiny, tiny, tiny, tiny}, {1, 1, 1, 1}), 1.0F);
  EXPECT_EQ(first_sum(MatrixOp::kF32, 16, 0, {tiny, tiny, tiny, 1}, {1, 1, 1, 1}), static_cast<float>(1 + std::ldexp(1, -22)));
  // Fused: the product is not rounded.
  const double v = 1 + std::ldexp(1, -23);
  EXPECT_EQ(first_sum(MatrixOp::kF32, 32, -1, {v, 0}, {v, 0}), static_cast<float>(v * v - 1));
}

TEST(MfmaRounding, ProductsAreCutAtTheLargestOnes24thBit) {
  std::vector<double> row(8, std::ldexp(1, -12)), column(8, std::ldexp(1, -13));
  row[0] = column[0] = 1;
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, 0, row, column), 1.0F);
  EXPECT_EQ(first_sum(MatrixOp::kBf16, 32, 0, row, column), 1.0F);
  // One bit more is there.
  for (size_t k = 1; k < 8; ++k) row[k] = std::ldexp(1, -11);
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, 0, row, column), static_cast<float>(1 + 7 * std::ldexp(1, -24)));
}

TEST(MfmaRounding, TheSumSoFarIsRoundedDown) {
  const std::vector<double> one = {1, 0, 0, 0, 0, 0, 0, 0};
  const auto tiny = static_cast<float>(std::ldexp(1, -30));
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, -tiny, one, one), static_cast<float>(1 - std::ldexp(1, -24)));
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, tiny, one, one), 1.0F);
}

TEST(MfmaRounding, WhatIsNotFiniteGoesThrough) {
  const double infinite = HUGE_VAL;
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, 1, {infinite, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}), HUGE_VALF);
  EXPECT_TRUE(std::isnan(first_sum(MatrixOp::kBf16, 32, 1, {infinite, 1, 1, 1, 1, 1, 1, 1}, {0, 1, 1, 1, 1, 1, 1, 1})));
}

TEST(MfmaRounding, ZerosAndSubnormalNumbersCount) {
  const std::vector<double> ones(8, 1), zeros(8, 0);
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, 0, zeros, ones), 0.0F);
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, 3, zeros, zeros), 3.0F);
  const std::vector<double> least(8, std::ldexp(1, -24));
  EXPECT_EQ(first_sum(MatrixOp::kF16, 32, 0, least, ones), static_cast<float>(std::ldexp(1, -21)));
}

}  // namespace
}  // namespace hone::simt
