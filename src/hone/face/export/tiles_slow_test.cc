// Exports of kernels in Triton and TileLang as their users meet them, without a card (testing/check_tiles.py). Skipped where no Python
// has PyTorch beside them.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/process/process.h"
#include "hone/evaluate/triton_table_testing.h"
#include "hone/face/export/testing/kernels.h"
#include "hone/face/export/torch_package.h"
#include "hone/target/toolchain/python_compiler.h"

namespace hone::face {
namespace {


/// Writes the packages of kernels of test/LANGUAGE and has Python call them.
void expect_packages_work(const std::string& language, const std::vector<std::string>& names) {
  const auto& install = target::find_python(target::kTileLangRow);
  if (!install) GTEST_SKIP() << install.error().to_string();
  const auto folder = base::ScratchDirectory::create("tiles").value();
  for (const std::string& name : names) {
    evaluate::TritonCase its;
    its.source = base::read_file(fmt::format("{}/test/{}/{}.py", HONE_SOURCE_DIR, language, name)).value();
    const auto task = its.task();
    ASSERT_TRUE(task.has_value()) << name;
    TorchOptions options;
    options.common.name = name;
    const auto files = export_torch(testing::make_kernel(its.source), *task, options);
    ASSERT_TRUE(files.has_value()) << name << files.error().to_string();
    for (const ExportedFile& file : *files) {
      const auto path = folder.path() / name / file.name;
      ASSERT_TRUE(base::make_directories(path.parent_path()) && base::write_file_atomic(path, file.content));
    }
  }
  base::SpawnOptions spawn;
  spawn.argv = {install->python.string(), "-s", HONE_SOURCE_DIR "/src/hone/face/export/testing/check_tiles.py", folder.path().string(), language};
  spawn.environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", folder.path().string()}, {"LANG", "C.UTF-8"}, {"TILELANG_CACHE_DIR", folder.path().string()}};
  const auto exit = base::run(spawn, std::chrono::minutes(3));
  ASSERT_TRUE(exit && exit->ok()) << exit->describe() << exit->out << exit->err;
  for (const std::string& name : names) EXPECT_NE(exit->out.find(name + " is "), std::string::npos) << name;
}

TEST(TileExport, TritonKernelsAnswerAsPyTorchDoes) {
  expect_packages_work("triton", {"matmul", "map_scale_f32", "atomic_sum", "map_constants", "map_null", "map_grid_2d"});
}

TEST(TileExport, TileLangKernelsAreCalledAsTheirProgramsSay) { expect_packages_work("tilelang", {"map", "map_symbols", "softmax"}); }

}  // namespace
}  // namespace hone::face
