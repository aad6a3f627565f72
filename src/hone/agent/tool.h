// The one table of tools that models and MCP share. A tool takes an object that its schema allows and gives
// back text and, where it has a schema for it, an object; both bounded, and what was cut is said. A tool's
// failure is data. What a tool does is its own; the table only checks, calls and bounds. One thread, unless
// the tools in it say otherwise.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/agent/model/message.h"

namespace hone::agent {

inline constexpr size_t kMaxToolText = size_t{16} << 10;

/// A file that comes beside the answer, whole.
struct Attachment {
  std::string name, type, text;    ///< type: of MIME
};
struct ToolResult {
  bool failed = false;
  std::string text;
  nlohmann::json data;             ///< null, or an object
  std::vector<Attachment> files = {};
};
/// The first sentence of a source file's first comment behind its header, on one line; empty: it has none.
[[nodiscard]] std::string about_file(std::string_view text);
/// Whether a device header is one that no kernel includes: the emulator's, or what stands in for headers of CUDA, HIP and TileLang.
[[nodiscard]] bool is_ours_alone(std::string_view header);
[[nodiscard]] ToolResult tool_failure(std::string text);
/// An Error as a tool tells it.
[[nodiscard]] ToolResult tool_failure(const Error& error);
/// The object, and its text as JSON.
[[nodiscard]] ToolResult tool_data(nlohmann::json data);

struct Tool {
  std::string name, title, description;
  nlohmann::json input;            ///< JSON Schema
  nlohmann::json output;           ///< JSON Schema of `data`; null: none
  bool read_only = true;           ///< changes nothing that outlives the call
  bool for_models = false;         ///< may be offered to a model within a run
  std::function<ToolResult(const nlohmann::json&)> run;
};

/// Schemas of tools: an object with these members, and no others.
[[nodiscard]] nlohmann::json tool_schema(nlohmann::json properties, std::vector<std::string> required = {});

class ToolTable {
 public:
  void add(Tool tool);
  /// In the order of their names, always.
  [[nodiscard]] const std::vector<Tool>& tools() const { return tools_; }
  [[nodiscard]] const Tool* find(std::string_view name) const;
  /// What may be offered to a model.
  [[nodiscard]] std::vector<ToolSpec> specs() const;
  /// Unknown names and arguments that do not fit are failures that say what would.
  [[nodiscard]] ToolResult call(std::string_view name, const nlohmann::json& arguments) const;

 private:
  std::vector<Tool> tools_;
};

/// list_patterns and read_pattern: the built-in pattern files, by the names that the first gives; search_patterns: those
/// that hold all words given, with the lines that do, and headers and operations that do.
void add_pattern_tools(ToolTable& table);
/// show_limits: the machine and its measured peaks as `limits` says (an object), asked at each call: peaks are measured when
/// somebody wants them.
void add_limits_tool(ToolTable& table, std::function<nlohmann::json()> limits);

}  // namespace hone::agent
