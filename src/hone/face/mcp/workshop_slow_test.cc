// Tools of hone mcp on a kernel that is built and run here.
#include "hone/face/mcp/workshop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/face/mcp/server.h"

namespace hone::face::mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const char* const kTask = "name = \"twice\"\ninputs = { x = \"f32[B, D]\" }\noutputs = { y = \"f32[B, D]\" }\ncompute = \"y = 2 * x\"\nworkloads = [ { B = 64, D = 3000 } ]\n";

std::string kernel(const std::string& body) {
  return "/* hone\nlanguage = \"c++\"\n[[launch]]\nkernel = \"twice\"\ngrid = [\"B\"]\nargs = [\"x\", \"y\", \"i64:B\", \"i64:D\"]\n*/\n"
         "void twice(const float* __restrict x, float* __restrict y, int64_t B, int64_t D, int64_t row) {\n" + body + "\n}\n";
}
const std::string kRight = kernel("  for (int64_t j = 0; j < D; ++j) y[row * D + j] = 2 * x[row * D + j];");

class WorkshopWorks : public ::testing::Test {
 protected:
  json told(const char* tool, const json& arguments) {
    const agent::ToolResult result = table.call(tool, arguments);
    EXPECT_FALSE(result.failed) << tool << ": " << result.text;
    return result.data;
  }
  /// One for all tests, which are of one process: what was judged or built once is not again.
  static Workshop& shared() {
    static Workshop workshop{std::filesystem::path(::testing::TempDir()) / "workshop_works"};
    return workshop;
  }
  Workshop& workshop = shared();
  agent::ToolTable table = workshop.tools();
};

TEST_F(WorkshopWorks, times_have_a_least_and_every_answer_one_set_of_them) {
  const json judged = told("evaluate_kernel", {{"task", kTask}, {"source", kRight}});
  ASSERT_EQ(judged["verdict"], "accepted") << judged.dump();
  const json& row = judged["workloads"][0];
  EXPECT_GT(row["at_the_least_time"]["ns"].get<double>(), 0);
  EXPECT_LE(row["at_the_least_time"]["ns"].get<double>(), row["median_ns"].get<double>());
  EXPECT_NEAR(row["at_the_least_time"]["bytes_per_ns"].get<double>() * row["at_the_least_time"]["ns"].get<double>(), 2 * 4 * 64 * 3000, 1);
  EXPECT_GE(row["at_the_least_time"]["fraction_of_speed_of_light"].get<double>(), row["fraction_of_speed_of_light"].get<double>());
  EXPECT_GT(row["at_the_least_time"]["speedup_over_plain_loops"].get<double>(), 0);
  EXPECT_GT(judged["noise"]["pairs"].get<int>(), 1);

  const json profiled = told("profile_kernel", {{"task", kTask}, {"source", kRight}});
  EXPECT_FALSE(profiled.contains("workloads")) << "times of another look";
  EXPECT_FALSE(profiled.contains("fraction_of_speed_of_light"));
  const json& metrics = profiled["metrics"][0]["metrics"];
  EXPECT_LE(metrics["least_time_ns"]["value"].get<double>(), metrics["time_ns"]["value"].get<double>());
  EXPECT_GE(metrics["least_time_light"]["value"].get<double>(), metrics["light"]["value"].get<double>());
  EXPECT_THAT(metrics["time_ns"]["about"].get<std::string>(), HasSubstr("median of "));
}

TEST_F(WorkshopWorks, other_kernels_are_advice_only_when_they_were_faster) {
  // Element by element, thirty times: much is left to win, and the library's kernels may or may not be measured to win it.
  const std::string slow = kernel("  for (int64_t j = 0; j < D; ++j) {\n    volatile float v = x[row * D + j];\n    for (int again = 0; again < 30; ++again) v = v * 2 / 2;\n    y[row * D + j] = 2 * v;\n  }");
  const json said = told("diagnose", {{"task", kTask}, {"source", slow}});
  ASSERT_EQ(said["verdict"], "accepted") << said.dump();
  for (const json& action : said["diagnosis"]["actions"])
    EXPECT_TRUE(action["kind"] != "pattern" || action["why"].get<std::string>().starts_with("measured: ")) << action.dump();
  // The yardstick is plain loops again: a kernel is not told to be as fast as itself.
  const json judged = told("evaluate_kernel", {{"task", kTask}, {"source", slow}});
  EXPECT_LT(judged["at_the_least_times"]["speedup_over_plain_loops"].get<double>(), 0.5) << judged.dump();
}

