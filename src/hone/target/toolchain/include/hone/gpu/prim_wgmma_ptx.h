// wgmma in PTX, a function for each number of columns: what prim_wgmma.h issues on a card.
#pragma once

namespace hone::prim {

/// What the factors hold. kTf32: floats of which the units look at 19 bits. kE4M3, kE5M2: floats of one byte.
enum class GroupType { kBf16, kF16, kTf32, kE4M3, kE5M2, kI8 };

// The registers of a product in the words of PTX, by tens, and as operands.
#define HONE_REGISTERS_2(ten) "%" #ten "0, %" #ten "1"
#define HONE_REGISTERS_4(ten) HONE_REGISTERS_2(ten) ", %" #ten "2, %" #ten "3"
#define HONE_REGISTERS_6(ten) HONE_REGISTERS_4(ten) ", %" #ten "4, %" #ten "5"
#define HONE_REGISTERS_8(ten) HONE_REGISTERS_6(ten) ", %" #ten "6, %" #ten "7"
#define HONE_TEN(ten) HONE_REGISTERS_8(ten) ", %" #ten "8, %" #ten "9, "
#define HONE_FIRST_20 HONE_TEN() HONE_TEN(1)
#define HONE_FIRST_40 HONE_FIRST_20 HONE_TEN(2) HONE_TEN(3)
#define HONE_FIRST_60 HONE_FIRST_40 HONE_TEN(4) HONE_TEN(5)
#define HONE_FIRST_90 HONE_FIRST_60 HONE_TEN(6) HONE_TEN(7) HONE_TEN(8)
#define HONE_FIRST_120 HONE_FIRST_90 HONE_TEN(9) HONE_TEN(10) HONE_TEN(11)
#define HONE_SUM_4(c, i) c(sums[i]), c(sums[i + 1]), c(sums[i + 2]), c(sums[i + 3])
#define HONE_SUM_8(c, i) HONE_SUM_4(c, i), HONE_SUM_4(c, i + 4)
#define HONE_SUM_12(c, i) HONE_SUM_8(c, i), HONE_SUM_4(c, i + 8)
#define HONE_SUM_16(c, i) HONE_SUM_8(c, i), HONE_SUM_8(c, i + 8)
#define HONE_SUM_24(c, i) HONE_SUM_16(c, i), HONE_SUM_8(c, i + 16)
#define HONE_SUM_32(c, i) HONE_SUM_16(c, i), HONE_SUM_16(c, i + 16)
#define HONE_SUM_40(c, i) HONE_SUM_32(c, i), HONE_SUM_8(c, i + 32)
#define HONE_SUM_48(c, i) HONE_SUM_32(c, i), HONE_SUM_16(c, i + 32)
#define HONE_SUM_64(c, i) HONE_SUM_32(c, i), HONE_SUM_32(c, i + 32)
#define HONE_SUM_96(c, i) HONE_SUM_64(c, i), HONE_SUM_32(c, i + 64)
#define HONE_SUM_128(c, i) HONE_SUM_64(c, i), HONE_SUM_64(c, i + 64)
#define HONE_LEFT_WORD "l"(a_word)
#define HONE_LEFT_REGISTERS "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3])
#define HONE_WGMMA(shape, registers, a, b, add, rest, left_operands, ...)                                               \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\nwgmma.mma_async.sync.aligned.m64n" shape " {" registers \
               "}, " a ", " b ", p" rest ";\n}" : __VA_ARGS__ : left_operands, "l"(b_word), "r"(add_word))
