// What the GPU patterns write compiles for a real device, the most promising without spills: nvcc's verdict, at full
// sizes; in `make check` of the most promising alone. Skipped where there is no nvcc.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/base/testing/covering.h"
#include "hone/pattern/gpu_matmul.h"
#include "hone/pattern/library.h"
#include "hone/pattern/plain_testing.h"

namespace hone::pattern {
namespace {

using plain_testing::TaskFile;

/// The source as a toolchain would hand it to nvcc.
std::string unit(const kernel::Kernel& kernel) {
  std::string text = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <stdint.h>\n";
  for (const auto& [name, value] : kernel.config) text += fmt::format("#define {} {}\n", name, value);
  return text + kernel.source;
}

class GpuNvcc : public testing::TestWithParam<TaskFile> {};

TEST_P(GpuNvcc, CompilesWithoutSpills) {
  if (std::system("nvcc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no nvcc";
  const auto task = plain_testing::task_at(GetParam(), "full");
  ASSERT_TRUE(task) << task.error().to_string();
  std::vector<std::string> why_not;
  const auto scratch = base::ScratchDirectory::create("nvcc");
  ASSERT_TRUE(scratch) << scratch.error().to_string();
  bool first = true;
  auto offers = offers_gpu(*task, kernel::Language::kCuda, why_not);
  if (auto products = gpu_matmul_offers(*task, kernel::Language::kCuda); !products.empty()) offers.insert(offers.begin(), std::move(products.front()));
  // Of products by the copy engine the first one in clusters, too.
  if (!offers.empty() && offers.front().kernel.config.contains("CLUSTER_DOWN"))
    for (const auto& [down, across] : {std::pair{1, 2}, {2, 1}}) {
      Offer cluster = offers.front();
      cluster.pattern += fmt::format("_{}x{}", down, across);
      cluster.kernel.config["CLUSTER_DOWN"] = down, cluster.kernel.config["CLUSTER_ACROSS"] = across;
      offers.insert(offers.begin() + 1, std::move(cluster));
    }
  for (const Offer& offer : offers) {
    const bool cluster = offer.pattern.starts_with("matmul_");
    if (!first && !cluster && !base::testing::in_long_part()) break;
    const auto source = scratch->path() / (offer.pattern + ".cu"), log = scratch->path() / "log";
    ASSERT_TRUE(base::write_file_atomic(source, unit(offer.kernel)));
    const std::string command = fmt::format("nvcc -std=c++20 --expt-relaxed-constexpr -arch=sm_90a -Xptxas -v -cubin -I{}/src/hone/target/toolchain/include -o {}.cubin {} > {} 2>&1",
                                            HONE_SOURCE_DIR, source.string(), source.string(), log.string());
    const int status = std::system(command.c_str());
    const std::string said = base::read_file(log).value_or("");
    EXPECT_EQ(status, 0) << offer.pattern << "\n" << said << unit(offer.kernel);
    // Products on Hopper's units that wait for each other are worth a third of what they could be.
    EXPECT_EQ(said.find("serialized"), std::string::npos) << offer.pattern << ": " << offer.action << "\n" << said;
    const std::regex spill("([0-9]+) bytes spill stores"), registers("Used ([0-9]+) registers");
    for (std::sregex_iterator at(said.begin(), said.end(), spill), end; (first || cluster) && at != end; ++at) EXPECT_EQ((*at)[1], "0") << offer.pattern
        << "\n" << said << offer.kernel.source;
    first = false;
    std::string used;
    for (std::sregex_iterator at(said.begin(), said.end(), registers), end; at != end; ++at) used += " " + (*at)[1].str();
    std::printf("%s %s: registers%s\n", GetParam().name.c_str(), offer.pattern.c_str(), used.c_str());
    if (const char* keep = std::getenv("HONE_KEEP_NVCC")) {
      EXPECT_TRUE(base::write_file_atomic(fmt::format("{}/{}_{}.cu", keep, GetParam().name, &offer - offers.data()), unit(offer.kernel)));
    }
  }
}

/// One of each family: product, product of a long depth, map, map with rows, row norms, shared-out rows, columns, indices, scans, convolutions, losses in parts.
std::vector<TaskFile> some() {
  std::vector<TaskFile> all = plain_testing::task_files("tasks/kernelbench/level1");
  std::erase_if(all, [](const TaskFile& file) {
    for (const char* number : {"001", "006", "012", "019", "023", "026", "033", "035", "036", "037", "038", "040", "047", "050", "051", "055", "057", "082", "089",
                               "093", "094", "095", "099"})
      if (file.name.starts_with(number)) return false;
    return true;
  });
  for (TaskFile& file : plain_testing::task_files("tasks/inference"))
    for (const char* name : {"prefill_causal_bf16", "prefill_gqa_causal_f16", "gemm_swiglu_bf16", "gemm_f8_rows_bf16"})
      if (file.name == name) all.push_back(std::move(file));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Tasks, GpuNvcc, testing::ValuesIn(base::testing::one_of_each(5, some())), [](const auto& parameter) { return "t" + parameter.param.name; });
INSTANTIATE_TEST_SUITE_P(LongTasks, GpuNvcc, testing::ValuesIn(some()), [](const auto& parameter) { return "t" + parameter.param.name; });

}  // namespace
}  // namespace hone::pattern
