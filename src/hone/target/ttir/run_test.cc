#include "hone/target/ttir/run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace hone::target::ttir {
namespace {

constexpr size_t kFloats = 64;

/// Runs `body` as a function of two f32 tensors of 64 (%x an input, %y an output) and an i32 %n; what is found, or "".
struct Here {
  alignas(4096) float x[kFloats] = {};
  alignas(4096) float y[kFloats];
  std::string run(const std::string& body, int64_t n = 16, int64_t grid = 1, const std::string& promise = "") {
    for (float& v : y) v = std::numeric_limits<float>::quiet_NaN();
    Module module;
    try {
      module = read_module("#loc = loc(unknown)\nmodule {\n  tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32" + promise + ") attributes {noinline = false} {\n" + body +
                           "    tt.return loc(#loc)\n  } loc(#loc)\n} loc(#loc)\n");
    } catch (const Unreadable& why) {
      return "unreadable: " + why.text;
    }
    if (std::string missing = prepare(module); !missing.empty()) return "missing: " + missing;
    const simt::Buffer buffers[] = {{reinterpret_cast<char*>(x), sizeof x, simt::BufferKind::kInput, 0}, {reinterpret_cast<char*>(y), sizeof y, simt::BufferKind::kOutput, 1}};
    Memory memory;
    memory.begin_call(buffers, 2);
    const Argument arguments[] = {memory.address(0), memory.address(1), static_cast<uint64_t>(n)};
    const int64_t extents[3] = {grid, 1, 1};
    try {
      hone::target::ttir::run(module.functions[0], arguments, extents, memory);
    } catch (const Found& found) {
      return found.stop.text;
    }
    return "";
  }
};

const std::string kLoad = R"(
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32> loc(#loc)
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>> loc(#loc)
    %q = tt.addptr %p, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32> loc(#loc)
    %v = tt.load %q : tensor<16x!tt.ptr<f32>> loc(#loc)
    %r = tt.splat %y : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>> loc(#loc)
    %s = tt.addptr %r, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32> loc(#loc)
)";

TEST(TtirRun, NamesOfConstantsHaveTheirSign) {
  Here here;
  EXPECT_EQ(here.run("    %c-2_i64 = arith.constant -2 : i64 loc(#loc)\n    %c2_i64 = arith.constant 2 : i64 loc(#loc)\n"
                     "    %s = arith.subi %c2_i64, %c-2_i64 : i64 loc(#loc)\n    %f = arith.sitofp %s : i64 to f32 loc(#loc)\n    tt.store %y, %f : !tt.ptr<f32> loc(#loc)\n"), "");
  EXPECT_EQ(here.y[0], 4.0f);
}

TEST(TtirRun, LosesNanWhereTheHardwareDoes) {
  Here here;
  here.x[0] = std::numeric_limits<float>::quiet_NaN();
  here.x[1] = -3;
  const std::string zero = "    %z = arith.constant dense<0.000000e+00> : tensor<16xf32> loc(#loc)\n";
  for (const auto& [name, lost] : {std::pair{"arith.maxnumf", true}, {"arith.maximumf", false}}) {
    EXPECT_EQ(here.run(kLoad + zero + "    %m = " + name + " %v, %z : tensor<16xf32> loc(#loc)\n    tt.store %s, %m : tensor<16x!tt.ptr<f32>> loc(#loc)\n"), "");
    EXPECT_EQ(std::isnan(here.y[0]), !lost) << name;
    EXPECT_EQ(here.y[1], 0.0f);
    EXPECT_TRUE(std::isnan(here.y[16]));
  }
}

TEST(TtirRun, ChecksWhatIsPromised) {
  Here here;
  EXPECT_EQ(here.run("", 32, 1, " {tt.divisibility = 16 : i32}"), "");
  EXPECT_EQ(here.run("", 33, 1, " {tt.divisibility = 16 : i32}"), "parameter 3 of k is promised to be a multiple of 16, and is not");
}

TEST(TtirRun, ProgramsRace) {
  Here here;
  const std::string store = kLoad + "    tt.store %s, %v : tensor<16x!tt.ptr<f32>> loc(#loc)\n";
  EXPECT_EQ(here.run(store, 16, 1), "");
  EXPECT_NE(here.run(store, 16, 2).find("which program 0 writes too in the same launch"), std::string::npos);
}

TEST(TtirRun, SeesBoundsOnBothSides) {
  Here here;
  const auto at = [&](const std::string& offset) {
    return here.run("    %o = arith.constant " + offset + " : i32 loc(#loc)\n    %p = tt.addptr %x, %o : !tt.ptr<f32>, i32 loc(#loc)\n    %v = tt.load %p : !tt.ptr<f32> loc(#loc)\n");
  };
  EXPECT_EQ(at("63"), "");
  EXPECT_EQ(at("64"), "loads 4 bytes at byte 256 of (buffer 0), which has 256");
  EXPECT_EQ(at("-1"), "loads 4 bytes at byte -4 of (buffer 0), which has 256");
  EXPECT_EQ(at("2147483647"), "loads 4 bytes at byte 8589934588 of (buffer 0), which has 256");
}

TEST(TtirRun, RefusesWhatItHasNotByName) {
  Here here;
  EXPECT_EQ(here.run("    %v = tt.something_new %n : i32 loc(#loc)\n"), "missing: tt.something_new");
  EXPECT_EQ(here.run("    %v = arith.addi %n, %nowhere : i32 loc(#loc)\n").find("unreadable: the value %nowhere is not there"), 0u);
  EXPECT_EQ(here.run("    %v = arith.constant dense<0> : tensor<99999999999xi32> loc(#loc)\n").find("unreadable: "), 0u);
  EXPECT_EQ(here.run("    %v = arith.constant 0 : i4 loc(#loc)\n").find("unreadable: the type i4 is not interpreted"), 0u);
  EXPECT_EQ(here.run("    %z = arith.constant 0 : i32 loc(#loc)\n    %v = arith.divsi %n, %z : i32 loc(#loc)\n"), "divides an integer by 0");
}

TEST(TtirMemory, NeighboursAtOnceAreAsOneByOne) {
  alignas(64) uint16_t x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[8] = {};
  const simt::Buffer buffers[] = {{reinterpret_cast<char*>(x), sizeof x, simt::BufferKind::kInput, 0}, {reinterpret_cast<char*>(y), sizeof y, simt::BufferKind::kOutput, 1}};
  Memory memory;
  memory.begin_call(buffers, 2);
  memory.begin_launch();
  memory.begin_program(0);
  uint64_t bits[8] = {};
  ASSERT_TRUE(memory.load_run(memory.address(0) + 2, 2, 7, bits));
  EXPECT_EQ(bits[6], 8u);
  EXPECT_FALSE(memory.load_run(memory.address(0) + 2, 2, 8, bits)) << "beyond the end";
  EXPECT_FALSE(memory.load_run(memory.address(0) + 1, 2, 2, bits)) << "not aligned";
  EXPECT_FALSE(memory.store_run(memory.address(0), 2, 2, bits)) << "an input";
  ASSERT_TRUE(memory.store_run(memory.address(1), 2, 6, bits));
  EXPECT_EQ(y[5], 7);
  EXPECT_TRUE(memory.load_run(memory.address(1), 2, 6, bits));
  EXPECT_FALSE(memory.load_run(memory.address(1), 2, 7, bits)) << "the last was never written";
  memory.begin_program(1);
  EXPECT_FALSE(memory.load_run(memory.address(1), 2, 2, bits)) << "another program wrote it";
  EXPECT_FALSE(memory.store_run(memory.address(1), 2, 2, bits));
  EXPECT_TRUE(memory.store_run(memory.address(1) + 12, 2, 2, bits));
  memory.begin_launch();
  memory.begin_program(0);
  EXPECT_TRUE(memory.load_run(memory.address(1), 2, 8, bits)) << "the launch before wrote it all";
  memory.begin_program(1);
  EXPECT_FALSE(memory.store_run(memory.address(1), 2, 1, bits)) << "another program reads it";
}

TEST(TtirRun, ReadsNoTextToItsHarm) {
  // Cut anywhere, it is an error in words, not an accident.
  const std::string whole = "#loc = loc(unknown)\nmodule {\n  tt.func public @k(%x: !tt.ptr<f32>) {\n" + kLoad + "  } loc(#loc)\n} loc(#loc)\n";
  for (size_t length = 0; length < whole.size(); ++length) {
    try {
      (void)read_module(whole.substr(0, length));
    } catch (const Unreadable&) {
    }
  }
}

}  // namespace
}  // namespace hone::target::ttir
