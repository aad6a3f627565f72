#include "hone/agent/tool.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/agent/prompt.h"
#include "hone/agent/schema.h"
#include "hone/base/embedded.h"
#include "hone/base/json.h"
#include "hone/pattern/library.h"
#include "hone/task/graph/op_table.h"

namespace hone::agent {

using nlohmann::json;

namespace {

constexpr size_t kPatternsFound = 10, kLinesFound = 6, kLineShown = 160, kOperationsFound = 5;
constexpr std::string_view kPatterns = "patterns/", kHeaders = "include/";

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

/// In small letters, without what people write or leave out as they like: "Layer_Norm", "layer norm", "layernorm" are one.
std::string plain(std::string_view text) {
  std::string out = lower(text);
  std::erase_if(out, [](char c) { return c == ' ' || c == '_' || c == '-'; });
  return out;
}

/// Makes of the library's kernels, in any language, for that operation alone, where its tensors may be a matrix and rows beside it.
std::set<std::string> makes_for(const task::Op& op) {
  std::set<std::string> makes;
  for (const char* const other : {"f32[256]", "f32[64,256]", "f32[256,256]"}) {
    std::vector<std::string> inputs;
    std::string arguments;
    for (const task::Param& param : op.params) {
      const bool axis = param.kind == task::ParamKind::kAxis || (param.kind == task::ParamKind::kInt && param.name == "axis");
      if (axis && !param.optional && !param.fallback) arguments += fmt::format("{}{}=-1", arguments.empty() ? "" : ", ", param.name);
      if (param.kind != task::ParamKind::kTensor || param.optional) continue;
      const std::string name = fmt::format("t{}", inputs.size());
      arguments += (arguments.empty() ? "" : ", ") + name;
      inputs.push_back(fmt::format("{}={}", name, inputs.empty() ? "f32[64,256]" : other));
    }
    const auto task = task::task_from_expressions(fmt::format("y = {}({})", op.name, arguments), inputs, {});
    if (!task) continue;
    std::vector<std::string> why_not;
    for (const kernel::LanguageRow& row : kernel::languages())
      for (const pattern::Offer& offer : pattern::offers(*task, row.language, why_not)) makes.insert(offer.pattern);
  }
  return makes;
}

/// Operations of the task language that hold all words in their names and documentation, with the patterns that write them where one
/// can be asked for: {"name", "signature", "about", "patterns"}.
json operations_with(const std::vector<std::string>& words) {
  json found = json::array();
  for (const auto& [name, op] : task::op_table()) {
    const std::string text = plain(fmt::format("{} {} {}", name, fmt::join(op.aliases, " "), op.doc));
    if (found.size() == kOperationsFound || !std::all_of(words.begin(), words.end(), [&](const std::string& w) { return text.find(w) != std::string::npos; })) continue;
    found.push_back({{"name", op.name}, {"signature", op.signature}, {"about", one_line(op.doc, 200)}, {"patterns", makes_for(op)}});
  }
  return found;
}

/// Files under `folder` whose name or text holds all words: [{name, about, lines, lines_left_out}].
json files_with(const std::vector<std::string>& words, std::string_view folder, size_t& left_out) {
  json found = json::array();
  for (const std::string_view path : base::list_embedded(folder)) {
    const std::string_view name = path.substr(folder.size());
    if (is_ours_alone(name)) continue;
    const std::string text = std::string(name) + "\n" + std::string(*base::find_embedded(path)), small_text = plain(text);
    const auto holds = [&](const std::string& in) { return [&in](const std::string& word) { return in.find(word) != std::string::npos; }; };
    if (words.empty() || !std::all_of(words.begin(), words.end(), holds(small_text))) continue;
    if (found.size() == kPatternsFound) {
      ++left_out;
      continue;
    }
    json lines = json::array();
    size_t more = 0;
    std::stringstream all(text.substr(name.size() + 1));
    for (std::string line; std::getline(all, line);) {
      const std::string small = plain(line);
      if (!std::any_of(words.begin(), words.end(), holds(small))) continue;
      if (lines.size() < kLinesFound) lines.push_back(one_line(line, kLineShown));
      else ++more;
    }
    found.push_back({{"name", name}, {"about", about_file(*base::find_embedded(path))}, {"lines", std::move(lines)}, {"lines_left_out", more}});
  }
  return found;
}

/// {"patterns": files, "headers": files, "operations", "left_out"}
json patterns_with(const std::string& query) {
  std::vector<std::string> words;
  std::stringstream stream(query);
  for (std::string word; stream >> word;)
    if (!plain(word).empty()) words.push_back(plain(word));
  size_t left_out = 0;
  json patterns = files_with(words, kPatterns, left_out), headers = files_with(words, kHeaders, left_out);
  // A header may be found by its uses; what it is says its first sentence, and lines would be too many.
  for (json& header : headers) header.erase("lines"), header.erase("lines_left_out");
  return {{"patterns", std::move(patterns)}, {"headers", std::move(headers)}, {"operations", operations_with(words)}, {"left_out", left_out}};
}

}  // namespace

std::string about_file(std::string_view text) {
  if (const size_t header = text.find("*/"); text.starts_with("/*") && header != std::string_view::npos) text.remove_prefix(header + 2);
  const bool python = text.starts_with(R"(""")");
  if (const size_t header = python ? text.find(R"(""")", 3) : std::string_view::npos; header != std::string_view::npos) text.remove_prefix(header + 3);
  const std::string_view mark = python ? "# " : "// ";
  const size_t at = text.find(mark);
  if (at == std::string_view::npos) return {};
  std::string about;
  std::stringstream lines{std::string(text.substr(at))};
  for (std::string line; std::getline(lines, line) && line.starts_with(mark) && about.find(". ") == std::string::npos;) about += line.substr(mark.size()) + " ";
  return one_line(about.substr(0, about.find(". ") + 1), 240);
}

bool is_ours_alone(std::string_view header) {
  constexpr std::string_view kOurs[] = {"hone/simt/", "hone/hip/", "hone/nvrtc/", "hone/tilelang/"};
  return std::ranges::any_of(kOurs, [&](std::string_view ours) { return header.starts_with(ours); });
}

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
      all.push_back({{"name", path.substr(kPatterns.size())}, {"about", about_file(*base::find_embedded(path))}});
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

  Tool search;
  search.name = "search_patterns";
  search.title = "Search patterns";
  search.description = "Built-in patterns, device headers and operations of the task language that hold all words of the query, ten files of each at most.";
  search.input = tool_schema({{"query", {{"type", "string"}, {"minLength", 1}, {"maxLength", 200}}}}, {"query"});
  search.output = {{"type", "object"}};
  search.for_models = true;
  search.run = [](const json& arguments) { return tool_data(patterns_with(arguments["query"].get<std::string>())); };
  table.add(std::move(search));
}

void add_limits_tool(ToolTable& table, std::function<json()> limits) {
  Tool tool;
  tool.name = "show_limits";
  tool.title = "Limits and measured peaks";
  tool.description = "This machine: caches, threads, vector width, and its measured peaks (bytes and multiply-adds a second).";
  tool.input = tool_schema({});
  tool.output = {{"type", "object"}};
  tool.for_models = true;
  tool.run = [limits = std::move(limits)](const json&) { return tool_data(limits()); };
  table.add(std::move(tool));
}

}  // namespace hone::agent
