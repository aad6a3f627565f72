// Values that a task knows of its inputs: as NumPy writes them, as the task's text has them, and what is refused.
#include "hone/task/known_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "hone/base/base64.h"
#include "hone/base/file.h"
#include "hone/task/task.h"

namespace hone::task {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// numpy.save() of numpy 2: a lower triangle of 3 by 3 bools, 0 to 5 as i64 in 2 by 3, [1.5, -2, 0.25] in f32, the i32 7 without axes, and
// 2 by 3 doubles in Fortran's order.
constexpr const char* kTriangle = "k05VTVBZAQB2AHsnZGVzY3InOiAnfGIxJywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoBAAABAQABAQE=";
constexpr const char* kSix = "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk4JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDIsIDMpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAAEAAAAAAAAAAgAAAAAAAAADAAAAAAAAAAQAAAAAAAAABQAAAAAAAAA=";
constexpr const char* kThree = "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKDMsKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAMA/AAAAwAAAgD4=";
constexpr const char* kSeven = "k05VTVBZAQB2AHsnZGVzY3InOiAnPGk0JywgJ2ZvcnRyYW5fb3JkZXInOiBGYWxzZSwgJ3NoYXBlJzogKCksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoHAAAA";
constexpr const char* kFortran = "k05VTVBZAQB2AHsnZGVzY3InOiAnPGY4JywgJ2ZvcnRyYW5fb3JkZXInOiBUcnVlLCAnc2hhcGUnOiAoMiwgMyksIH0gICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIAoAAAAAAAAAAAAAAAAAAAhAAAAAAAAA8D8AAAAAAAAQQAAAAAAAAABAAAAAAAAAFEA=";

std::string npy(const char* text) { return base::from_base64(text).value(); }

TEST(KnownValuesTest, AreReadAsNumpyWritesThem) {
  const auto triangle = values_from_npy(npy(kTriangle), DType::kBool), six = values_from_npy(npy(kSix), DType::kI64), three = values_from_npy(npy(kThree), DType::kF32),
             seven = values_from_npy(npy(kSeven), DType::kI32);
  ASSERT_TRUE(triangle && six && three && seven);
  EXPECT_THAT(triangle->shape, ElementsAre(3, 3));
  EXPECT_EQ(*triangle->bytes, std::string("\1\0\0\1\1\0\1\1\1", 9));
  EXPECT_THAT(six->shape, ElementsAre(2, 3));
  for (int i = 0; i < 6; ++i) EXPECT_EQ(value_at(*six, DType::kI64, i), i);
  EXPECT_EQ(value_at(*three, DType::kF32, 1), -2);
  EXPECT_TRUE(seven->shape.empty());
  EXPECT_EQ(value_at(*seven, DType::kI32, 0), 7);
  const auto narrow = values_from_npy(npy(kThree), DType::kBF16);
  ASSERT_TRUE(narrow) << narrow.error().to_string();
  EXPECT_EQ(narrow->bytes->size(), 6U);
  EXPECT_EQ(value_at(*narrow, DType::kBF16, 2), 0.25);
}

KnownValues values_of(DType type, const Shape& shape, const std::string& bytes) {
  EXPECT_EQ(bytes.size(), static_cast<size_t>(element_count(shape) * size_of(type)));
  return {"", shape, std::make_shared<const std::string>(bytes)};
}

TEST(KnownValuesTest, ComeBackFromAFileAndFromAText) {
  for (const DType type : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI64, DType::kI32, DType::kI16, DType::kI8, DType::kBool}) {
    for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3, 4}, Shape{0, 3}}) {
      SCOPED_TRACE(name_of(type));
      std::string bytes(static_cast<size_t>(element_count(shape) * size_of(type)), '\0');
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(type == DType::kBool ? i % 2 : 37 * i);
      const KnownValues values = values_of(type, shape, bytes);
      const auto file = values_from_npy(npy_of(values, type), type), text = unpack_values(pack_values(values, type), type);
      ASSERT_TRUE(file) << file.error().to_string();
      ASSERT_TRUE(text) << text.error().to_string();
      EXPECT_EQ(file->shape, shape);
      EXPECT_EQ(*file->bytes, bytes);
      EXPECT_EQ(*text->bytes, bytes);
    }
  }
  // Halves: 1, -2, the least denormal, infinity.
  const KnownValues halves = values_of(DType::kF16, {4}, std::string("\x00\x3c\x00\xc0\x01\x00\x00\x7c", 8));
  EXPECT_EQ(value_at(halves, DType::kF16, 0), 1);
  EXPECT_EQ(value_at(halves, DType::kF16, 1), -2);
  EXPECT_EQ(value_at(halves, DType::kF16, 2), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::isinf(value_at(halves, DType::kF16, 3)));
}

