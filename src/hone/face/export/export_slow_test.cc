// Exported files as their users meet them: compiled with the flags they name and all warnings as errors,
// linked with a small program, run against a direct loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/face/export/export.h"
#include "hone/face/export/testing/kernels.h"

namespace hone::face {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_kernel;
using testing::make_task;

/// What every test program begins with.
constexpr std::string_view kPreamble = R"~(
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>
/// n elements on a cache line, then `off` bytes further.
template <class T> struct Array {
  explicit Array(int64_t n, int64_t off = 0) : base(::operator new(size_t(n) * sizeof(T) + 64, std::align_val_t{64})) {
    p = reinterpret_cast<T*>(static_cast<char*>(base) + off);
    for (int64_t i = 0; i < n; ++i) p[i] = T(i * 37 % 101) / T(16);
  }
  ~Array() { ::operator delete(base, std::align_val_t{64}); }
  Array(const Array&) = delete;
  T& operator[](int64_t i) const { return p[i]; }
  void* base; T* p;
};
inline void check(bool ok, const char* what) { if (!ok) { std::fprintf(stderr, "failed: %s\n", what); std::exit(1); } }
#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__)
)~";

constexpr std::string_view kSoftmaxMain = R"~(
void one(int64_t B, int64_t D, int threads, bool fast, int64_t off = 0) {
  Array<float> x(B * D, off), y(B * D, off);
  CHECK(kernels::softmax_applies(B, D) == fast);
  CHECK(kernels::softmax(x.p, y.p, B, D, threads));
  for (int64_t b = 0; b < B; ++b) {
    double total = 0;
    for (int64_t j = 0; j < D; ++j) total += std::exp(double(x[b * D + j]));
    for (int64_t j = 0; j < D; ++j)
      CHECK(std::abs(y[b * D + j] - std::exp(double(x[b * D + j])) / total) < 1e-6);
  }
}
int main() {
  for (int threads : {0, 1, 2, 5}) { one(33, 256, threads, true); one(1, 64, threads, true); one(7, 37, threads, false); }
  one(9, 64, 2, true, 4);
  float none = 0;
  CHECK(!kernels::softmax_applies(0, 64));
  CHECK(!kernels::softmax(&none, &none, 0, 64));
}
)~";

constexpr std::string_view kMapMain = R"~(
int main() {
  for (int64_t rows : {1, 3, 16}) for (int64_t columns : {1, 31, 32, 100}) {
    const int64_t n = rows * columns;
    Array<uint16_t> a(n); Array<float> b(n), sum(n), product(n);
    for (int64_t i = 0; i < n; ++i) a[i] = uint16_t(0x3f80 + i % 100);
    CHECK(kernels::sum_and_product(a.p, b.p, sum.p, product.p, columns, rows THREADS_ARGUMENT));
    for (int64_t i = 0; i < n; ++i) {
      const uint32_t bits = uint32_t(a[i]) << 16;
      float value; std::memcpy(&value, &bits, 4);
      CHECK(sum[i] == value + b[i]); CHECK(product[i] == value * b[i]);
    }
  }
}
)~";

constexpr std::string_view kMeanMain = R"~(
void one(int64_t N, int64_t D, int threads) {
  Array<float> x(N * D), y(D);
  CHECK(kernels::column_mean(x.p, y.p, D, N, threads));
  for (int64_t j = 0; j < D; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < N; ++i) sum += x[i * D + j];
    CHECK(std::abs(y[j] - sum / double(N)) < 1e-6);
  }
}
int main() {
  for (int round = 0; round < 3; ++round)
    for (int threads : {1, 2, 3}) { one(1, 5, threads); one(64, 7, threads); one(65, 9, threads); one(1000, 33, threads); }
}
)~";

/// Several threads call at once, on pools of different sizes and with different needs of memory.
constexpr std::string_view kManyCallers = R"~(
void one(int64_t N, int64_t D, int threads) {
  Array<float> x(N * D), y(D);
  CHECK(kernels::column_mean(x.p, y.p, D, N, threads));
  for (int64_t j = 0; j < D; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < N; ++i) sum += x[i * D + j];
    CHECK(std::abs(y[j] - sum / double(N)) < 1e-6);
  }
}
int main() {
  std::vector<std::thread> callers;
  for (int c = 0; c < 4; ++c) callers.emplace_back([c] {
    for (int round = 0; round < 20; ++round) one(65 + 500 * ((c + round) % 5), 3 + 70 * (round % 4), 1 + (c + round) % 4);
  });
  for (std::thread& caller : callers) caller.join();
}
)~";

