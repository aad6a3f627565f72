// Cachegrind's file, as version 3.19 wrote it of a program that adds up 512 x 256 floats, row by row and column by column,
// with caches of 32 KiB and 256 KiB; and which shape is run in valgrind.
#include "hone/diagnose/profile/cachegrind.h"

#include <gmock/gmock.h>

#include "hone/base/file.h"
#include "hone/diagnose/profile/cache_model.h"

namespace hone::diagnose::cachegrind_cases {
namespace {

std::string sample(const std::string& name) {
  const auto text = base::read_file(std::string(HONE_SOURCE_DIR) + "/test/cases/diagnose/" + name);
  EXPECT_TRUE(text);
  return *text;
}

LineCounts read(const std::string& text) {
  auto counts = read_cachegrind(text);
  EXPECT_TRUE(counts) << counts.error().to_string();
  return counts ? *counts : LineCounts{};
}

/// What `counts` has of one function.
CacheCounts of(const LineCounts& counts, const std::string& function) {
  LineCounts its;
  for (const auto& [line, count] : counts)
    if (line.function == function) its.emplace(line, count);
  return sum_of(its);
}

constexpr int64_t kFloats = 512 * 256, kLines = kFloats / 16;

TEST(Cachegrind, ReadsLinesOfFunctions) {
  const LineCounts counts = read(sample("cachegrind_3_19.out"));
  EXPECT_EQ(sum_of(counts)[kIr], 1049877);
  // The result's store is read once more at the end of each.
  const CacheCounts rows = of(counts, "rows"), columns = of(counts, "columns");
  EXPECT_EQ(rows[kDr], kFloats + 1);
  EXPECT_EQ(rows[kD1mr], kLines + 1);
  EXPECT_EQ(columns[kD1mr], kFloats + 1);  // a column's 512 lines fall on 4 sets of 8
  EXPECT_EQ(columns[kDLmr], kFloats + 1);
  EXPECT_EQ(columns[kBcm], 274);
  EXPECT_EQ(counts.at({"/src/walk.c", "columns", 12})[kD1mr], kFloats);
}

TEST(Cachegrind, WhatTheIdleRunDidIsNoKernelsWork) {
  const LineCounts whole = read(sample("cachegrind_3_19.out")), idle = read(sample("cachegrind_3_19_idle.out"));
  const LineCounts rest = without(whole, idle);
  EXPECT_FALSE(rest.contains({"/src/walk.c", "(below main)", 16}));
  EXPECT_EQ(sum_of(rest)[kIr], 1049877 - 8);
  EXPECT_EQ(sum_of(rest)[kDr], 262147 - 1);
  EXPECT_TRUE(without(idle, idle).empty());
  // Where the idle run missed and the other did not, nothing is left, and not less.
  EXPECT_EQ(without(idle, whole).at({"/src/walk.c", "(below main)", 18})[kIr], 0);
}

TEST(Cachegrind, OtherColumnsPointsAndInlinedFiles) {
  const LineCounts counts = read(
      "desc: of another version\ncmd: ./k\n# a remark\nevents: Ir Dr New D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim\n"
      "fl=a.cc\nfn=f(int, float)\n7 10 4 99 2 1\n7 1\nfi=b.h\n9 5 . . . . 3\nfe=a.cc\n8 1\nsummary: 17 4 99 2 1 3\n");
  EXPECT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts.at({"a.cc", "f(int, float)", 7})[kIr], 11);
  EXPECT_EQ(counts.at({"a.cc", "f(int, float)", 7})[kD1mr], 2);
  EXPECT_EQ(counts.at({"b.h", "f(int, float)", 9})[kDw], 3);
}

TEST(Cachegrind, RefusesWhatIsCutOffOrNoFileOfIts) {
  const std::string whole = sample("cachegrind_3_19.out");
  for (const std::string& text : {std::string(), std::string("hello\n"), whole.substr(0, whole.size() / 2), whole.substr(0, whole.find("summary")),
                                  std::string("events: Ir Dr\nsummary: 1 1\n")})
    EXPECT_FALSE(read_cachegrind(text)) << text;
  std::string wrong = whole;
  wrong.replace(wrong.find("524544"), 6, "524545");
  const auto counts = read_cachegrind(wrong);
  ASSERT_FALSE(counts);
  EXPECT_THAT(counts.error().message, ::testing::HasSubstr("add up"));
  for (const char* word : {"-524544", "52454x", "99999999999999999999"}) {
    wrong = whole;
    wrong.replace(wrong.find("524544"), 6, word);
    EXPECT_FALSE(read_cachegrind(wrong)) << word;
  }
}

TEST(Cachegrind, GeometriesItTakes) {
  // 260 MiB in 20 ways has 212992 sets.
  const target::CacheGeometry last = simulated({int64_t{260} << 20, 20, 64});
  EXPECT_EQ(last.sets(), 131072);
  EXPECT_EQ(last.ways, 33);
  const target::CacheGeometry first = simulated({48 << 10, 12, 64});
  EXPECT_EQ(first.sets(), 64);
  EXPECT_EQ(first.ways, 12);
  for (int64_t kib = 1; kib < 300'000; kib = kib * 7 / 4 + 1)
    for (const int ways : {1, 3, 8, 20}) {
      const target::CacheGeometry cache = simulated({kib << 10, ways, 64});
      EXPECT_EQ(cache.sets() & (cache.sets() - 1), 0);
      EXPECT_EQ(cache.sets() * cache.ways * cache.line, cache.bytes);
      EXPECT_NEAR(static_cast<double>(cache.bytes) / static_cast<double>(kib << 10), 1, 0.35) << kib << " " << ways;
    }
  const auto options = cachegrind_options({{32 << 10, 8, 64}, {48 << 10, 12, 64}, {int64_t{260} << 20, 20, 64}}, "out");
  EXPECT_THAT(options, ::testing::IsSupersetOf({"--D1=49152,12,64", "--LL=276824064,33,64", "--cachegrind-out-file=out"}));
  const CacheModelGeometry here = machine_caches();
  EXPECT_GE(here.last.bytes, here.data.bytes);
  EXPECT_GT(here.data.ways, 0);
}

TEST(Cachegrind, Metrics) {
  const CacheModelGeometry caches{{32 << 10, 8, 64}, {32 << 10, 8, 64}, {256 << 10, 16, 64}};
  task::Cost cost;
  cost.bytes_read = kFloats * 4;
  LineCounts rows, columns;
  for (const auto& [line, count] : read(sample("cachegrind_3_19.out"))) (line.function == "rows" ? rows : columns).emplace(line, count);
  Metrics good, bad;
  add_cache_counts(rows, caches, cost, {"a test", "short"}, good);
  add_cache_counts(columns, caches, cost, {"a test", "short"}, bad);
  EXPECT_NEAR(good.get_or("traffic_ratio", 0), 1, 1e-3);
  EXPECT_NEAR(good.get_or("l1_miss_share", 0), 1.0 / 16, 1e-4);
  EXPECT_NEAR(bad.get_or("traffic_ratio", 0), 16, 1e-2);
  EXPECT_NEAR(bad.get_or("l1_traffic_ratio", 0), 16, 1e-2);
  EXPECT_NEAR(bad.get_or("l1_miss_share", 0), 1, 1e-4);
  EXPECT_NEAR(bad.get_or("last_level_miss_share", 0), 1, 1e-4);
  EXPECT_NEAR(bad.get_or("l1_misses_per_instruction", 0), 0.249, 1e-3);
  EXPECT_NEAR(bad.get_or("branch_miss_share", 0), 275.0 / 131330, 1e-4);
  EXPECT_EQ(bad.find("instructions")->origin, Origin::kModelled);
  EXPECT_EQ(bad.find("traffic_ratio")->about, "bytes fetched from memory over the least, a last-level cache of 256 KiB; short");
  EXPECT_EQ(bad.find("instructions")->about, "of a call; a test");
  EXPECT_THAT(bad.find("l1_miss_share")->about, ::testing::HasSubstr("100 % of them at walk.c:12"));
  Metrics tiny;
  cost.bytes_read = 1000;
  add_cache_counts(columns, caches, cost, {"a test", "short"}, tiny);
  EXPECT_EQ(tiny.find("traffic_ratio")->origin, Origin::kAbsent);
  EXPECT_TRUE(tiny.get("l1_miss_share"));
  // A share without a whole says nothing, and what hardware counted stays.
  Metrics counted;
  counted.measured("branch_miss_share", 0.5, "");
  add_cache_counts({}, caches, cost, {"a test", "short"}, counted);
  EXPECT_EQ(counted.get("branch_miss_share"), 0.5);
  EXPECT_EQ(counted.find("l1_miss_share")->origin, Origin::kAbsent);
}

class Shapes : public ::testing::Test {
 protected:
  std::optional<ModelledShape> fit(double one_thread_ns, const task::Bindings& at, double seconds = 20) {
    return shape_that_fits(kernel_, task_, {{"THREADS", 2}}, {"w", at, 1}, one_thread_ns, seconds);
  }
  task::Task task_ = task::parse_task("name = \"sum\"\ninputs = { x = \"f32[R, C]\" }\noutputs = { y = \"f32[C]\" }\n"
                                      "compute = \"y = sum(x, axis=0)\"\nworkloads = [ { name = \"large\", R = 4096, C = 4096 }, "
                                      "{ name = \"middle\", R = 1024, C = 4096 }, { name = \"tiny\", R = 8, C = 16 } ]\n",
                                      "sum").value();
  kernel::Kernel kernel_ = kernel::parse_kernel("/* hone\nlanguage = \"c++\"\nrequires = [\"C % 16 == 0\", \"R >= 8\"]\n[[launch]]\nkernel = \"f\"\n"
                                                "grid = [\"C\"]\nargs = [\"x\", \"y\", \"i64:R\"]\n*/\nvoid f() {}\n", "k.cc").value();
  const task::Bindings large_ = {{"R", 4096}, {"C", 4096}};
};

TEST_F(Shapes, TheWorkloadItselfWhereThereIsTime) {
  const auto shape = fit(1e7, large_);  // 10 ms, 2 s in valgrind
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->bindings, large_);
  EXPECT_DOUBLE_EQ(shape->seconds, 2);
}

TEST_F(Shapes, ASmallerWorkloadOfTheTaskWhereThatSaysEnough) {
  const auto shape = fit(3e8, large_);  // 60 s; middle is a quarter of it
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->name, "middle");
  EXPECT_NEAR(shape->seconds, 15, 0.1);
}

TEST_F(Shapes, HalvedAsFarAsTheKernelAllows) {
  const auto shape = fit(3e10, large_);  // 6000 s
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->name, "");
  EXPECT_LE(shape->seconds, 20);
  EXPECT_GT(shape->seconds, 9);
  EXPECT_EQ(shape->bindings.at("C") % 16, 0);
  EXPECT_FALSE(fit(1e16, large_));  // 8 x 16 would still take too long
  EXPECT_FALSE(fit(0, large_));     // it was not timed
  const auto huge = fit(1e7, {{"R", 1 << 17}, {"C", 4096}});  // 2 GB of inputs
  ASSERT_TRUE(huge);
  EXPECT_LE(huge->bindings.at("R") * huge->bindings.at("C") * 4, 1'000'000'000);
}

}  // namespace
}  // namespace hone::diagnose::cachegrind_cases