TEST(KnownValuesTest, SayWhatIsWrongWithAFile) {
  const auto error = [](const std::string& bytes, DType type) {
    const auto values = values_from_npy(bytes, type);
    return values ? std::string() : values.error().message;
  };
  EXPECT_THAT(error("no such thing at all", DType::kF32), HasSubstr("is no .npy file"));
  EXPECT_THAT(error(npy(kSix), DType::kI32), HasSubstr("holds '<i8', and i32 is '<i4'"));
  EXPECT_THAT(error(npy(kFortran), DType::kF64), HasSubstr("Fortran"));
  EXPECT_THAT(error(npy(kSix).substr(0, 130), DType::kI64), HasSubstr("2 bytes of elements where its shape says 48"));
  EXPECT_THAT(error(npy(kSix).substr(0, 60), DType::kI64), HasSubstr("cut off"));
  EXPECT_THAT(error(npy(kThree), DType::kF8E4M3), HasSubstr("NumPy lacks"));
  std::string truth = npy(kTriangle);
  truth.back() = 2;
  EXPECT_THAT(error(truth, DType::kBool), HasSubstr("neither 0 nor 1"));
  std::string fine = npy(kThree);
  fine[fine.size() - 4] = 1;
  EXPECT_THAT(error(fine, DType::kBF16), HasSubstr("bf16 does not have"));
  for (size_t cut = 0; cut < npy(kSix).size(); ++cut) EXPECT_NE(error(npy(kSix).substr(0, cut), DType::kI64), "") << cut;
}

const std::string kTask = "name = \"t\"\ninputs = { x = \"f32[B, 3]\", m = { type = \"bool[3, 3]\", values = \"m.npy\" } }\n"
                          "compute = \"y = x @ cast(m, f32)\"\nworkloads = [ { B = 4 }, { B = 8 } ]\n";

struct Folder {
  base::ScratchDirectory scratch = base::ScratchDirectory::create("known_values").value();
  Folder(const std::string& task, const std::string& values, const std::string& name = "m.npy") {
    EXPECT_TRUE(base::write_file_atomic(scratch.path() / "task.toml", task));
    EXPECT_TRUE(base::write_file_atomic(scratch.path() / name, values));
  }
  [[nodiscard]] Result<Task> load() const { return load_task(scratch.path() / "task.toml"); }
  [[nodiscard]] std::string error() const {
    const auto task = load();
    return task ? std::string() : task.error().message;
  }
};

TEST(KnownValuesTest, OfATaskAreInItsHashAndItsText) {
  const auto task = Folder(kTask, npy(kTriangle)).load();
  ASSERT_TRUE(task) << task.error().to_string();
  ASSERT_TRUE(task->inputs[1].values);
  EXPECT_EQ(task->inputs[1].values->file, "m.npy");
  std::string other = npy(kTriangle);
  other.back() = 0;
  const auto changed = Folder(kTask, other).load();
  ASSERT_TRUE(changed) << changed.error().to_string();
  EXPECT_NE(task->hash(), changed->hash());
  // The text goes without the file, and may name one.
  const auto again = parse_task(task->to_toml(), "archive");
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_EQ(again->hash(), task->hash());
  EXPECT_EQ(*again->inputs[1].values->bytes, *task->inputs[1].values->bytes);
  EXPECT_EQ(again->to_toml(), task->to_toml());
  EXPECT_THAT(task->to_toml([](const InputSpec& input) { return input.name + "_.npy"; }), HasSubstr("values = \"m_.npy\""));
}

TEST(KnownValuesTest, OfATaskAreRefusedWhereTheyDoNotFit) {
  EXPECT_THAT(parse_task(kTask, "mcp").error().message, HasSubstr("this text has no folder"));
  EXPECT_THAT(Folder(kTask, "", "other.npy").error(), HasSubstr("there is no file m.npy beside the task for the values of 'm'"));
  EXPECT_THAT(Folder(kTask, npy(kSix)).error(), HasSubstr("the values of 'm': m.npy holds '<i8'"));
  const auto with = [](const std::string& from, const std::string& to, std::string text = kTask) { return text.replace(text.find(from), from.size(), to); };
  EXPECT_THAT(Folder(with("bool[3, 3]", "bool[3, 2]"), npy(kTriangle)).error(), testing::AnyOf(HasSubstr("the shape [3, 3], and 'm' is bool[3, 2]")));
  EXPECT_THAT(Folder(with("values = \"m.npy\"", "values = \"data:?\""), "").error(), HasSubstr("they are not packed as hone packs them"));
  const std::string picks = "name = \"t\"\ninputs = { x = \"f32[N, 3]\", i = { type = \"i64[2, 3]\", domain = \"index(N)\", values = \"m.npy\" } }\n"
                            "compute = \"y = gather(x, 0, i)\"\nworkloads = [ { N = 6 } ]\n";
  EXPECT_EQ(Folder(picks, npy(kSix)).error(), "");
  EXPECT_THAT(Folder(with("N = 6", "N = 5", picks), npy(kSix)).error(), HasSubstr("element 5 is 5, which index(5) does not have"));
  EXPECT_THAT(Folder("name = \"t\"\ninputs = { i = { type = \"i64[2, 3]\", values = \"m.npy\" } }\ncompute = \"y = i + 1\"\n", npy(kSix)).error(), HasSubstr("all inputs have known values"));
  std::string endless = npy(kThree);
  for (const size_t byte : {2, 3}) endless[endless.size() - 4 + byte] = static_cast<char>(byte == 2 ? 0x80 : 0x7f);
  const std::string adds = "name = \"t\"\ninputs = { x = \"f32[3]\", b = { type = \"f32[3]\", values = \"m.npy\" } }\ncompute = \"y = x + b\"\n";
  EXPECT_EQ(Folder(adds, npy(kThree)).error(), "");
  EXPECT_THAT(Folder(adds, endless).error(), HasSubstr("element 2 is inf"));
  EXPECT_EQ(Folder("nan = true\n" + adds, endless).error(), "");
}

}  // namespace
}  // namespace hone::task
