// Both eras of the protocol, what is refused, and HTTP's own checks.
#include "hone/face/mcp/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "hone/base/random.h"

namespace hone::face::mcp {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Server make_server() {
  agent::ToolTable table;
  agent::Tool echo;
  echo.name = "echo";
  echo.title = "Echo";
  echo.description = "Says it again.";
  echo.input = agent::tool_schema({{"text", {{"type", "string"}}}}, {"text"});
  echo.run = [](const json& a) {
    if (a["text"] == "fail") return agent::tool_failure("it failed");
    return agent::tool_data({{"text", a["text"]}});
  };
  table.add(echo);
  agent::add_pattern_tools(table);
  return Server(std::move(table));
}

json ask(const Server& server, json message, const std::optional<Headers>& headers = {}, int status = 200) {
  message["jsonrpc"] = "2.0";
  if (!message.contains("id")) message["id"] = 1;
  const Answer answer = server.handle(message.dump(), headers);
  EXPECT_EQ(answer.status, status);
  return answer.body.value_or(json());
}

json modern(json params = json::object(), const std::string& version = std::string(kModern)) {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", version}, {"io.modelcontextprotocol/clientCapabilities", json::object()}};
  return params;
}

TEST(Mcp, initializes_the_old_way) {
  const Server server = make_server();
  const json first = ask(server, {{"method", "initialize"}, {"params", {{"protocolVersion", "2025-06-18"}, {"capabilities", json::object()}}}});
  EXPECT_EQ(first["result"]["protocolVersion"], "2025-06-18");
  EXPECT_EQ(first["result"]["serverInfo"]["name"], "hone");
  EXPECT_FALSE(first["result"].contains("resultType"));
  EXPECT_EQ(ask(server, {{"method", "initialize"}, {"params", {{"protocolVersion", "1999-01-01"}}}})["result"]["protocolVersion"], "2025-11-25");
  EXPECT_FALSE(server.handle(R"({"jsonrpc":"2.0","method":"notifications/initialized"})").body);
  EXPECT_EQ(ask(server, {{"method", "ping"}})["result"], json::object());
}

TEST(Mcp, answers_as_agents_read_them) {
  agent::ToolTable table;
  agent::Tool judge;
  judge.name = "judge";
  judge.description = "Judges.";
  judge.input = agent::tool_schema({});
  judge.run = [](const json&) {
    return agent::tool_data({{"a_ns", 123456.78901234567}, {"deep", {{"ratios", {1.0 / 3, 2e-9 / 3}}}}, {"pairs", 123456}, {"bytes", 1572864.0}, {"verdict", "wrong"}, {"none", std::numeric_limits<double>::infinity()}});
  };
  table.add(judge);
  agent::Tool says;
  says.name = "says";
  says.description = "Says something of its own.";
  says.input = agent::tool_schema({});
  says.run = [](const json&) { return agent::ToolResult{false, "in words", {{"third", 1.0 / 3}}}; };
  table.add(says);
  const Server server(std::move(table));
  const json result = ask(server, {{"method", "tools/call"}, {"params", {{"name", "judge"}, {"arguments", json::object()}}}})["result"];
  EXPECT_EQ(result["content"][0]["text"], R"({"verdict":"wrong","a_ns":123500.0,"bytes":1572864.0,"deep":{"ratios":[0.3333,6.667e-10]},"none":null,"pairs":123456})");
  EXPECT_EQ(result["structuredContent"]["a_ns"], 123500.0);
  EXPECT_EQ(json::parse(result["content"][0]["text"].get<std::string>()), json::parse(result["structuredContent"].dump())) << "the same, in another order";
  const json own = ask(server, {{"method", "tools/call"}, {"params", {{"name", "says"}, {"arguments", json::object()}}}})["result"];
  EXPECT_EQ(own["content"][0]["text"], "in words");
  EXPECT_EQ(own["structuredContent"]["third"], 0.3333);
}

TEST(Mcp, is_stateless_the_new_way) {
  const Server server = make_server();
  const json found = ask(server, {{"method", "server/discover"}, {"params", modern()}});
  EXPECT_EQ(found["result"]["supportedVersions"][0], kModern);
  EXPECT_EQ(found["result"]["resultType"], "complete");
  EXPECT_TRUE(found["result"].contains("ttlMs"));
  const json listed = ask(server, {{"method", "tools/list"}, {"params", modern()}});
  EXPECT_EQ(listed["result"]["resultType"], "complete");
  const json wrong = ask(server, {{"method", "tools/list"}, {"params", modern(json::object(), "2031-01-01")}});
  EXPECT_EQ(wrong["error"]["code"], -32022);
  EXPECT_FALSE(wrong["error"]["data"]["supported"].empty());
  EXPECT_EQ(ask(server, {{"method", "initialize"}, {"params", modern()}})["error"]["code"], -32601);
}

TEST(Mcp, lists_and_calls_tools) {
  const Server server = make_server();
  const json tools = ask(server, {{"method", "tools/list"}})["result"]["tools"];
  ASSERT_EQ(tools.size(), 4U);
  EXPECT_EQ(tools[0]["name"], "echo");
  EXPECT_EQ(tools[1]["name"], "list_patterns");
  EXPECT_TRUE(tools[0]["annotations"]["readOnlyHint"]);
  const json good = ask(server, {{"method", "tools/call"}, {"params", {{"name", "echo"}, {"arguments", {{"text", "hi"}}}}}})["result"];
  EXPECT_EQ(good["isError"], false);
  EXPECT_EQ(good["structuredContent"]["text"], "hi");
  const json bad = ask(server, {{"method", "tools/call"}, {"params", {{"name", "echo"}, {"arguments", {{"text", "fail"}}}}}})["result"];
  EXPECT_EQ(bad["isError"], true);
  const json misfit = ask(server, {{"method", "tools/call"}, {"params", {{"name", "echo"}, {"arguments", {{"text", 3}}}}}})["result"];
  EXPECT_EQ(misfit["isError"], true);
  EXPECT_THAT(misfit["content"][0]["text"].get<std::string>(), HasSubstr("do not fit"));
  EXPECT_EQ(ask(server, {{"method", "tools/call"}, {"params", {{"name", "rm"}}}})["error"]["code"], -32602);
  EXPECT_EQ(ask(server, {{"method", "resources/list"}})["error"]["code"], -32601);
  const json path = ask(server, {{"method", "tools/call"}, {"params", {{"name", "read_pattern"}, {"arguments", {{"name", "../prompts/system.md"}}}}}})["result"];
  EXPECT_EQ(path["isError"], true);
}

TEST(Mcp, resources_and_prompts_are_listed_and_read) {
  std::vector<Resource> resources = {{"hone://a", "A", "the letter", "text/plain", []() -> Result<std::string> { return std::string("aaa"); }}};
  std::vector<PromptText> prompts = {{"say", "Say", "Says it", {{"what", "a word", true}}, [](const json& a) -> Result<std::string> { return "say " + a["what"].get<std::string>(); }}};
  const Server server(agent::ToolTable(), std::move(resources), std::move(prompts));
  EXPECT_TRUE(ask(server, {{"method", "initialize"}, {"params", {{"protocolVersion", "2025-06-18"}}}})["result"]["capabilities"].contains("resources"));
  EXPECT_EQ(ask(server, {{"method", "resources/list"}})["result"]["resources"][0]["uri"], "hone://a");
  EXPECT_EQ(ask(server, {{"method", "resources/read"}, {"params", {{"uri", "hone://a"}}}})["result"]["contents"][0]["text"], "aaa");
  EXPECT_EQ(ask(server, {{"method", "resources/read"}, {"params", {{"uri", "file:///etc/passwd"}}}})["error"]["code"], -32602);
  EXPECT_TRUE(ask(server, {{"method", "resources/templates/list"}})["result"]["resourceTemplates"].empty());
  EXPECT_EQ(ask(server, {{"method", "prompts/list"}})["result"]["prompts"][0]["arguments"][0]["name"], "what");
  const json got = ask(server, {{"method", "prompts/get"}, {"params", {{"name", "say"}, {"arguments", {{"what", "hi"}}}}}});
  EXPECT_EQ(got["result"]["messages"][0]["content"]["text"], "say hi");
  EXPECT_EQ(ask(server, {{"method", "prompts/get"}, {"params", {{"name", "say"}}}})["error"]["code"], -32602);
  EXPECT_EQ(ask(server, {{"method", "prompts/get"}, {"params", {{"name", "say"}, {"arguments", {{"what", 3}}}}}})["error"]["code"], -32602);
  const json listed = ask(server, {{"method", "resources/list"}, {"params", modern()}});
  EXPECT_EQ(listed["result"]["resultType"], "complete");
}

/// A call that takes long does not hold up the next.
TEST(Mcp, serves_calls_side_by_side) {
  std::atomic<bool> fast_came{false};
  agent::ToolTable table;
  for (const bool slow : {true, false}) {
    agent::Tool tool;
    tool.name = slow ? "slow" : "fast";
    tool.input = agent::tool_schema({});
    tool.run = [slow, &fast_came](const json&) {
      for (int i = 0; slow && !fast_came && i < 2000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      if (!slow) fast_came = true;
      return agent::tool_data({{"saw_the_other", fast_came.load()}});
    };
    table.add(std::move(tool));
  }
  const Server server(std::move(table));
  std::string lines;
  for (const char* name : {"slow", "fast"})
    lines += json{{"jsonrpc", "2.0"}, {"id", name}, {"method", "tools/call"}, {"params", {{"name", name}, {"arguments", json::object()}}}}.dump() + "\n";
  std::istringstream in(lines);
  std::ostringstream out;
  serve_stdio(server, in, out);
  std::istringstream answers(out.str());
  int count = 0;
  for (std::string line; std::getline(answers, line); ++count) EXPECT_TRUE(json::parse(line)["result"]["structuredContent"]["saw_the_other"]) << line;
  EXPECT_EQ(count, 2);
}

TEST(Mcp, survives_any_message) {
  const Server server = make_server();
  EXPECT_EQ((*server.handle("{").body)["error"]["code"], -32700);
  EXPECT_EQ((*server.handle("[]").body)["error"]["code"], -32600);
  EXPECT_EQ((*server.handle("{\"id\":1}").body)["error"]["code"], -32600);
  EXPECT_EQ((*server.handle(R"({"jsonrpc":"2.0","id":{},"method":"ping"})").body)["error"]["code"], -32600);
  EXPECT_EQ((*server.handle(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":[]})").body)["error"]["code"], -32602);
  const std::string sound = json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", modern({{"name", "echo"}, {"arguments", {{"text", "x"}}}})}}.dump();
  base::Rng random(5);
  for (int i = 0; i < 3000; ++i) {
    std::string text = sound;
    for (int w = 0; w < 3; ++w) text[random.below(text.size())] = static_cast<char>(random.below(256));
    ASSERT_NO_THROW((void)server.handle(text));
  }
}

TEST(Mcp, speaks_lines_on_stdio) {
  const Server server = make_server();
  std::istringstream in("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\nnonsense\n");
  std::ostringstream out;
  serve_stdio(server, in, out);
  std::istringstream lines(out.str());
  std::vector<json> answers;
  for (std::string line; std::getline(lines, line);) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0]["id"], 1);
  EXPECT_EQ(answers[1]["error"]["code"], -32700);
}