class ExportedProgram : public ::testing::Test {
 protected:
  ExportedProgram() : folder_(base::ScratchDirectory::create("export").value()) {}

  void save(const std::vector<ExportedFile>& files) {
    for (const ExportedFile& file : files) {
      const auto written = base::write_file_atomic(folder_.path() / file.name, file.content);
      ASSERT_TRUE(written.has_value()) << written.error().to_string();
    }
  }
  void save(const char* kernel, const char* task, const ExportOptions& options = {}, const char* fallback = nullptr) {
    std::optional<kernel::Kernel> second;
    if (fallback) second = make_kernel(fallback);
    const auto files = export_header(make_kernel(kernel), make_task(task), second, options);
    ASSERT_TRUE(files.has_value()) << files.error().to_string();
    save(*files);
  }

  base::Exit run(std::vector<std::string> argv) {
    base::SpawnOptions spawn;
    spawn.argv = std::move(argv);
    spawn.environment = {{"PATH", std::getenv("PATH")}, {"LANG", "C"}};
    spawn.directory = folder_.path();
    auto exit = base::run(spawn, std::chrono::seconds(240));
    EXPECT_TRUE(exit.has_value()) << exit.error().to_string();
    return exit.value_or(base::Exit{});
  }

  base::Exit compile(const std::string& compiler, const std::vector<std::string>& flags, std::vector<std::string> files) {
    std::vector<std::string> argv{compiler, "-std=c++20", "-Wall", "-Wextra", "-pthread", "-o", "program"};
    argv.insert(argv.end(), flags.begin(), flags.end());
    if (compiler == "g++") {
      const auto more = ExportOptions{}.gnu_flags;
      argv.insert(argv.end(), more.begin(), more.end());
    }
    argv.insert(argv.end(), files.begin(), files.end());
    return run(argv);
  }

  /// Builds NAME.cc with a program and runs it.
  void expect_works(const std::string& name, std::string_view program, std::vector<std::string> flags,
                    const std::string& compiler = "g++") {
    save({{"main.cc", fmt::format("#include \"{}.h\"\n{}{}", name, kPreamble, program)}});
    flags.emplace_back("-Werror");
    const base::Exit built = compile(compiler, flags, {"main.cc", name + ".cc"});
    ASSERT_TRUE(built.ok()) << built.err;
    const base::Exit ran = run({(folder_.path() / "program").string()});
    EXPECT_TRUE(ran.ok()) << ran.describe() << "\n" << ran.err;
    EXPECT_THAT(ran.err, IsEmpty());
  }

  /// A kernel for AVX-512, where a compiler is told of less.
  void expect_warning(const std::string& flag) {
    ExportOptions options;
    options.isa = "avx512";
    save(testing::kSoftmaxFast, testing::kSoftmaxTask, options, testing::kSoftmaxSimple);
    const base::Exit built = compile("g++", {"-O1", flag, "-c"}, {"softmax.cc"});
    ASSERT_TRUE(built.ok()) << built.err;
    EXPECT_THAT(built.err, HasSubstr("softmax was made for AVX-512"));
    const base::Exit quiet = compile("g++", {"-O1", flag, "-c", "-Werror", "-Wno-cpp"}, {"softmax.cc"});
    EXPECT_TRUE(quiet.ok()) << quiet.err;
  }

  /// As the files say.
  static std::vector<std::string> verified() { return ExportOptions{}.flags; }

  base::ScratchDirectory folder_;
};

TEST_F(ExportedProgram, SoftmaxWithAFallBack) {
  save(testing::kSoftmaxFast, testing::kSoftmaxTask, {}, testing::kSoftmaxSimple);
  expect_works("softmax", kSoftmaxMain, verified());
}

TEST_F(ExportedProgram, LongSoftmaxWithClang) {
  std::string clang;
  for (const char* name : {"clang++", "clang++-22", "clang++-19", "clang++-16"})
    if (clang.empty() && std::system(fmt::format("command -v {} >/dev/null", name).c_str()) == 0) clang = name;
  if (clang.empty()) GTEST_SKIP() << "no clang++ here";
  save(testing::kSoftmaxFast, testing::kSoftmaxTask, {}, testing::kSoftmaxSimple);
  expect_works("softmax", kSoftmaxMain, verified(), clang);
}

