// PTX as statements: what NVRTC and nvcc write, and inline assembly between it.
#include "hone/diagnose/profile/ptx_text.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace hone::diagnose::ptx_text_cases {
namespace {

using ::testing::ElementsAre;

const std::string kRows =
    "// a comment with a { brace; and a .entry\n"
    ".version 9.0\n.target sm_90a\n.address_size 64\n\n"
    ".global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    ".visible .entry rows(\n\t.param .u64 rows_param_0,\n\t.param .u32 rows_param_1\n)\n"
    ".maxntid 256, 1, 1\n"
    "{\n"
    "\t.reg .pred \t%p<3>;\n"
    "\t.reg .f32 \t%f<9>;\n"
    "\t.reg .b64 \t%rd<5>;\n"
    "\t.shared .align 4 .b8 tile[4224];\n"
    "\n"
    "\tld.param.u64 \t%rd1, [rows_param_0];\n"
    "$L__BB0_3:\n"
    "\t.pragma \"no;unroll\";\n"
    "\t@!%p1 ld.global.nc.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd1+-16];\n"
    "\t// begin inline asm\n"
    "\t{ .reg .b32 t; .reg .pred p, q;\n\t mov.b32 t, %f1; }\n"
    "\t/* st.global.f32 [%rd9], %f1; */\n"
    "\tst.shared.f32 \t[tile+8], %f1;\n"
    "\t@%p2 bra \t$L__BB0_3;\n"
    "\tret;\n"
    "}\n";

PtxText read(const std::string& text) {
  auto read = read_ptx(text);
  EXPECT_TRUE(read) << read.error().to_string();
  return std::move(*read);
}

std::vector<std::string> opcodes(const PtxFunction& function, PtxKind kind) {
  std::vector<std::string> all;
  for (const PtxStatement& s : function.statements)
    if (s.kind == kind) all.emplace_back(s.opcode);
  return all;
}

const PtxStatement& the(const PtxFunction& function, std::string_view opcode) {
  return *std::find_if(function.statements.begin(), function.statements.end(), [&](const PtxStatement& s) { return s.opcode == opcode; });
}

TEST(PtxText, StatementsInTheirOrder) {
  const PtxText text = read(kRows);
  ASSERT_EQ(text.functions.size(), 1);
  const PtxFunction& f = text.functions[0];
  EXPECT_EQ(f.name, "rows");
  EXPECT_TRUE(f.entry);
  EXPECT_THAT(opcodes(f, PtxKind::kInstruction), ElementsAre("ld.param.u64", "ld.global.nc.v4.f32", "mov.b32", "st.shared.f32", "bra", "ret"));
  EXPECT_THAT(opcodes(f, PtxKind::kLabel), ElementsAre("$L__BB0_3"));
  EXPECT_THAT(opcodes(f, PtxKind::kScope), ElementsAre("{", "}"));
  for (const PtxStatement& s : f.statements) EXPECT_TRUE(s.kind != PtxKind::kInstruction || kRows[s.end - 1] == ';') << s.opcode;
  EXPECT_EQ(kRows.substr(f.body, 12), "ld.param.u64") << "behind the declarations";
  EXPECT_TRUE(kRows.substr(text.globals).starts_with("\n.global"));
}

TEST(PtxText, GuardsAndOperands) {
  const PtxText text = read(kRows);
  const PtxStatement& load = the(text.functions[0], "ld.global.nc.v4.f32");
  EXPECT_EQ(load.guard, "!%p1");
  EXPECT_THAT(load.operands, ElementsAre("{%f1, %f2, %f3, %f4}", "[%rd1+-16]"));
  EXPECT_EQ(kRows.substr(load.opcode_at, 9), "ld.global");
  EXPECT_TRUE(load.has("nc"));
  EXPECT_FALSE(load.has("n"));
  EXPECT_FALSE(load.has("ld")) << "that is its name";
  EXPECT_EQ(load.part(0), "ld");
  EXPECT_EQ(load.type(), "f32");
  EXPECT_EQ(the(text.functions[0], "bra").guard, "%p2");
}

TEST(PtxText, RegistersAndTheirTypes) {
  const PtxText text = read(kRows);
  const PtxFunction& f = text.functions[0];
  EXPECT_EQ(f.type_of("%f7"), "f32");
  EXPECT_EQ(f.type_of("%rd1"), "b64");
  EXPECT_EQ(f.type_of("t"), "b32");
  EXPECT_EQ(f.type_of("q"), "pred");
  EXPECT_EQ(f.type_of("tile"), "");
  EXPECT_EQ(bits_of("f32"), 32);
  EXPECT_EQ(bits_of("f16x2"), 32);
  EXPECT_EQ(bits_of("pred"), 0);
  EXPECT_TRUE(is_float("bf16x2"));
  EXPECT_FALSE(is_float("b32"));
}

TEST(PtxText, AccessesOfMemory) {
  const PtxText text = read(kRows);
  const auto load = access_of(the(text.functions[0], "ld.global.nc.v4.f32"));
  ASSERT_TRUE(load);
  EXPECT_TRUE(load->load && load->weak && load->global());
  EXPECT_EQ(load->width(), 16);
  EXPECT_EQ(load->base, "%rd1");
  EXPECT_EQ(load->offset, -16);
  EXPECT_THAT(load->values, ElementsAre("%f1", "%f2", "%f3", "%f4"));
  const auto store = access_of(the(text.functions[0], "st.shared.f32"));
  ASSERT_TRUE(store);
  EXPECT_TRUE(!store->load && store->shared());
  EXPECT_EQ(store->base, "tile");
  EXPECT_EQ(store->offset, 8);
  EXPECT_FALSE(access_of(the(text.functions[0], "ld.param.u64")));
  EXPECT_FALSE(address_of("[4096]"));
  EXPECT_FALSE(address_of("%rd1"));
}

TEST(PtxText, OrderedAccessesAreNotWeak) {
  const PtxText text = read(".version 9.0\n.target sm_90a\n.address_size 64\n.entry k()\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<3>;\n"
                            "ld.acquire.gpu.global.u32 %r1, [%rd1];\nld.volatile.global.u32 %r1, [%rd1];\nst.shared::cluster.u32 [%r1], %r2;\nret;\n}\n");
  const auto& all = text.functions[0].statements;
  int ordered = 0;
  for (const PtxStatement& s : all) {
    const auto a = access_of(s);
    ordered += a && !a->weak;
    EXPECT_FALSE(a && a->weak) << s.opcode;
  }
  EXPECT_EQ(ordered, 2);
  EXPECT_FALSE(access_of(the(text.functions[0], "st.shared::cluster.u32"))) << "another block's";
}

TEST(PtxText, DeviceFunctions) {
  const PtxText text = read(".version 9.0\n.target sm_90a\n.address_size 64\n"
                            ".func (.param .b32 result) twice(.param .b32 twice_param_0)\n;\n"
                            ".func (.param .b32 result) twice(.param .b32 twice_param_0)\n{\nret;\n}\n.entry k()\n{\nret;\n}\n");
  ASSERT_EQ(text.functions.size(), 2) << "a declaration is none";
  EXPECT_EQ(text.functions[0].name, "twice");
  EXPECT_FALSE(text.functions[0].entry);
  EXPECT_EQ(text.functions[1].name, "k");
}

TEST(PtxText, EditsLeaveTheRestAsItWas) {
  PtxEdits edits;
  edits.replace(4, 7, "B");
  edits.insert(4, "1");
  edits.insert(0, ">");
  edits.insert(4, "2");
  EXPECT_EQ(std::move(edits).applied_to("abc def ghi"), ">abc 12B ghi");
  EXPECT_EQ(PtxEdits().applied_to(kRows), kRows);
}

TEST(PtxText, WhatIsNone) {
  EXPECT_EQ(read_ptx("").error().code, ErrorCode::kInput);
  EXPECT_EQ(read_ptx("\x7f" "ELF").error().code, ErrorCode::kInput);
  EXPECT_EQ(read_ptx(".version 9.0\n.target sm_90a\n.address_size 32\n.entry k()\n{\nret;\n}\n").error().code, ErrorCode::kInput);
  // Cut anywhere it is refused or read, and never read beyond.
  for (size_t n = 0; n < kRows.size(); ++n) (void)read_ptx(std::string(kRows, 0, n));
}

}  // namespace
}  // namespace hone::diagnose::ptx_text_cases
