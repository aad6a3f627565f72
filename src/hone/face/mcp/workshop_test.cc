// What tools of hone mcp say before anything is built: how much they take to list, and what they refuse at once.
#include "hone/face/mcp/workshop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include <fmt/format.h>

#include "hone/base/embedded.h"
#include "hone/base/json.h"
#include "hone/face/mcp/reading.h"
#include "hone/face/mcp/server.h"

namespace hone::face::mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const char* const kTask = "name = \"twice\"\ninputs = { x = \"f32[B, D]\" }\noutputs = { y = \"f32[B, D]\" }\ncompute = \"y = 2 * x\"\nworkloads = [ { B = 8, D = 300 } ]\n";

std::string cuda(const std::string& function, const std::string& extent) {
  return fmt::format("/* hone\nlanguage = \"cuda\"\n[[launch]]\nkernel = \"{}\"\ngrid = [\"B\"]\nblock = [\"32\"]\nargs = [\"x\", \"y\", \"i64:{}\"]\n*/\n"
                     "__global__ void twice(const float* x, float* y, long long n) {{\n"
                     "  for (long long j = threadIdx.x; j < n; j += 32) y[blockIdx.x * n + j] = 2 * x[blockIdx.x * n + j];\n}}\n", function, extent);
}

class WorkshopAtOnce : public ::testing::Test {
 protected:
  agent::ToolResult call(const char* tool, const json& arguments) { return table.call(tool, arguments); }
  Workshop workshop{std::filesystem::path(::testing::TempDir()) / "workshop"};
  agent::ToolTable table = workshop.tools();
};

TEST_F(WorkshopAtOnce, listing_its_tools_takes_little) {
  const Server server(workshop.tools(), resources(), prompts());
  const auto ask = [&](const char* method) { return *server.handle(json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", json::object()}}.dump()).body; };
  const json listed = ask("tools/list");
  // Models read it at each start, before anything is asked.
  EXPECT_LT(base::canonical_json(listed).size(), 14000U);
  for (const json& tool : listed["result"]["tools"]) {
    EXPECT_FALSE(tool["description"].get<std::string>().empty());
    // Nothing that stands in a schema is unknown to whoever reads schemas and instructions.
    for (const auto& [name, type] : tool["inputSchema"]["properties"].items()) EXPECT_TRUE(type.contains("type")) << name;
  }
  // What there is to read: every address, and an index says what each is.
  const json read = ask("resources/list");
  EXPECT_LT(base::canonical_json(read).size(), 15000U);
  std::set<std::string> addresses;
  for (const json& row : read["result"]["resources"]) addresses.insert(row["uri"]);
  for (const Resource& resource : resources()) {
    EXPECT_TRUE(addresses.contains(resource.uri) || !resource.uri_template.empty()) << resource.uri;
    if (resource.said_in.empty()) continue;
    ASSERT_TRUE(addresses.contains(resource.said_in));
    const json index = *server.handle(json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "resources/read"}, {"params", {{"uri", resource.said_in}}}}.dump()).body;
    EXPECT_THAT(index["result"]["contents"][0]["text"].get<std::string>(), HasSubstr(resource.uri + ": " + resource.description));
  }
  const json begun = ask("initialize");
  for (const char* const argument : {"task,", "source", "target,", "language,", "track,", "workloads,", "run,"}) EXPECT_THAT(begun["result"]["instructions"].get<std::string>(), HasSubstr(argument));
  // What is not listed is still bounded.
  EXPECT_TRUE(call("explain_task", {{"task", std::string(1 << 20, 'x')}}).failed);
}

TEST_F(WorkshopAtOnce, documents_that_texts_name_can_be_read) {
  std::set<std::string> addresses;
  for (const Resource& resource : resources()) addresses.insert(resource.uri);
  const std::regex page(R"(\b[a-z][a-z_]*\.md\b)");
  size_t named = 0;
  for (const Resource& resource : resources()) {
    // Pages name others of the repository; those lie behind a link, not behind a name alone.
    if (!resource.uri_template.empty()) continue;
    const std::string text = *resource.read();
    for (auto at = std::sregex_iterator(text.begin(), text.end(), page); at != std::sregex_iterator(); ++at) {
      // A piece of a longer name, of a table of results, is no page.
      if (at->position() > 0 && (text[static_cast<size_t>(at->position()) - 1] == '-' || text[static_cast<size_t>(at->position()) - 1] == '/')) continue;
      ++named;
      EXPECT_TRUE(addresses.contains("hone://doc/" + at->str())) << resource.uri << " names " << at->str();
    }
  }
  EXPECT_GT(named, 10U);
  const Server server(workshop.tools(), resources(), prompts());
  const json templates = *server.handle(R"({"jsonrpc":"2.0","id":1,"method":"resources/templates/list","params":{}})").body;
  EXPECT_EQ(templates["result"]["resourceTemplates"][0]["uriTemplate"], "hone://doc/{name}");
  const json read = *server.handle(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"hone://doc/diagnosis.md"}})").body;
  EXPECT_THAT(read["result"]["contents"][0]["text"].get<std::string>(), HasSubstr("## Metrics"));
  const json listed = *server.handle(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{}})").body;
  EXPECT_EQ(listed.dump().find("hone://doc/"), std::string::npos);
}

TEST_F(WorkshopAtOnce, a_header_that_names_nothing_is_refused_with_what_there_is) {
  for (const char* tool : {"evaluate_kernel", "profile_kernel", "tune_kernel"}) {
    const auto said = call(tool, {{"task", kTask}, {"target", "emulator:cuda"}, {"source", cuda("twice", "DD")}});
    if (said.text.find("no target") != std::string::npos) GTEST_SKIP() << said.text;
    EXPECT_TRUE(said.failed) << tool;
    EXPECT_THAT(said.text, HasSubstr("names DD")) << tool;
    EXPECT_THAT(said.text, HasSubstr("symbols of the task B, D")) << tool;
  }
  const auto instance = call("evaluate_kernel", {{"task", kTask}, {"target", "emulator:cuda"}, {"source", cuda("twice<true>", "D")}});
  EXPECT_TRUE(instance.failed);
  EXPECT_THAT(instance.text, HasSubstr("__global__ one that calls twice<true>"));
  EXPECT_EQ(instance.text.find("\"target\" names another"), std::string::npos) << instance.text;
  const auto elsewhere = call("evaluate_kernel", {{"task", kTask}, {"source", cuda("twice", "D")}});
  EXPECT_TRUE(elsewhere.failed);
  EXPECT_THAT(elsewhere.text, HasSubstr("\"target\" names another"));
}

TEST_F(WorkshopAtOnce, where_there_is_no_clock_nothing_is_profiled) {
  for (const char* tool : {"profile_kernel", "diagnose", "read_disassembly"}) {
    // At once: this source does not even compile.
    const auto said = call(tool, {{"task", kTask}, {"target", "emulator:cuda"}, {"source", cuda("twice", "D") + "}"}});
    EXPECT_TRUE(said.failed) << tool;
    EXPECT_THAT(said.text, HasSubstr("no clock")) << tool;
  }
}

}  // namespace
}  // namespace hone::face::mcp