TEST_F(WorkshopWorks, a_comparison_keeps_its_budget_and_says_what_would_decide) {
  const json arguments = {{"task", kTask}, {"a", kRight}, {"b", kRight}, {"budget", "2s"}};
  const json said = told("compare_kernels", arguments);
  EXPECT_EQ(said["spent"]["budget_seconds"], 2);
  // The first process is played whatever it costs.
  EXPECT_LT(said["spent"]["pairing_seconds"].get<double>(), 20);
  EXPECT_GE(said["spent"]["seconds"].get<double>(), said["spent"]["pairing_seconds"].get<double>());
  const json& row = said["workloads"][0];
  EXPECT_GT(row["bound_ns"].get<double>(), 0);
  EXPECT_NEAR(row["a_fraction_of_speed_of_light"].get<double>(), row["bound_ns"].get<double>() / row["a_ns"].get<double>(), 1e-6);
  EXPECT_GT(row["b_fraction_of_speed_of_light"].get<double>(), 0);
  EXPECT_EQ(said.contains("would_decide"), said["comparison"] == "INCONCLUSIVE") << said.dump();
  if (said.contains("would_decide")) {
    EXPECT_FALSE(said["would_decide"][0]["needs"].get<std::string>().empty());
  }
  for (const char* wrong : {"40evals", "2h", "lots"}) {
    json other = arguments;
    other["budget"] = wrong;
    EXPECT_TRUE(table.call("compare_kernels", other).failed) << wrong;
  }
}

TEST_F(WorkshopWorks, loops_are_listed_and_read_by_rank) {
  const json first = told("read_disassembly", {{"task", kTask}, {"source", kRight}});
  ASSERT_EQ(first["verdict"], "accepted") << first.dump();
  const size_t loops = first["innermost_loops"];
  ASSERT_GE(loops, 1U);
  ASSERT_EQ(first["loops"].size(), std::min(loops, engine::kMostLoops));
  double shares = 0;
  for (const json& loop : first["loops"]) shares += loop["share"].get<double>();
  EXPECT_NEAR(shares, 1, loops > engine::kMostLoops ? 1 : 0.02);
  const json last = told("read_disassembly", {{"task", kTask}, {"source", kRight}, {"loop", loops - 1}});
  EXPECT_EQ(last["loop"], loops - 1);
  if (loops > 1) {
    EXPECT_NE(last["code"], first["code"]);
  }
  EXPECT_THAT(table.call("read_disassembly", {{"task", kTask}, {"source", kRight}, {"loop", loops}}).text, HasSubstr("no innermost loop of rank"));
}

TEST_F(WorkshopWorks, a_wrong_answer_says_what_may_be_told) {
  const json said = told("evaluate_kernel", {{"task", kTask}, {"source", kernel("  for (int64_t j = 0; j + 16 <= D; ++j) y[row * D + j] = 2 * x[row * D + j];\n"
                                                                              "  for (int64_t j = D / 16 * 16; j < D; ++j) y[row * D + j] = 3 - x[row * D + j];")}});
  ASSERT_EQ(said["verdict"], "wrong") << said.dump();
  EXPECT_EQ(said["clue"]["output"], "y");
  EXPECT_FALSE(said["clue"]["inputs"].get<std::string>().empty());
  EXPECT_FALSE(said["clue"]["looks"].get<std::string>().empty());
  EXPECT_EQ(said["clue"].dump().find_first_of("23456789"), std::string::npos) << said["clue"].dump();
}

TEST_F(WorkshopWorks, exports_come_once) {
  const Server server(workshop.tools());
  const json answer = *server.handle(json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", {{"name", "export_kernel"}, {"arguments", {{"task", kTask}, {"source", kRight}}}}}}.dump()).body;
  const json& result = answer["result"];
  ASSERT_EQ(result["isError"], false) << result.dump();
  const json &content = result["content"], &files = result["structuredContent"]["files"];
  ASSERT_EQ(content.size(), 3U);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(content[0]["type"], "text");
  EXPECT_LT(content[0].dump().size() + result["structuredContent"].dump().size(), 600U);
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(content[1 + i]["type"], "resource");
    EXPECT_EQ(files[i]["bytes"], content[1 + i]["resource"]["text"].get<std::string>().size());
  }
  EXPECT_THAT(content[2]["resource"]["text"].get<std::string>(), HasSubstr("2 * x[row * D + j]"));
}

}  // namespace
}  // namespace hone::face::mcp
