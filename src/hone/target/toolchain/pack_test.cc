// Packs of kernels: what is written is read, what is damaged is left alone, and a toolchain without a compiler builds what they
// hold. No compiler runs here: the cubin is made by hand.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/base/testing/environment.h"
#include "hone/target/toolchain/pack.h"
#include "hone/target/toolchain/shipped.h"
#include "hone/target/toolchain/testing/tiny_cubin.h"
#include "hone/target/toolchain/tilelang.h"
#include "hone/target/toolchain/toolchain.h"

namespace hone::target {
namespace {

namespace fs = std::filesystem;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using base::testing::Variable;

std::string key(char digit) { return std::string(64, digit); }

PackedBuild packed(char digit, std::string image) {
  return {key(digit), "sm_90a", "NVRTC 13.0", {{"registers/k", 32}, {"spill_bytes/k", 0.5}}, "a warning: \xff\n", std::move(image)};
}

/// Bytes that do not repeat.
std::string noise(size_t count, uint32_t seed) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  return bytes;
}

/// Without waiting for the disk, as write_file_atomic() does.
void put(const fs::path& file, const std::string& content) {
  std::ofstream out(file, std::ios::binary);
  out << content;
  ASSERT_TRUE(out.flush());
}

std::string three() {
  PackWriter writer;
  EXPECT_TRUE(writer.add(packed('a', noise(300, 1))));
  EXPECT_TRUE(writer.add(packed('b', "")));
  EXPECT_TRUE(writer.add(packed('c', std::string(100'000, 'x') + noise(300, 2))));
  return writer.finish();
}

class Packs : public testing::Test {
 protected:
  std::shared_ptr<const Pack> opened(const std::string& content) {
    put(file_, content);
    auto pack = Pack::open(file_);
    EXPECT_TRUE(pack) << (pack ? "" : pack.error().to_string());
    return pack ? *pack : nullptr;
  }
  base::ScratchDirectory folder_ = base::ScratchDirectory::create("pack").value();
  fs::path file_ = folder_.path() / "level1.pack";
};

TEST_F(Packs, WhatIsWrittenIsRead) {
  const auto pack = opened(three());
  ASSERT_TRUE(pack);
  EXPECT_EQ(pack->entries().size(), 3u);
  EXPECT_EQ(pack->bytes(), fs::file_size(file_));
  const auto one = pack->read(key('a'));
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_EQ(one->key, key('a'));
  EXPECT_EQ(one->arch, "sm_90a");
  EXPECT_EQ(one->toolchain, "NVRTC 13.0");
  EXPECT_THAT(one->facts, ElementsAre(Pair("registers/k", 32), Pair("spill_bytes/k", 0.5)));
  EXPECT_THAT(one->log, HasSubstr("a warning: "));
  EXPECT_EQ(one->image, noise(300, 1));
  EXPECT_EQ(pack->read(key('b'))->image, "");
  EXPECT_EQ(pack->read(key('c'))->image, std::string(100'000, 'x') + noise(300, 2));
  EXPECT_FALSE(pack->entries().contains(key('d')));
  EXPECT_EQ(three(), three()) << "the same kernels are the same file";
  EXPECT_EQ(opened(PackWriter().finish())->entries().size(), 0u);
}

TEST_F(Packs, WhatDoesNotFitIsLeftOut) {
  constexpr size_t kMost = 20'000;
  PackWriter writer(kMost);
  EXPECT_TRUE(writer.add(packed('a', noise(9000, 1))));
  EXPECT_FALSE(writer.add(packed('b', noise(12'000, 2))));
  EXPECT_TRUE(writer.add(packed('c', noise(5000, 3))));
  for (const char digit : {'d', 'e', 'f', '0', '1', '2', '3', '4'}) (void)writer.add(packed(digit, noise(100, static_cast<uint32_t>(digit))));
  EXPECT_GT(writer.size(), 4u);
  EXPECT_LE(writer.finish().size(), kMost);
  EXPECT_EQ(opened(writer.finish())->entries().size(), writer.size());
}

/// Nothing of a pack where it is damaged, or what was written: never anything else.
void expect_right_or_refused(const fs::path& file, const std::string& how) {
  const auto pack = Pack::open(file);
  if (!pack) {
    EXPECT_THAT(pack.error().code, AnyOf(ErrorCode::kNotFound, ErrorCode::kCorrupt)) << how;
    return;
  }
  for (const auto& [name, entry] : (*pack)->entries()) {
    const auto one = (*pack)->read(name);
    if (!one) EXPECT_EQ(one.error().code, ErrorCode::kCorrupt) << how;
    else EXPECT_EQ(one->image, name[0] == 'a' ? noise(300, 1) : name[0] == 'b' ? "" : std::string(100'000, 'x') + noise(300, 2)) << how;
  }
}

TEST_F(Packs, DamageIsNeverAKernel) {
  const std::string whole = three();
  for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 120) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
    put(file_, bytes);
    expect_right_or_refused(file_, "byte " + std::to_string(at));
    bytes = whole.substr(0, at);
    put(file_, bytes);
    EXPECT_FALSE(Pack::open(file_)) << "cut after " << at;
    bytes = whole.substr(at + 1);
    put(file_, bytes);
    EXPECT_FALSE(Pack::open(file_)) << "without its first " << at + 1;
    bytes = whole;
    bytes.insert(at, "?");
    put(file_, bytes);
    expect_right_or_refused(file_, "a byte more at " + std::to_string(at));
  }
  // Lengths that lie, in the footer, which no hash holds.
  constexpr size_t kFooter = 8 + 8 + 64 + 16;
  for (size_t byte = 0; byte < 16; ++byte)
    for (const int value : {0, 1, 0x7f, 0xff}) {
      std::string bytes = whole;
      bytes[bytes.size() - kFooter + byte] = static_cast<char>(value);
      put(file_, bytes);
      expect_right_or_refused(file_, "length");
    }
}

TEST_F(Packs, WhatIsNoneHasNone) {
  for (const std::string& content : {std::string(), std::string("hone"), noise(5000, 7), std::string(200, '\0')}) {
    put(file_, content);
    const auto pack = Pack::open(file_);
    ASSERT_FALSE(pack);
    EXPECT_EQ(pack.error().code, ErrorCode::kNotFound);
  }
  for (const fs::path& file : {folder_.path(), folder_.path() / "missing"}) EXPECT_EQ(Pack::open(file).error().code, ErrorCode::kNotFound);
}

TEST_F(Packs, AProgramEndsWithOne) {
  const fs::path program = folder_.path() / "true";
  fs::copy_file("/bin/true", program);
  const auto size = fs::file_size(program);
  put(file_, three());
  for (int time = 0; time < 2; ++time) {
    const Status appended = append_pack(program, file_);
    ASSERT_TRUE(appended) << appended.error().to_string();
    EXPECT_EQ(fs::file_size(program), size + fs::file_size(file_)) << "the second takes the place of the first";
  }
  base::SpawnOptions spawn;
  spawn.argv = {program.string()};
  const auto exit = base::run(spawn, std::chrono::seconds(20));
  EXPECT_TRUE(exit && exit->ok());
  const auto pack = Pack::open(program);
  ASSERT_TRUE(pack) << pack.error().to_string();
  EXPECT_EQ((*pack)->read(key('a'))->image, noise(300, 1));
  EXPECT_EQ(append_pack(file_, file_).error().code, ErrorCode::kInput) << "no program";
  EXPECT_EQ(append_pack(program, "/bin/true").error().code, ErrorCode::kNotFound) << "no pack";
}

TEST(PackNames, ReleasesAndWhatIsShipped) {
  EXPECT_EQ(release_of("NVRTC 13.0"), "13.0");
  EXPECT_EQ(release_of("nvcc 13.0.88"), "13.0");
  EXPECT_EQ(release_of("12.8.1"), "12.8");
  EXPECT_EQ(release_of("none"), "");
  EXPECT_EQ(as_shipped("NVRTC 13.0"), "NVRTC 13.0, shipped");
  EXPECT_EQ(as_shipped("NVRTC 13.0, shipped"), "NVRTC 13.0, shipped");
  EXPECT_EQ(without_shipped("NVRTC 13.0, shipped"), "NVRTC 13.0");
  EXPECT_TRUE(is_shipped("NVRTC 13.0, shipped"));
  EXPECT_FALSE(is_shipped("NVRTC 13.0"));
}

constexpr const char* kSource = R"hone(/* hone
language = "cuda"
tunables = { BLOCK = [128, 256] }
specialise = ["N"]
[[launch]]
kernel = "twist"
grid   = ["ceil_div(N, BLOCK)"]
block  = ["BLOCK"]
args   = ["x", "y", "i64:N"]
*/
extern "C" __global__ void twist(const float* x, float* y, long long n) {}
)hone";

/// A machine with no compiler, and a cache of its own.
class Shipped : public Packs {
 protected:
  /// The device headers take their time to write: once for all.
  void SetUp() override {
    static const base::ScratchDirectory kept = base::ScratchDirectory::create("pack").value();
    {
      const Variable cache("XDG_CACHE_HOME", kept.path().string());
      ASSERT_TRUE(device_headers());
    }
    fs::create_directories(cache_ / "hone");
    fs::copy(kept.path() / "hone/include", cache_ / "hone/include", fs::copy_options::recursive);
  }
  Result<BuildOutcome> build(const std::string& source, const task::Bindings& bindings = {{"N", 1024}}) {
    HONE_TRY(const auto toolchain, cuda_toolchain("sm_90a"));
    return toolchain->build(kernel::parse_kernel(source, "k.cu").value(), task_, bindings, {});
  }
  void write(const std::string& the_key, const std::string& image, const std::string& arch = "sm_90a") {
    PackWriter writer;
    PackedBuild build{the_key, arch, "NVRTC 13.0", {{"spill_bytes/twist", 16}, {"static_shared_bytes/twist", 512}, {"registers/twist", 999}}, "words", image};
    EXPECT_TRUE(writer.add(build));
    build.key = key('9');
    EXPECT_TRUE(writer.add(build));
    put(file_, writer.finish());
  }
  static std::string twist_key() { return cuda_key("sm_90a", kernel::parse_kernel(kSource, "k.cu").value(), task(), {{"N", 1024}}).value(); }
  static task::Task task() { return task::task_from_expressions("y = 2 * x", {"x=f32[N]"}, {"N=1024"}).value(); }

  task::Task task_ = task();
  fs::path cache_ = folder_.path() / "cache";
  Variable nvcc_{"HONE_NVCC", "/nonexistent/nvcc"}, nvrtc_{"HONE_NVRTC", "none"}, cache_of_{"XDG_CACHE_HOME", cache_.string()};
  const std::string image_ = tiny_cubin("twist", {8, 8, 8});
};

TEST_F(Shipped, BuildsWithoutACompiler) {
  write(twist_key(), image_);
  const Variable packs("HONE_PACKS", file_.string());
  for (int time = 0; time < 2; ++time) {
    const auto outcome = build(kSource);
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    ASSERT_TRUE(std::holds_alternative<Build>(*outcome)) << std::get<BuildFailure>(*outcome).reason;
    const Build& built = std::get<Build>(*outcome);
    EXPECT_EQ(built.toolchain, "NVRTC 13.0, shipped");
    EXPECT_EQ(built.card_arch, "sm_90a");
    EXPECT_EQ(built.key, twist_key());
    EXPECT_EQ(built.wall_ns, 0);
    EXPECT_EQ(built.log, "words");
    EXPECT_THAT(built.symbols, ElementsAre(Pair("twist", "twist")));
    EXPECT_EQ(base::read_file(built.artifact).value(), image_);
    EXPECT_EQ(built.facts.at("spill_bytes/twist"), 16) << "what ptxas said travels";
    EXPECT_EQ(built.facts.at("static_shared_bytes/twist"), 512);
    EXPECT_EQ(built.facts.at("registers/twist"), 40) << "what the cubin says is read from it";
    // The second time from the cache: the pack's own bytes are not needed.
    std::string bytes = base::read_file(file_).value();
    bytes[40] = static_cast<char>(~bytes[40]);
    put(file_, bytes);
  }
  const auto toolchain = cuda_toolchain("sm_90a");
  EXPECT_EQ((*toolchain)->name(), "NVRTC 13.0, shipped");
  const auto compiler = cuda_compiler();
  ASSERT_TRUE(compiler);
  EXPECT_EQ(compiler->shipped, "2 kernels for sm_90a by NVRTC 13.0");
  EXPECT_THAT(compiler->archs, ElementsAre("sm_90a"));
}

TEST_F(Shipped, WhatIsNotThereIsAFailureThatSaysSo) {
  write(twist_key(), image_);
  const Variable packs("HONE_PACKS", file_.string());
  for (const auto& [source, n] : {std::pair{std::string(kSource) + "// another\n", 1024}, {std::string(kSource), 1025}}) {
    const auto outcome = build(source, {{"N", n}});
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    ASSERT_TRUE(std::holds_alternative<BuildFailure>(*outcome));
    EXPECT_THAT(std::get<BuildFailure>(*outcome).reason, HasSubstr("does not ship built, and there is neither nvcc nor NVRTC"));
    EXPECT_THAT(std::get<BuildFailure>(*outcome).log, HasSubstr("install "));
  }
}

TEST_F(Shipped, NoPackNoToolchain) {
  write(twist_key(), image_);
  {
    const Variable packs("HONE_PACKS", file_.string());
    ASSERT_TRUE(build(kSource));
    EXPECT_EQ(cuda_toolchain("sm_80").error().code, ErrorCode::kUnavailable) << "for another card nothing ships";
  }
  for (const std::string& packs : {std::string("none"), std::string(), (folder_.path() / "missing").string()}) {
    const Variable given("HONE_PACKS", packs);
    const auto toolchain = cuda_toolchain("sm_90a");
    ASSERT_FALSE(toolchain) << packs;
    EXPECT_EQ(toolchain.error().code, ErrorCode::kUnavailable);
  }
}

TEST_F(Shipped, WhatIsNotRightIsAsIfItWereNotThere) {
  const Variable packs("HONE_PACKS", file_.string());
  // No cubin; a kernel of another plan; one that calls what the driver would have to provide.
  for (const std::string& image : {std::string("no cubin"), tiny_cubin("twist", {8, 8}), tiny_cubin("other", {8, 8, 8}), tiny_cubin("twist", {8, 8, 8}, "vprintf")}) {
    write(twist_key(), image);
    const auto outcome = build(kSource);
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    EXPECT_TRUE(std::holds_alternative<BuildFailure>(*outcome));
  }
  write(twist_key(), image_);
  std::string bytes = base::read_file(file_).value();
  bytes[40] = static_cast<char>(~bytes[40]);
  put(file_, bytes);
  const auto outcome = build(kSource);
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_TRUE(std::holds_alternative<BuildFailure>(*outcome));
}

TEST_F(Shipped, AFileBesideADamagedOne) {
  write(twist_key(), image_);
  const fs::path damaged = folder_.path() / "damaged.pack";
  std::string bytes = base::read_file(file_).value();
  bytes[bytes.size() - 120] = static_cast<char>(~bytes[bytes.size() - 120]);
  put(damaged, bytes);
  const Variable packs("HONE_PACKS", damaged.string() + ":/nonexistent:" + file_.string());
  const auto outcome = build(kSource);
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  EXPECT_TRUE(std::holds_alternative<Build>(*outcome));
}

TEST_F(Shipped, KeysKnowNoPaths) {
  const std::string here = twist_key();
  const Variable elsewhere("XDG_CACHE_HOME", (folder_.path() / "elsewhere").string());
  EXPECT_EQ(twist_key(), here);
  const kernel::Kernel kernel = kernel::parse_kernel(kSource, "k.cu").value();
  EXPECT_NE(cuda_key("sm_80", kernel, task_, {{"N", 1024}}).value(), here);
  EXPECT_NE(cuda_key("sm_90a", kernel, task_, {{"N", 1025}}).value(), here) << "specialised";
  kernel::Kernel larger = kernel;
  larger.config["BLOCK"] = 256;
  EXPECT_NE(cuda_key("sm_90a", larger, task_, {{"N", 1024}}).value(), here);
  EXPECT_NE(cuda_key("sm_90a", kernel, task_, {{"N", 1024}}, "-O1").value(), here);
}

constexpr const char* kTiles = R"hone("""hone
language = "tilelang"
workspaces = { part = "f32[2]" }
[[launch]]
kernel = "twist"
args   = ["x", "y", "=N"]
"""
)hone";

/// What TileLang is said to have made of it: the launch is another than the header says, and one of its own.
constexpr const char* kTilesLowered = R"hone(/* hone
language = "cuda"
[[launch]]
kernel = "twist_kernel"
grid   = ["8"]
block  = ["128"]
shared = "512"
args   = ["y", "x"]
*/
extern "C" __global__ void twist_kernel(float* y, const float* x) {}
)hone";

/// TileLang is not there either.
class ShippedTiles : public Shipped {
 protected:
  Result<BuildOutcome> build_tiles(int64_t n = 1024) {
    HONE_TRY(const auto toolchain, gpu_toolchain("cuda:sm_90a"));
    return toolchain->build(kernel::parse_kernel(kTiles, "k.py").value(), task_, {{"N", n}}, {});
  }
  /// The text of one shape, and its binary.
  void write_tiles(const std::string& text, const std::string& image) {
    const auto lowered = kernel::parse_kernel(kTilesLowered, "k.cu").value();
    PackWriter writer;
    const std::string the_key = tilelang_key("cuda:sm_90a", kernel::parse_kernel(kTiles, "k.py").value(), task_, {{"N", 1024}});
    EXPECT_TRUE(writer.add({the_key, "", "TileLang 0.1.15", {}, {}, text}));
    EXPECT_TRUE(writer.add({cuda_key("sm_90a", lowered, task_, {{"N", 1024}}).value(), "sm_90a", "nvcc 13.0.88", {}, {}, image}));
    put(file_, writer.finish());
  }
  Variable python_{"HONE_TILELANG_PYTHON", "/nonexistent/python"};
  const std::string tiles_ = tiny_cubin("twist_kernel", {8, 8});
};

TEST_F(ShippedTiles, BuildWithoutTileLangAndCompiler) {
  write_tiles(kTilesLowered, tiles_);
  const Variable packs("HONE_PACKS", file_.string());
  const auto outcome = build_tiles();
  ASSERT_TRUE(outcome) << outcome.error().to_string();
  ASSERT_TRUE(std::holds_alternative<Build>(*outcome)) << std::get<BuildFailure>(*outcome).reason;
  const Build& built = std::get<Build>(*outcome);
  EXPECT_EQ(built.toolchain, "TileLang 0.1.15, nvcc 13.0.88, shipped");
  EXPECT_THAT(built.symbols, ElementsAre(Pair("twist_kernel", "twist_kernel")));
  const auto plan = plan_of(kernel::parse_kernel(kTiles, "k.py").value(), built, task_, {{"N", 1024}}, {});
  ASSERT_TRUE(plan) << plan.error().to_string();
  ASSERT_EQ(plan->launches.size(), 1u);
  EXPECT_EQ(plan->launches[0].shared, 512);
  EXPECT_THAT(plan->launches[0].grid, ElementsAre(8));
  EXPECT_EQ(cuda_compiler()->shipped, "1 kernels for sm_90a by nvcc 13.0.88") << "text is no kernel";
  // What a pack is made of again: the text and the binary, each by whom made it.
  const auto parts = packed_of(built);
  ASSERT_TRUE(parts);
  ASSERT_EQ(parts->size(), 2u);
  EXPECT_EQ(parts->at(0).arch, "");
  EXPECT_EQ(parts->at(0).toolchain, "TileLang 0.1.15");
  EXPECT_EQ(parts->at(0).image, kTilesLowered);
  EXPECT_EQ(parts->at(1).arch, "sm_90a");
  EXPECT_EQ(parts->at(1).toolchain, "nvcc 13.0.88");
  EXPECT_EQ(parts->at(1).image, tiles_);
  for (const PackedBuild& part : *parts) EXPECT_TRUE(Pack::open(file_).value()->entries().contains(part.key));
}

TEST_F(ShippedTiles, WhatDidNotShipSaysSo) {
  write_tiles(kTilesLowered, tiles_);
  {
    const Variable packs("HONE_PACKS", file_.string());
    const auto other = build_tiles(1025);
    ASSERT_TRUE(other) << other.error().to_string();
    ASSERT_TRUE(std::holds_alternative<BuildFailure>(*other));
    EXPECT_THAT(std::get<BuildFailure>(*other).reason, HasSubstr("does not ship built for these shapes, and TileLang is not installed"));
    EXPECT_TRUE(std::get<BuildFailure>(*other).unshipped);
    // Text that is no kernel, and a binary that is not the text's.
    for (const auto& [text, image] : {std::pair{std::string("no kernel"), tiles_}, {std::string(kTilesLowered), tiny_cubin("twist_kernel", {8, 8, 8})}}) {
      write_tiles(text, image);
      const auto outcome = build_tiles();
      ASSERT_TRUE(outcome) << outcome.error().to_string();
      EXPECT_TRUE(std::holds_alternative<BuildFailure>(*outcome));
    }
  }
  const Variable packs("HONE_PACKS", "none");
  EXPECT_FALSE(build_tiles());
}

/// Runs itself again, from a program that ends with a pack.
TEST_F(Shipped, TheProgramsOwnPackIsFound) {
  if (std::getenv("HONE_TEST_PACKED")) {
    const auto outcome = build(kSource);
    ASSERT_TRUE(outcome) << outcome.error().to_string();
    EXPECT_TRUE(std::holds_alternative<Build>(*outcome));
    const Variable packs("HONE_PACKS", "none");
    EXPECT_FALSE(build(kSource));
    return;
  }
  write(twist_key(), image_);
  const fs::path program = folder_.path() / "test";
  fs::copy_file("/proc/self/exe", program);
  ASSERT_TRUE(append_pack(program, file_));
  base::SpawnOptions spawn;
  spawn.argv = {program.string(), "--gtest_filter=Shipped.TheProgramsOwnPackIsFound"};
  spawn.environment = {{"PATH", "/usr/bin:/bin"}, {"HONE_TEST_PACKED", "1"}};
  const auto exit = base::run(spawn, std::chrono::seconds(60));
  ASSERT_TRUE(exit) << exit.error().to_string();
  EXPECT_TRUE(exit->ok()) << exit->out << exit->err;
}

}  // namespace
}  // namespace hone::target