TEST(Mcp, http_checks_headers_origin_and_token) {
  const Server server = make_server();
  std::atomic<int> port{0};
  std::atomic<bool> stop{false};
  std::thread thread([&] { (void)serve_http(server, {0, "secret-token"}, [&](int p) { port = p; }, [&] { return stop.load(); }); });
  while (port == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  httplib::Client client("127.0.0.1", port);
  const auto post = [&](const json& body, httplib::Headers headers) {
    headers.emplace("Authorization", "Bearer secret-token");
    for (int tries = 0; tries < 50; ++tries) {
      if (auto result = client.Post("/mcp", headers, body.dump(), "application/json")) return std::pair(result->status, result->body);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return std::pair(-1, std::string());
  };
  const json call = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "tools/call"}, {"params", modern({{"name", "echo"}, {"arguments", {{"text", "x"}}}})}};
  const httplib::Headers right = {{"MCP-Protocol-Version", std::string(kModern)}, {"Mcp-Method", "tools/call"}, {"Mcp-Name", "echo"}};
  EXPECT_EQ(post(call, right).first, 200);
  const auto changed = [&](const std::string& name, const std::string& value) {
    httplib::Headers headers = right;
    headers.erase(name);
    if (!value.empty()) headers.emplace(name, value);
    const auto [status, body] = post(call, headers);
    const json parsed = json::parse(body, nullptr, false);
    return std::pair(status, parsed.is_object() ? parsed["error"].value("code", 0) : 0);
  };
  EXPECT_EQ(changed("Mcp-Name", "rm"), std::pair(400, -32020));
  EXPECT_EQ(changed("Mcp-Method", "tools/list"), std::pair(400, -32020));
  EXPECT_EQ(changed("Mcp-Method", ""), std::pair(400, -32020));
  EXPECT_EQ(changed("MCP-Protocol-Version", "2025-06-18"), std::pair(400, -32020));
  EXPECT_EQ(changed("MCP-Protocol-Version", "2040-01-01"), std::pair(400, -32022));
  json unknown = call;
  unknown["method"] = "no/such";
  httplib::Headers headers = {{"MCP-Protocol-Version", std::string(kModern)}, {"Mcp-Method", "no/such"}};
  EXPECT_EQ(post(unknown, headers).first, 404);
  EXPECT_EQ(post({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}, {}).first, 202);
  EXPECT_EQ(post({{"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", {{"protocolVersion", "2025-11-25"}}}}, {}).first, 200);
  headers = right;
  headers.emplace("Origin", "https://evil.example");
  EXPECT_EQ(post(call, headers).first, 403);
  headers = right;
  headers.emplace("Host", "evil.example");
  EXPECT_EQ(post(call, headers).first, 403);
  EXPECT_EQ(client.Post("/mcp", right, call.dump(), "application/json")->status, 401);
  EXPECT_EQ(client.Get("/mcp")->status, 405);
  stop = true;
  thread.join();
}

}  // namespace
}  // namespace hone::face::mcp