/// What a product does besides multiplying: 1, 1 scale the factors, and of 16 bits two numbers say which lie across.
#define HONE_GROUP_PRODUCT(count, columns, registers, a, b, add)                                                         \
  template <GroupType Type, bool Across>                                                                                \
  HONE_DEVICE void group_product(float (&sums)[count], uint64_t a_word, uint64_t b_word, int add_word) {                \
    if constexpr (Type == GroupType::kTf32) {                                                                           \
      HONE_WGMMA(columns "k8.f32.tf32.tf32", registers, a, b, add, ", 1, 1", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0));  \
    } else if constexpr (Type == GroupType::kE4M3) {                                                                    \
      HONE_WGMMA(columns "k32.f32.e4m3.e4m3", registers, a, b, add, ", 1, 1", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0)); \
    } else if constexpr (Type == GroupType::kE5M2) {                                                                    \
      HONE_WGMMA(columns "k32.f32.e5m2.e5m2", registers, a, b, add, ", 1, 1", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0)); \
    } else if constexpr (Type == GroupType::kF16 && Across) {                                                           \
      HONE_WGMMA(columns "k16.f32.f16.f16", registers, a, b, add, ", 1, 1, 0, 1", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0)); \
    } else if constexpr (Type == GroupType::kF16) {                                                                     \
      HONE_WGMMA(columns "k16.f32.f16.f16", registers, a, b, add, ", 1, 1, 0, 0", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0)); \
    } else if constexpr (Across) {                                                                                      \
      HONE_WGMMA(columns "k16.f32.bf16.bf16", registers, a, b, add, ", 1, 1, 0, 1", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0)); \
    } else {                                                                                                            \
      HONE_WGMMA(columns "k16.f32.bf16.bf16", registers, a, b, add, ", 1, 1, 0, 0", HONE_LEFT_WORD, HONE_SUM_##count("+f", 0)); \
    }                                                                                                                   \
  }                                                                                                                     \
  template <GroupType Type, bool Across>                                                                                \
  HONE_DEVICE void group_product(int32_t (&sums)[count], uint64_t a_word, uint64_t b_word, int add_word) {              \
    HONE_WGMMA(columns "k32.s32.s8.s8", registers, a, b, add, "", HONE_LEFT_WORD, HONE_SUM_##count("+r", 0));           \
  }
HONE_GROUP_PRODUCT(8, "16", HONE_REGISTERS_8(), "%8", "%9", "%10")
HONE_GROUP_PRODUCT(12, "24", HONE_TEN() HONE_REGISTERS_2(1), "%12", "%13", "%14")
HONE_GROUP_PRODUCT(16, "32", HONE_TEN() HONE_REGISTERS_6(1), "%16", "%17", "%18")
HONE_GROUP_PRODUCT(24, "48", HONE_FIRST_20 HONE_REGISTERS_4(2), "%24", "%25", "%26")
HONE_GROUP_PRODUCT(32, "64", HONE_FIRST_20 HONE_TEN(2) HONE_REGISTERS_2(3), "%32", "%33", "%34")
HONE_GROUP_PRODUCT(40, "80", HONE_FIRST_20 HONE_TEN(2) HONE_REGISTERS_8(3) ", %38, %39", "%40", "%41", "%42")
HONE_GROUP_PRODUCT(48, "96", HONE_FIRST_40 HONE_REGISTERS_8(4), "%48", "%49", "%50")
HONE_GROUP_PRODUCT(64, "128", HONE_FIRST_60 HONE_REGISTERS_4(6), "%64", "%65", "%66")
HONE_GROUP_PRODUCT(96, "192", HONE_FIRST_90 HONE_REGISTERS_6(9), "%96", "%97", "%98")
HONE_GROUP_PRODUCT(128, "256", HONE_FIRST_120 HONE_REGISTERS_8(12), "%128", "%129", "%130")
#undef HONE_GROUP_PRODUCT
#define HONE_GROUP_PRODUCT_FROM(count, columns, registers, a, b, add)                                               \
  template <GroupType Type, bool Across>                                                                                \
  HONE_DEVICE void group_product_from(float (&sums)[count], const uint32_t (&left)[4], uint64_t b_word, int add_word) { \
    if constexpr (Type == GroupType::kTf32) {                                                                           \
      HONE_WGMMA(columns "k8.f32.tf32.tf32", registers, "{" a "}", b, add, ", 1, 1", HONE_LEFT_REGISTERS, HONE_SUM_##count("+f", 0));       \
    } else if constexpr (Type == GroupType::kF16 && Across) {                                                           \
      HONE_WGMMA(columns "k16.f32.f16.f16", registers, "{" a "}", b, add, ", 1, 1, 1", HONE_LEFT_REGISTERS, HONE_SUM_##count("+f", 0));     \
    } else if constexpr (Type == GroupType::kF16) {                                                                     \
      HONE_WGMMA(columns "k16.f32.f16.f16", registers, "{" a "}", b, add, ", 1, 1, 0", HONE_LEFT_REGISTERS, HONE_SUM_##count("+f", 0));     \
    } else if constexpr (Across) {                                                                                      \
      HONE_WGMMA(columns "k16.f32.bf16.bf16", registers, "{" a "}", b, add, ", 1, 1, 1", HONE_LEFT_REGISTERS, HONE_SUM_##count("+f", 0));   \
    } else {                                                                                                            \
      HONE_WGMMA(columns "k16.f32.bf16.bf16", registers, "{" a "}", b, add, ", 1, 1, 0", HONE_LEFT_REGISTERS, HONE_SUM_##count("+f", 0));   \
    }                                                                                                                   \
  }
HONE_GROUP_PRODUCT_FROM(8, "16", HONE_REGISTERS_8(), "%8, %9, %10, %11", "%12", "%13")
HONE_GROUP_PRODUCT_FROM(12, "24", HONE_TEN() HONE_REGISTERS_2(1), "%12, %13, %14, %15", "%16", "%17")
HONE_GROUP_PRODUCT_FROM(16, "32", HONE_TEN() HONE_REGISTERS_6(1), "%16, %17, %18, %19", "%20", "%21")
HONE_GROUP_PRODUCT_FROM(24, "48", HONE_FIRST_20 HONE_REGISTERS_4(2), "%24, %25, %26, %27", "%28", "%29")
HONE_GROUP_PRODUCT_FROM(32, "64", HONE_FIRST_20 HONE_TEN(2) HONE_REGISTERS_2(3), "%32, %33, %34, %35", "%36", "%37")
HONE_GROUP_PRODUCT_FROM(40, "80", HONE_FIRST_20 HONE_TEN(2) HONE_REGISTERS_8(3) ", %38, %39", "%40, %41, %42, %43", "%44", "%45")
HONE_GROUP_PRODUCT_FROM(48, "96", HONE_FIRST_40 HONE_REGISTERS_8(4), "%48, %49, %50, %51", "%52", "%53")
HONE_GROUP_PRODUCT_FROM(64, "128", HONE_FIRST_60 HONE_REGISTERS_4(6), "%64, %65, %66, %67", "%68", "%69")
HONE_GROUP_PRODUCT_FROM(96, "192", HONE_FIRST_90 HONE_REGISTERS_6(9), "%96, %97, %98, %99", "%100", "%101")
HONE_GROUP_PRODUCT_FROM(128, "256", HONE_FIRST_120 HONE_REGISTERS_8(12), "%128, %129, %130, %131", "%132", "%133")
#undef HONE_GROUP_PRODUCT_FROM
#undef HONE_WGMMA
#undef HONE_LEFT_REGISTERS
#undef HONE_LEFT_WORD
#undef HONE_SUM_128
#undef HONE_SUM_96
#undef HONE_SUM_64
#undef HONE_SUM_48
#undef HONE_SUM_32
#undef HONE_SUM_24
#undef HONE_SUM_16
#undef HONE_SUM_12
#undef HONE_SUM_8
#undef HONE_SUM_4
#undef HONE_FIRST_120
#undef HONE_FIRST_90
#undef HONE_FIRST_60
#undef HONE_FIRST_40
#undef HONE_FIRST_20
#undef HONE_TEN
#undef HONE_REGISTERS_8
#undef HONE_REGISTERS_6
#undef HONE_REGISTERS_4
#undef HONE_REGISTERS_2

}  // namespace hone::prim
