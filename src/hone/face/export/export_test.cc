#include "hone/face/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "hone/face/export/testing/kernels.h"

namespace hone::face {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::content;
using testing::make_kernel;
using testing::make_task;

std::vector<ExportedFile> exported(const kernel::Kernel& kernel, const task::Task& task, const ExportOptions& options = {},
                                   const std::optional<kernel::Kernel>& fallback = std::nullopt) {
  auto files = export_header(kernel, task, fallback, options);
  EXPECT_TRUE(files.has_value()) << files.error().to_string();
  return files.value_or(std::vector<ExportedFile>{});
}
Error refused(const kernel::Kernel& kernel, const task::Task& task, const ExportOptions& options = {}) {
  const auto files = export_header(kernel, task, std::nullopt, options);
  EXPECT_FALSE(files.has_value());
  return files ? Error{} : files.error();
}

TEST(ExportHeader, DeclaresTheTasksFunction) {
  const auto files = exported(make_kernel(testing::kSoftmaxFast), make_task(testing::kSoftmaxTask));
  const std::string& header = content(files, "softmax.h");
  EXPECT_THAT(header, HasSubstr("namespace kernels {"));
  EXPECT_THAT(header, HasSubstr("bool softmax(const float* x, float* y, int64_t B, int64_t D, int threads = 0);"));
  EXPECT_THAT(header, HasSubstr("bool softmax_applies(int64_t B, int64_t D);"));
  EXPECT_THAT(header, HasSubstr("///       y = softmax(x, axis=-1)\n"));
  EXPECT_THAT(header, HasSubstr("x        in, f32[B, D], aligned to 64 bytes"));
  EXPECT_THAT(header, HasSubstr("D % 32 == 0"));
}

TEST(ExportHeader, SaysWhereItComesFrom) {
  const kernel::Kernel kernel = make_kernel(testing::kSoftmaxFast);
  const task::Task task = make_task(testing::kSoftmaxTask);
  ExportOptions options;
  options.isa = "avx512";
  options.provenance = {"A CPU", "g++ 12", "2025-03-01", {"B = 64, D = 1024", "B = 1, D = 3\\"}, "2 times\nas fast"};
  const auto files = exported(kernel, task, options, make_kernel(testing::kSoftmaxSimple));
  for (const ExportedFile& file : files) {
    EXPECT_THAT(file.content, HasSubstr(kernel.hash()));
    EXPECT_THAT(file.content, HasSubstr(task.hash()));
    EXPECT_THAT(file.content, HasSubstr("2025-03-01, A CPU, AVX-512, g++ 12"));
    EXPECT_THAT(file.content, HasSubstr("B = 64, D = 1024\n//             B = 1, D = 3\n"));
    EXPECT_THAT(file.content, HasSubstr("2 times\n//             as fast\n"));
  }
  EXPECT_THAT(content(files, "softmax.cc"), AllOf(HasSubstr("#if !(defined(__AVX512F__)"), HasSubstr("#warning")));
}

TEST(ExportHeader, ClaimsNothingWithoutAVerdict) {
  ExportOptions options;
  options.provenance = {"A CPU", "g++ 12", "", {"B = 64"}, "2 times as fast"};
  for (const ExportedFile& file : exported(make_kernel(testing::kSoftmaxFast), make_task(testing::kSoftmaxTask), options))
    EXPECT_THAT(file.content, AllOf(HasSubstr("verified  no: exported without a verdict"), Not(HasSubstr("A CPU")),
                                    Not(HasSubstr("B = 64")), Not(HasSubstr("2 times"))));
}

TEST(ExportHeader, SaysWhatInputsMustHold) {
  const auto files = exported(
      make_kernel("/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"N\"]\nargs = [\"t\", \"i\", \"y\"]\n*/\n"
                  "extern \"C\" void f(const float* t, const int64_t* i, float* y, int64_t n) { y[n] = t[i[n]]; }\n"),
      make_task("name = \"pick\"\noutputs = { y = \"f32[N]\" }\ncompute = \"y = t[i]\"\nworkloads = [{ V = 9, N = 5 }]\n"
                "[inputs]\nt = { type = \"f32[V]\", domain = \"unit\" }\ni = { type = \"i64[N]\", domain = \"index(V)\" }\n"));
  EXPECT_THAT(content(files, "pick.h"), AllOf(HasSubstr("t        in, f32[V], each in [0, 1], aligned"),
                                              HasSubstr("i        in, i64[N], each in [0, V), aligned")));
}

TEST(ExportHeader, NeedsNothingOfHone) {
  for (const char* source : {testing::kSoftmaxFast, testing::kSoftmaxSimple}) {
    const auto files = exported(make_kernel(source), make_task(testing::kSoftmaxTask));
    for (const ExportedFile& file : files) EXPECT_THAT(file.content, Not(HasSubstr("#include \"hone/")));
  }
}

TEST(ExportHeader, LeavesOutDeviceHeadersThatNobodyUses) {
  const auto files = exported(make_kernel(testing::kSoftmaxSimple), make_task(testing::kSoftmaxTask));
  EXPECT_THAT(content(files, "softmax.cc"), Not(HasSubstr("namespace hone")));
  EXPECT_THAT(content(files, "softmax.cc"), HasSubstr("#include <cmath>"));
}

TEST(ExportHeader, UndefinesMacros) {
  const auto files = exported(make_kernel(testing::kSoftmaxFast), make_task(testing::kSoftmaxTask));
  const std::string& source = content(files, "softmax.cc");
  EXPECT_THAT(source, AllOf(HasSubstr("#define UNROLL 2\n"), HasSubstr("#undef UNROLL\n"), HasSubstr("#undef STEP\n"),
                            HasSubstr("#undef HONE_INLINE\n"), HasSubstr("constexpr int64_t UNROLL = 2;")));
}

TEST(ExportHeader, RenamesWhatIsTaken) {
  const auto files = exported(make_kernel(testing::kMapTiles), make_task(testing::kMapTask));
  EXPECT_THAT(content(files, "sum_and_product.h"),
              HasSubstr("bool sum_and_product(const uint16_t* begin_, const float* new_, float* slot_,\n"
                        "    float* J_, int64_t J, int64_t i, int threads = 0);"));
}

TEST(ExportHeader, SerialHasNoThreads) {
  ExportOptions options;
  options.threads = ExportThreads::kSerial;
  const auto files = exported(make_kernel(testing::kMapTiles), make_task(testing::kMapTask), options);
  EXPECT_THAT(content(files, "sum_and_product.h"), Not(HasSubstr("threads =")));
  EXPECT_THAT(content(files, "sum_and_product.cc"), AllOf(Not(HasSubstr("<thread>")), Not(HasSubstr("-pthread"))));
}

TEST(ExportHeader, SpecialisedKernelsApplyToTheirShapeOnly) {
  const kernel::Kernel kernel = make_kernel(
      "/* hone\nlanguage = \"c++\"\nspecialise = [\"D\"]\n[[launch]]\nkernel = \"f\"\ngrid = [\"B\"]\nargs = [\"x\", \"y\"]\n*/\n"
      "extern \"C\" void f(const float* x, float* y, int64_t b) { y[b * D] = x[b * D]; }\n");
  const task::Task task = make_task(testing::kSoftmaxTask);
  EXPECT_THAT(refused(kernel, task).message, HasSubstr("specialised for one value of D"));
  ExportOptions options;
  options.specialised = {{"D", 128}};
  const auto files = exported(kernel, task, options);
  EXPECT_THAT(content(files, "softmax.cc"), AllOf(HasSubstr("D == 128"), HasSubstr("#define D INT64_C(128)\n")));
}

TEST(ExportHeader, LimitsBecomeConstants) {
  const kernel::Kernel kernel = make_kernel(
      "/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"f\"\ngrid = [\"min(B, THREADS)\"]\nargs = [\"i64:L2_BYTES // 4\"]\n*/\n"
      "extern \"C\" void f(int64_t, int64_t) {}\n");
  const task::Task task = make_task(testing::kSoftmaxTask);
  EXPECT_THAT(refused(kernel, task).message, HasSubstr("the plan uses L2_BYTES"));
  ExportOptions options;
  options.limits = {{"L2_BYTES", 1 << 20}, {"THREADS", 7}};
  const auto files = exported(kernel, task, options);
  EXPECT_THAT(content(files, "softmax.cc"),
              AllOf(HasSubstr("constexpr int64_t L2_BYTES = 1048576;"), HasSubstr("hone_min(B, THREADS)"), Not(HasSubstr("THREADS = 7"))));
}

TEST(ExportHeader, RefusesWhatItCannotExport) {
  const task::Task task = make_task(testing::kSoftmaxTask);
  const kernel::Kernel good = make_kernel(testing::kSoftmaxSimple);
  kernel::Kernel bad = good;
  bad.header.language = kernel::Language::kCuda;
  EXPECT_THAT(refused(bad, task).message, HasSubstr("cuda"));
  bad = good;
  bad.header.launches[0].args[0].tensor = "z";
  EXPECT_THAT(refused(bad, task).message, HasSubstr("\"z\", which is no input, output or workspace"));
  bad = good;
  bad.source += "#include \"mine.h\"\n";
  EXPECT_THAT(refused(bad, task).message, HasSubstr("cannot travel"));
  bad = good;
  bad.source += "#include \"hone/tpu.h\"\n";
  EXPECT_THAT(refused(bad, task).message, HasSubstr("no such header"));
  ExportOptions options;
  options.name = "2x";
  EXPECT_THAT(refused(good, task, options).message, HasSubstr("no C++ identifier"));
  options.name = "x";
  options.space = "a::";
  EXPECT_THAT(refused(good, task, options).message, HasSubstr("no C++ namespace"));
}

/// The flags we tell people to use are those that kernels are verified with.
TEST(ExportHeader, FlagsAreTheToolchains) {
  const auto toolchain = base::read_file(HONE_SOURCE_DIR "/src/hone/target/toolchain/cpp.cc");
  const auto compilers = base::read_file(HONE_SOURCE_DIR "/src/hone/target/toolchain/compilers.cc");
  ASSERT_TRUE(toolchain.has_value() && compilers.has_value());
  const auto package = base::read_file(HONE_SOURCE_DIR "/src/hone/face/export/python/cpu.py");
  ASSERT_TRUE(package.has_value());
  for (const std::string& flag : ExportOptions{}.flags)
    if (flag != "-O3") {
      EXPECT_THAT(*toolchain + *compilers, HasSubstr("\"" + flag + "\""));
    }
  for (const std::string& flag : ExportOptions{}.gnu_flags) {
    EXPECT_THAT(*compilers, HasSubstr("\"" + flag + "\""));
    EXPECT_THAT(*package, HasSubstr("\"" + flag + "\""));
  }
  const auto session = base::read_file(HONE_SOURCE_DIR "/src/hone/target/toolchain/toolchain.h");
  ASSERT_TRUE(session.has_value());
  EXPECT_THAT(*session, HasSubstr("\"-O3\""));
}

}  // namespace
}  // namespace hone::face
