// Packages written from captured programs (test/cases/program), without PyTorch.
#include "hone/face/program/package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/program/normalise.h"

namespace hone::face {
namespace {

using testing::HasSubstr;
using testing::Not;

std::map<std::string, std::string> package_of(const std::string& name, bool record = true) {
  const auto json = base::read_file(fmt::format("{}/test/cases/program/{}.json", HONE_SOURCE_DIR, name));
  EXPECT_TRUE(json);
  auto program = program::normalise(*program::read_program(*json));
  EXPECT_TRUE(program);
  const program::Plan plan = program::plan_program(*program, program::cut(*program));
  ProgramPackage package;
  package.name = name + "_hone";
  package.constants = "bytes";
  package.record = record;
  const auto files = program_package(*program, plan, package);
  EXPECT_TRUE(files);
  std::map<std::string, std::string> all;
  for (const ExportedFile& file : *files) all[file.name] = file.content;
  return all;
}

TEST(PackageTest, StepsRunInOrderAndForgetWhatTheyDoNotNeed) {
  const auto files = package_of("mlp");
  const std::string& module = files.at("mlp_hone/_module.py");
  EXPECT_THAT(module, HasSubstr("def eager_linear_add("));
  EXPECT_THAT(module, HasSubstr("\"up.weight\": ((512, 128), torch.float32, True)"));
  EXPECT_THAT(module, HasSubstr("    STEPS = [\n        TASKS[\"linear_layer_norm_gelu\"],\n        TASKS[\"linear_add\"]]"));
  EXPECT_THAT(module, HasSubstr("del n"));
  EXPECT_THAT(module, HasSubstr("INPUTS = [(\"x\", (64, 128), torch.float32)]"));
  EXPECT_THAT(files.at("mlp_hone/__init__.py"), HasSubstr("Module"));
  EXPECT_EQ(files.at("mlp_hone/constants.pt"), "bytes");
  EXPECT_THAT(files.at("README.md"), HasSubstr("load_state_dict"));
}

TEST(PackageTest, FoldsAndConstantsAndTiedWeights) {
  const auto files = package_of("llama");
  const std::string& module = files.at("llama_hone/_module.py");
  EXPECT_THAT(module, HasSubstr("def fold(weights):"));
  EXPECT_THAT(module, HasSubstr("CONSTANTS = [\"frequencies\"]"));
  EXPECT_THAT(module, HasSubstr("FOLDS = [(fold, [0])]"));
  EXPECT_THAT(module, Not(HasSubstr("None, None)")));
  const auto tied = package_of("gpt");
  EXPECT_THAT(tied.at("gpt_hone/_module.py"), HasSubstr("ALIASES = {\"head.weight\": \"tokens.weight\"}"));
}

TEST(PackageTest, SaysWhereARecordingIsSlower) {
  for (const bool record : {true, false}) {
    const auto files = package_of("mlp", record);
    EXPECT_EQ(files.at("mlp_hone/_module.py").find("    RECORD = False\n") == std::string::npos, record);
    EXPECT_THAT(files.at("mlp_hone/_recording.py"), HasSubstr("class Recorder"));
  }
}

TEST(PackageTest, AGraphsTensorsComeWithEachCall) {
  const auto text = base::read_file(HONE_SOURCE_DIR "/test/cases/program/mlp.json");
  ASSERT_TRUE(text);
  auto json = nlohmann::json::parse(*text);
  for (const auto& node : json["nodes"])
    if (node["op"] == "input") json["flat"].push_back(node["name"]);
  json["state"] = nlohmann::json::object();
  auto program = program::normalise(*program::read_program(json.dump()));
  ASSERT_TRUE(program);
  const program::Plan plan = program::plan_program(*program, program::cut(*program));
  ProgramPackage package;
  package.name = "graph";
  const auto files = program_package(*program, plan, package);
  ASSERT_TRUE(files);
  for (const ExportedFile& file : *files) {
    if (file.name != "graph/_module.py") continue;
    EXPECT_THAT(file.content, HasSubstr("class Module(Flat):\n    STATE = {\n    }\n"));
    EXPECT_THAT(file.content, HasSubstr("ARGUMENTS = [\"p_norm_weight\", "));
  }
}

}  // namespace
}  // namespace hone::face
