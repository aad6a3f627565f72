#include "hone/face/mcp/server.h"

#include <algorithm>
#include <array>
#include <deque>
#include <future>
#include <istream>
#include <map>
#include <mutex>
#include <ostream>

#include <fmt/format.h>

#include "hone/agent/model/message.h"
#include "hone/agent/prompt.h"
#include "hone/base/json.h"
#include "hone/base/version.h"
#include "hone/face/mcp/for_agents.h"

namespace hone::face::mcp {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kLegacy = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr const char* kVersionKey = "io.modelcontextprotocol/protocolVersion";
constexpr int kParse = -32700, kInvalid = -32600, kNoMethod = -32601, kParams = -32602, kMismatch = -32020, kVersion = -32022;
constexpr int64_t kListTtlMs = 3'600'000;
constexpr size_t kMaxMessage = size_t{4} << 20;

constexpr const char* kInstructions =
    "hone makes kernels fast and proves them right. Describe what to compute as a task file (TOML; resource hone://operations). explain_task shows "
    "what it costs and which kernels the library has (library_kernels). To write one: resource hone://guide/LANGUAGE, show_limits for the target, "
    "evaluate_kernel for a verdict with times and errors, compare_kernels to decide between two, tune_kernel for its tunables. To have one written: "
    "start_run, then wait. Verdicts and times are hone's own.\n"
    "Where tools take them: task, a task file's text; source (a, b, start_source), a whole kernel file that begins with its /* hone header (hone://kernels); "
    "target, where kernels run: cpu where left out, cuda:0, emulator:cuda, emulator:hip, emulator:triton (a run takes several cards: cuda:0,cuda:1); language, a list of "
    "those that the target takes, all where left out: c++, cuda, hip, triton, tilelang; track, the accuracy track: f32, as-pytorch, tf32, bf16, f16, the task's own where left out; "
    "workloads, names of the task's, its default ones where left out; run, an id that start_run gave. Documents that texts name, such as diagnosis.md, are hone://doc/NAME.";
constexpr size_t kCallsAtOnce = 8;

Answer error(const json& id, int code, std::string message, int status = 200, json data = {}) {
  json body = {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", std::move(message)}}}};
  if (!data.is_null()) body["error"]["data"] = std::move(data);
  return {std::move(body), status};
}

json supported() {
  json all = json::array({kModern});
  for (const auto version : kLegacy) all.push_back(version);
  return all;
}

bool is_legacy(std::string_view version) { return std::find(kLegacy.begin(), kLegacy.end(), version) != kLegacy.end(); }

const json& member(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto it = object.find(key);
  return it == object.end() ? none : *it;
}

std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

/// How long texts and lists may be says whoever refuses one: lists of tools are read by models, at each start.
json without_sizes(json schema) {
  for (const char* key : {"maxLength", "minLength", "maxItems", "minItems"})
    if (const auto at = schema.find(key); at != schema.end() && at->is_number()) schema.erase(at);
  for (json& member : schema)
    if (member.is_object()) member = without_sizes(std::move(member));
  return schema;
}

}  // namespace

Answer Server::handle(std::string_view text, const std::optional<Headers>& headers) const {
  const int bad = headers ? 400 : 200;
  if (text.size() > kMaxMessage) return error(nullptr, kInvalid, "the message is longer than 4 MiB", headers ? 413 : 200);
  const auto message = base::parse_json(text, "message");
  if (!message) return error(nullptr, kParse, message.error().to_string(), bad);
  if (!message->is_object()) return error(nullptr, kInvalid, "expected one JSON-RPC message, an object", bad);
  const json id = message->value("id", json());
  const bool has_id = message->contains("id");
  if (has_id && !id.is_string() && !id.is_number_integer()) return error(nullptr, kInvalid, "an id is a string or an integer", bad);
  if (member(*message, "jsonrpc") != "2.0") return error(id, kInvalid, "\"jsonrpc\" must be \"2.0\"", bad);
  // Answers of a client to questions that we never ask.
  if (!message->contains("method") && (message->contains("result") || message->contains("error"))) return {std::nullopt, 202};
  if (!member(*message, "method").is_string()) return error(id, kInvalid, "\"method\" is missing", bad);
  if (!has_id) return {std::nullopt, 202};
  return request(*message, id, headers);
}

Answer Server::request(const json& message, const json& id, const std::optional<Headers>& headers) const {
  const std::string method = message["method"];
  const json params = message.value("params", json::object());
  const int bad = headers ? 400 : 200;
  if (!params.is_object()) return error(id, kParams, "\"params\" must be an object", bad);
  const std::string version = text_of(member(member(params, "_meta"), kVersionKey));
  const bool modern = !version.empty() || (headers && headers->version == kModern) || method == "server/discover";
  if (headers && !headers->version.empty() && headers->version != kModern && !is_legacy(headers->version))
    return error(id, kVersion, "unsupported protocol version " + agent::one_line(headers->version, 40), 400,
                 {{"supported", supported()}, {"requested", headers->version}});
  if (!version.empty() && version != kModern)
    return error(id, kVersion, "unsupported protocol version " + agent::one_line(version, 40), bad, {{"supported", supported()}, {"requested", version}});
  if (headers && modern) {
    const std::string name = method == "tools/call" || method == "prompts/get" ? text_of(member(params, "name"))
                             : method == "resources/read"                      ? text_of(member(params, "uri"))
                                                                               : "";
    if (headers->version != version) return error(id, kMismatch, "MCP-Protocol-Version differs from the message's", 400);
    if (headers->method != method) return error(id, kMismatch, "Mcp-Method differs from the message's", 400);
    if (headers->name != name) return error(id, kMismatch, "Mcp-Name differs from the message's", 400);
  }
  const auto answer = [&](json result) -> Answer {
    if (modern) result["resultType"] = "complete";
    return {json{{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}}, 200};
  };
  json capabilities = {{"tools", json::object()}};
  if (!resources_.empty()) capabilities["resources"] = json::object();
  if (!prompts_.empty()) capabilities["prompts"] = json::object();
  if (method == "server/discover")
    return answer({{"supportedVersions", supported()}, {"capabilities", capabilities}, {"instructions", kInstructions},
                   {"serverInfo", {{"name", "hone"}, {"version", base::kVersion}}}, {"ttlMs", kListTtlMs}, {"cacheScope", "public"}});
  if (method == "initialize" && !modern) {
    const std::string wanted = text_of(member(params, "protocolVersion"));
    return answer({{"protocolVersion", is_legacy(wanted) ? wanted : std::string(kLegacy[0])}, {"capabilities", capabilities},
                   {"serverInfo", {{"name", "hone"}, {"version", base::kVersion}}}, {"instructions", kInstructions}});
  }
  if (method == "ping") return answer(json::object());
  const bool resources = method == "resources/list" && !resources_.empty(), prompts = method == "prompts/list" && !prompts_.empty();
  const bool templates = method == "resources/templates/list" && !resources_.empty();
  if (method == "tools/list" || resources || prompts || templates) {
    json result = resources ? json{{"resources", list_resources()}}
                  : prompts ? json{{"prompts", list_prompts()}}
                  : templates ? json{{"resourceTemplates", list_templates()}}
                              : json{{"tools", list()}};
    if (modern) result["ttlMs"] = kListTtlMs, result["cacheScope"] = "public";
    return answer(std::move(result));
  }
  if (method == "tools/call") {
    const std::string name = text_of(member(params, "name"));
    if (name.empty() || !tools_.find(name)) return error(id, kParams, "there is no tool \"" + agent::one_line(name, 60) + "\"", bad);
    if (params.contains("arguments") && !params["arguments"].is_object()) return error(id, kParams, "\"arguments\" must be an object", bad);
    return answer(call(params));
  }
  if ((method == "resources/read" && !resources_.empty()) || (method == "prompts/get" && !prompts_.empty())) {
    auto result = method == "resources/read" ? read_resource(params) : get_prompt(params);
    if (!result) return error(id, kParams, result.error().to_string(), bad);
    return answer(std::move(*result));
  }
  return error(id, kNoMethod, "there is no method \"" + agent::one_line(method, 60) + "\"", headers ? 404 : 200);
}

json Server::list() const {
  json all = json::array();
  for (const agent::Tool& tool : tools_.tools()) {
    json row = {{"name", tool.name}, {"title", tool.title}, {"description", tool.description}, {"inputSchema", without_sizes(tool.input)},
                {"annotations", {{"readOnlyHint", tool.read_only}, {"openWorldHint", false}}}};
    if (!tool.read_only) row["annotations"]["destructiveHint"] = false;
    if (!tool.output.is_null()) row["outputSchema"] = tool.output;
    all.push_back(std::move(row));
  }
  return all;
}

json Server::call(const json& params) const {
  const std::string name = params["name"];
  const agent::ToolResult result = tools_.call(name, params.value("arguments", json::object()));
  const bool answers = !result.failed && result.data.is_object();
  const json data = answers ? rounded(result.data) : json();
  // A text that is no more than the data is written anew; one of its own stays.
  const bool written = answers && result.text.starts_with("{");
  json out = {{"content", json::array({{{"type", "text"}, {"text", written ? agent::bounded(agent::valid_utf8(verdict_first(data)), agent::kMaxToolText) : result.text}}})}, {"isError", result.failed}};
  if (answers) out["structuredContent"] = data;
  for (const agent::Attachment& file : result.files)
    out["content"].push_back({{"type", "resource"}, {"resource", {{"uri", "hone://file/" + file.name}, {"mimeType", file.type}, {"text", file.text}}}});
  return out;
}

json Server::list_resources() const {
  json all = json::array();
  for (const Resource& resource : resources_)
    if (!resource.said_in.empty())
      all.push_back({{"uri", resource.uri}, {"name", resource.name}});
    else if (resource.uri_template.empty())
      all.push_back({{"uri", resource.uri}, {"name", resource.name}, {"description", resource.description}, {"mimeType", resource.type}});
  return all;
}

json Server::list_templates() const {
  std::map<std::string, json> all;
  for (const Resource& resource : resources_)
    if (!resource.uri_template.empty())
      all.try_emplace(resource.uri_template, json{{"uriTemplate", resource.uri_template}, {"name", resource.name}, {"description", resource.description}, {"mimeType", resource.type}});
  json list = json::array();
  for (auto& [at, row] : all) list.push_back(std::move(row));
  return list;
}

json Server::list_prompts() const {
  json all = json::array();
  for (const PromptText& prompt : prompts_) {
    json arguments = json::array();
    for (const PromptText::Argument& a : prompt.arguments) arguments.push_back({{"name", a.name}, {"description", a.description}, {"required", a.required}});
    all.push_back({{"name", prompt.name}, {"title", prompt.title}, {"description", prompt.description}, {"arguments", std::move(arguments)}});
  }
  return all;
}

Result<json> Server::read_resource(const json& params) const {
  const std::string uri = text_of(member(params, "uri"));
  const auto at = std::find_if(resources_.begin(), resources_.end(), [&](const Resource& r) { return r.uri == uri; });
  if (at == resources_.end()) return fail(ErrorCode::kNotFound, "there is no resource \"" + agent::one_line(uri, 100) + "\"", "resources/list names them");
  HONE_TRY(std::string text, at->read());
  return json{{"contents", json::array({{{"uri", uri}, {"mimeType", at->type}, {"text", std::move(text)}}})}};
}

Result<json> Server::get_prompt(const json& params) const {
  const std::string name = text_of(member(params, "name"));
  const auto at = std::find_if(prompts_.begin(), prompts_.end(), [&](const PromptText& p) { return p.name == name; });
  if (at == prompts_.end()) return fail(ErrorCode::kNotFound, "there is no prompt \"" + agent::one_line(name, 60) + "\"", "prompts/list names them");
  const json arguments = params.value("arguments", json::object());
  if (!arguments.is_object()) return fail(ErrorCode::kInput, "\"arguments\" must be an object");
  for (const auto& [key, value] : arguments.items())
    if (!value.is_string()) return fail(ErrorCode::kInput, fmt::format("\"{}\" must be a text", agent::one_line(key, 60)));
  for (const PromptText::Argument& a : at->arguments)
    if (a.required && !arguments.contains(a.name)) return fail(ErrorCode::kInput, fmt::format("\"{}\" is missing", a.name), a.description);
  HONE_TRY(std::string text, at->make(arguments));
  return json{{"description", at->description}, {"messages", json::array({{{"role", "user"}, {"content", {{"type", "text"}, {"text", std::move(text)}}}}})}};
}

void serve_stdio(const Server& server, std::istream& in, std::ostream& out) {
  std::mutex writing;
  std::deque<std::future<void>> calls;
  const auto serve = [&](const std::string& line) {
    const Answer answer = server.handle(line);
    const std::scoped_lock lock(writing);
    if (answer.body) out << base::canonical_json(*answer.body) << '\n' << std::flush;
  };
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (line.find("tools/call") == std::string::npos) {
      serve(line);
      continue;
    }
    std::erase_if(calls, [](const std::future<void>& call) { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    if (calls.size() >= kCallsAtOnce) calls.front().wait();
    calls.push_back(std::async(std::launch::async, [&serve, line] { serve(line); }));
  }
  for (const std::future<void>& call : calls) call.wait();
}

}  // namespace hone::face::mcp
