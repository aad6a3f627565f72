#include "hone/agent/tool.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/agent/prompt.h"
#include "hone/agent/schema.h"
#include "hone/base/embedded.h"
#include "hone/base/json.h"

namespace hone::agent {

using nlohmann::json;

ToolResult tool_failure(std::string text) { return {true, std::move(text), {}}; }
ToolResult tool_failure(const Error& error) { return tool_failure(error.to_string()); }
ToolResult tool_data(json data) {
  std::string text = base::canonical_json(data);
  return {false, std::move(text), std::move(data)};
}

json tool_schema(json properties, std::vector<std::string> required) {
  json schema = {{"type", "object"}, {"properties", properties.is_null() ? json::object() : std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

void ToolTable::add(Tool tool) {
  const auto at = std::lower_bound(tools_.begin(), tools_.end(), tool.name, [](const Tool& t, const std::string& name) { return t.name < name; });
  HONE_CHECK(at == tools_.end() || at->name != tool.name, "two tools of one name");
  tools_.insert(at, std::move(tool));
}

const Tool* ToolTable::find(std::string_view name) const {
  for (const Tool& tool : tools_)
    if (tool.name == name) return &tool;
  return nullptr;
}

std::vector<ToolSpec> ToolTable::specs() const {
  std::vector<ToolSpec> all;
  for (const Tool& tool : tools_)
    if (tool.for_models) all.push_back({tool.name, tool.description, tool.input});
  return all;
}

ToolResult ToolTable::call(std::string_view name, const json& arguments) const {
  const Tool* tool = find(name);
  if (!tool) {
    std::vector<std::string> names;
    for (const Tool& t : tools_) names.push_back(t.name);
    return tool_failure(fmt::format("there is no tool \"{}\"; there are: {}", one_line(name, 60), fmt::join(names, ", ")));
  }
  if (const auto wrong = violation(tool->input, arguments))
    return tool_failure(fmt::format("the arguments of {} do not fit: {}", tool->name, *wrong));
  ToolResult result = tool->run(arguments);
  result.text = bounded(valid_utf8(result.text), kMaxToolText);
  return result;
}

void add_pattern_tools(ToolTable& table) {
  Tool list;
  list.name = "list_patterns";
  list.title = "List patterns";
  list.description = "Names of the built-in kernel patterns, each with its first line. Read one with read_pattern.";
  list.input = tool_schema({});
  list.output = tool_schema({{"patterns", {{"type", "array"}, {"items", tool_schema({{"name", {{"type", "string"}}}, {"about", {{"type", "string"}}}}, {"name"})}}}},
                            {"patterns"});
  list.for_models = true;
  list.run = [](const json&) {
    json all = json::array();
    for (const std::string_view path : base::list_embedded("patterns/")) {
      const std::string_view text = *base::find_embedded(path);
      const size_t at = text.find("// ");
      const std::string_view line = at == std::string_view::npos ? "" : text.substr(at + 3, text.find('\n', at) - at - 3);
      all.push_back({{"name", path.substr(9)}, {"about", one_line(line, 200)}});
    }
    return tool_data({{"patterns", all}});
  };
  table.add(std::move(list));

  Tool read;
  read.name = "read_pattern";
  read.title = "Read a pattern";
  read.description = "The text of one built-in pattern, by a name that list_patterns gave.";
  read.input = tool_schema({{"name", {{"type", "string"}, {"maxLength", 100}}}}, {"name"});
  read.for_models = true;
  read.run = [](const json& arguments) {
    // A name from the list or nothing: no path is ever made of it.
    const std::string wanted = "patterns/" + arguments["name"].get<std::string>();
    for (const std::string_view path : base::list_embedded("patterns/"))
      if (path == wanted) return ToolResult{false, std::string(*base::find_embedded(path)), {}};
    return tool_failure(fmt::format("there is no pattern \"{}\"; list_patterns names them", one_line(arguments["name"].get<std::string>(), 60)));
  };
  table.add(std::move(read));
}

void add_limits_tool(ToolTable& table, json limits) {
  Tool tool;
  tool.name = "show_limits";
  tool.title = "Limits and measured peaks";
  tool.description = "This machine: caches, threads, vector width, and its measured peaks (bytes and multiply-adds a second).";
  tool.input = tool_schema({});
  tool.output = {{"type", "object"}};
  tool.for_models = true;
  tool.run = [limits = std::move(limits)](const json&) { return tool_data(limits); };
  table.add(std::move(tool));
}

}  // namespace hone::agent
