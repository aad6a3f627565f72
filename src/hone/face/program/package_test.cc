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

using ::testing::HasSubstr;
using ::testing::Not;

std::map<std::string, std::string> package_of_capture(const std::string& json, const std::string& name, bool record = true) {
  auto program = program::normalise(*program::read_program(json));
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

std::map<std::string, std::string> package_of(const std::string& name, bool record = true) {
  const auto json = base::read_file(fmt::format("{}/test/cases/program/{}.json", HONE_SOURCE_DIR, name));
  EXPECT_TRUE(json);
  return package_of_capture(*json, name, record);
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

/// A capture of nodes that read x and i, the last of which is given.
std::string capture(const std::string& nodes, const std::string& given, const std::string& origins = {}) {
  return fmt::format(R"({{"format":1,"name":"a","state":{{}},"trees":{{}},"outputs":[{{"kind":"user_output","target":null,"value":{{"node":"{}"}}}}],"origins":[{}],"nodes":[
    {{"name":"x","op":"input","role":"user","target":"x","type":{{"dtype":"f32","shape":[4,6]}}}},{{"name":"i","op":"input","role":"user","target":"i","type":{{"dtype":"i64","shape":[4,6]}}}},{}]}})",
                     given, origins, nodes);
}

TEST(PackageTest, WhatOnlyGivesItsTypeIsNoInputAndIsThereAllTheSame) {
  const auto files = package_of_capture(capture(R"({"name":"s","op":"aten.to.dtype","arguments":{"self":{"node":"i"},"dtype":{"dtype":"f32"}},"positional":["self","dtype"],"type":{"dtype":"f32","shape":[4,6]}},
    {"name":"z","op":"aten.zeros_like.default","arguments":{"self":{"node":"x"}},"positional":["self"],"type":{"dtype":"f32","shape":[4,6]}},
    {"name":"y","op":"aten.scatter_add.default","arguments":{"self":{"node":"z"},"dim":0,"index":{"node":"i"},"src":{"node":"s"}},"positional":["self","dim","index","src"],"type":{"dtype":"f32","shape":[4,6]}})",
                                                "y"), "a");
  const std::string& module = files.at("a_hone/_module.py");
  EXPECT_THAT(module, HasSubstr("(n1):\n    n0 = torch.empty((4, 6), dtype=torch.float32, device=n1.device)\n"));
}

TEST(PackageTest, WhatWasTakenApartIsTheOperatorWherePyTorchRunsIt) {
  const std::string type = R"("type":{"dtype":"f32","shape":[4,6]})";
  const std::string pieces = R"({"name":"p","op":"aten.neg.default","arguments":{"self":{"node":"x"}},"positional":["self"],"origin":0,)" + type + R"(},
    {"name":"q","op":"aten.exp.default","arguments":{"self":{"node":"p"}},"positional":["self"],"origin":0,)" + type + R"(},
    {"name":"y","op":"aten.tanh.default","arguments":{"self":{"node":")";
  const std::string end = R"("}},"positional":["self"],)" + type + "}";
  const std::string origin = R"({"name":"o","op":"aten.odd.default","arguments":{"self":{"node":"x"},"power":2},"positional":["self","power"],)" + type + R"(,"results":[{"node":"q"}]})";
  const std::string whole = package_of_capture(capture(pieces + "q" + end, "y", origin), "a").at("a_hone/_module.py");
  EXPECT_THAT(whole, HasSubstr("    whole = torch.ops.aten.odd.default(n0, 2)\n"));
  EXPECT_THAT(whole, Not(HasSubstr("aten.exp")));
  // Another reader of what lies within keeps the pieces.
  const std::string read = R"(,{"name":"w","op":"aten.add.Tensor","arguments":{"self":{"node":"y"},"other":{"node":"p"}},"positional":["self","other"],)" + type + "}";
  const std::string apart = package_of_capture(capture(pieces + "q" + end + read, "w", origin), "a").at("a_hone/_module.py");
  EXPECT_THAT(apart, HasSubstr("aten.exp"));
  EXPECT_THAT(apart, Not(HasSubstr("aten.odd")));
}

TEST(PackageTest, ComplexNumbersAreWrittenOut) {
  const auto files = package_of_capture(capture(R"({"name":"y","op":"aten.mul.Scalar","arguments":{"self":{"node":"x"},"other":{"complex":[0.5,-1]}},"positional":["self","other"],"type":{"dtype":"complex64","shape":[4,6]}})",
                                                "y"), "a");
  EXPECT_THAT(files.at("a_hone/_module.py"), HasSubstr("torch.ops.aten.mul.Scalar(n0, complex(0.5, -1))"));
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
