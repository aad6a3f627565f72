// Names and words of NVIDIA's tools, as they printed them; no tool runs here.
#include <gmock/gmock.h>

#include "hone/base/file.h"
#include "hone/target/toolchain/cubin.h"

namespace hone::target {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Cubin, SourceNamesOfSymbols) {
  EXPECT_EQ(source_name("rows"), "rows");
  EXPECT_EQ(source_name("_Z4rowsPKfPfx"), "rows");
  EXPECT_EQ(source_name("_ZL4rowsPf"), "rows");
  EXPECT_EQ(source_name("_ZN2p04rowsEPKfPfx"), "p0::rows");
  EXPECT_EQ(source_name("_Z2ttILi4EEvPf"), "tt");
  EXPECT_EQ(source_name("_ZN12_GLOBAL__N_15innerEv"), "_GLOBAL__N_1::inner");
  EXPECT_EQ(source_name("_Z99x"), "");
  EXPECT_EQ(source_name("_Z"), "");
}

std::vector<GpuEntry> with(const std::vector<std::string>& symbols) {
  std::vector<GpuEntry> facts;
  for (const std::string& symbol : symbols) facts.emplace_back().symbol = symbol;
  return facts;
}

TEST(Cubin, OneEntryIsMeant) {
  const std::vector<GpuEntry> facts = with({"_Z4rowsPf", "_Z5rows2Pf", "_ZN1a4colsEv", "_ZN1b4colsEv"});
  ASSERT_TRUE(find_entry(facts, "rows"));
  EXPECT_EQ((*find_entry(facts, "rows"))->symbol, "_Z4rowsPf");
  EXPECT_THAT(find_entry(facts, "cols").error(), HasSubstr("any of 2"));
  ASSERT_TRUE(find_entry(facts, "b::cols"));
  EXPECT_EQ((*find_entry(facts, "b::cols"))->symbol, "_ZN1b4colsEv");
  EXPECT_THAT(find_entry(facts, "row").error(), HasSubstr("there is a::cols, b::cols, rows, rows2"));
  EXPECT_THAT(find_entry({}, "row").error(), HasSubstr("the source has none"));
}

TEST(Cubin, BlocksAreHeldByRegistersAndBounds) {
  GpuEntry entry;
  entry.facts["registers"] = 32;
  EXPECT_EQ(most_threads(entry), 1024);
  entry.facts["registers"] = 255;
  EXPECT_EQ(most_threads(entry), 256);
  entry.facts["registers"] = 72;
  EXPECT_EQ(most_threads(entry), 896);
  entry.bound = 128;
  EXPECT_EQ(most_threads(entry), 128);
}

constexpr const char* kPtxas = R"(kernel.cu(3): warning #177-D: variable "a" was declared but never referenced

ptxas info    : 28 bytes gmem
ptxas info    : Compiling entry function '_Z4rowsPKfPfx' for 'sm_90a'
ptxas info    : Function properties for _Z4rowsPKfPfx
    256 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 14 registers, used 1 barriers, 256 bytes cumulative stack size, 1024 bytes smem, 376 bytes cmem[0]
ptxas info    : Compile time = 30.924 ms
ptxas info    : Compiling entry function 'inc' for 'sm_90a'
ptxas info    : Function properties for inc
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 29 registers, used 0 barriers
ptxas info    : Function properties for __internal_accurate_pow
ptxas         .     0 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
)";

TEST(Cubin, PtxasSaysWhatIsSpilled) {
  const auto facts = read_ptxas(kPtxas);
  EXPECT_EQ(facts.at("_Z4rowsPKfPfx").spill_bytes, 36);
  EXPECT_EQ(facts.at("_Z4rowsPKfPfx").shared_bytes, 1024);
  EXPECT_EQ(facts.at("inc").spill_bytes, 0);
  EXPECT_EQ(facts.at("inc").shared_bytes, 0);
  EXPECT_EQ(facts.at("__internal_accurate_pow").spill_bytes, 8);
  EXPECT_FALSE(facts.at("__internal_accurate_pow").shared_bytes);
  EXPECT_EQ(without_ptxas(kPtxas), "kernel.cu(3): warning #177-D: variable \"a\" was declared but never referenced\n\n");
}

TEST(Cubin, InstructionsAreCounted) {
  const auto disassembled = read_sass(R"(	.section	.text._Z4rowsPKfPfx,"ax",@progbits
_Z4rowsPKfPfx:
.text._Z4rowsPKfPfx:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0020*/              @!P0 LDG.E.128.CONSTANT R0, desc[UR6][R2.64] ;
        /*0030*/                   LDG.E.U16 R0, desc[UR6][R2.64] ;
        /*0110*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_3:
        /*0140*/                   STG.E desc[UR6][R2.64], R9 ;
        /*0150*/                   EXIT ;
        /*0170*/                   NOP;
)");
  ASSERT_THAT(disassembled, ElementsAre(Pair("_Z4rowsPKfPfx", testing::_)));
  EXPECT_THAT(disassembled.begin()->second,
              UnorderedElementsAre(Pair("all", 6), Pair("LDC", 1), Pair("LDG.128", 1), Pair("LDG.16", 1), Pair("BAR", 1), Pair("STG.32", 1)));
  const auto dumped = read_sass(R"(		Function : inc
	.headerflags	@"EF_CUDA_ACCELERATORS"
        /*0000*/                   FFMA R1, R1, R2, R3 ;                    /* 0x00000a00ff017b82 */
                                                                             /* 0x000fe20000000800 */
        /*0010*/                   LDS.64 R2, [R11] ;                       /* 0x00000000000b7919 */
)");
  EXPECT_THAT(dumped.at("inc"), UnorderedElementsAre(Pair("all", 2), Pair("FFMA", 1), Pair("LDS.64", 1)));
}

TEST(Cubin, WhatIsNoCubinIsAnError) {
  const auto folder = base::ScratchDirectory::create("cubin").value();
  for (const std::string content : {"", "\x7f" "ELF", "not a cubin but long enough to hold the header of a file in the ELF format, which it is not"}) {
    ASSERT_TRUE(base::write_file_atomic(folder.path() / "k", content));
    EXPECT_FALSE(read_cubin(folder.path() / "k"));
  }
}

}  // namespace
}  // namespace hone::target