TEST_F(ExportedProgram, MapOnATwoDimensionalGrid) {
  save(testing::kMapTiles, testing::kMapTask);
  auto flags = verified();
  flags.emplace_back("-DTHREADS_ARGUMENT=, 2");
  expect_works("sum_and_product", kMapMain, flags);
}

TEST_F(ExportedProgram, Serial) {
  ExportOptions options;
  options.threads = ExportThreads::kSerial;
  save(testing::kMapTiles, testing::kMapTask, options);
  expect_works("sum_and_product", kMapMain, {"-O1", "-march=native", "-DTHREADS_ARGUMENT="});
}

TEST_F(ExportedProgram, WorkspacesLaunchesAndConditions) {
  save(testing::kMeanTwoSteps, testing::kMeanTask);
  expect_works("column_mean", kMeanMain, {"-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"});
}

TEST_F(ExportedProgram, ManyCallersNoRaces) {
  save(testing::kMeanTwoSteps, testing::kMeanTask);
  expect_works("column_mean", kManyCallers, {"-O1", "-g", "-fsanitize=thread"});
}

TEST_F(ExportedProgram, LongManyCallersNoLeaks) {
  save(testing::kMeanTwoSteps, testing::kMeanTask);
  expect_works("column_mean", kManyCallers, {"-O1", "-fsanitize=address"});
}

/// Children find the parent's threads gone, asleep or at work when it forked.
TEST_F(ExportedProgram, ForkedChildrenHaveThreadsOfTheirOwn) {
  save(testing::kMeanTwoSteps, testing::kMeanTask);
  expect_works("column_mean", R"~(
#include <sys/wait.h>
#include <unistd.h>
int main() {
  Array<float> x(1000 * 8), y(8);
  CHECK(kernels::column_mean(x.p, y.p, 8, 1000, 3));
  const float first = y[0];
  for (int wait : {0, 20000, 20000, 0}) {
    usleep(unsigned(wait));
    y[0] = 0;
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      std::exit(kernels::column_mean(x.p, y.p, 8, 1000, 3) && y[0] == first ? 0 : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
}
)~", {"-O1"});
}

/// Build systems that join sources ("unity builds") join these too.
TEST_F(ExportedProgram, TwoKernelsInOneTranslationUnit) {
  ExportOptions options;
  options.name = "first";
  save(testing::kSoftmaxFast, testing::kSoftmaxTask, options);
  options.name = "second";
  options.space = "other::place";
  save(testing::kSoftmaxFast, testing::kSoftmaxTask, options, testing::kSoftmaxSimple);
  save({{"both.cc", "#include \"first.cc\"\n#include \"second.cc\"\n"},
        {"both.h", "#include \"first.h\"\n#include \"second.h\"\n"}});
  expect_works("both", R"~(
int main() {
  Array<float> x(4 * 64), y(4 * 64), z(4 * 64);
  CHECK(kernels::first(x.p, y.p, 4, 64) && other::place::second(x.p, z.p, 4, 64));
  CHECK(std::memcmp(y.p, z.p, 4 * 64 * sizeof(float)) == 0);
  CHECK(!kernels::first(x.p, y.p, 4, 60));
}
)~", {"-O1", "-march=native"});
}

TEST_F(ExportedProgram, WarnsWhenBuiltForLess) { expect_warning("-msse2"); }
TEST_F(ExportedProgram, LongWarnsWhenBuiltForLess) { expect_warning("-mavx2"); }

TEST_F(ExportedProgram, TheHeaderNeedsOnlyCpp17) {
  save(testing::kSoftmaxFast, testing::kSoftmaxTask);
  save({{"user.cc", "#include \"softmax.h\"\n#include \"softmax.h\"\n"
                    "bool f(float* x) { return kernels::softmax(x, x, 1, 1) && kernels::softmax_applies(1, 1); }\n"}});
  const base::Exit built = run({"g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-c", "user.cc"});
  EXPECT_TRUE(built.ok()) << built.err;
}

}  // namespace
}  // namespace hone::face
