// What is said to a language model and what it answers, whatever the wire: requests, replies, tool calls,
// usage. Owns the bounds on what we read from a provider. Plain values; thread-safe. A request has a
// canonical JSON form and is named by its hash, which is how recorded answers are found again.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "hone/base/result.h"

namespace hone::agent {

/// A provider that says more than this has lost its way; nobody reads on.
inline constexpr size_t kMaxReplyText = size_t{1} << 20;
inline constexpr size_t kMaxToolCalls = 32;
inline constexpr size_t kMaxArguments = size_t{256} << 10;

struct ToolCall {
  std::string id;
  std::string name;
  nlohmann::json arguments;      ///< always an object: others are never made into a call
  template <class F>
  void fields(F& f) {
    f("id", id, "the provider's name for it");
    f("name", name, "of the tool");
    f("arguments", arguments, "as its schema says");
  }
};

/// A tool as a model sees it. `schema` is a JSON Schema of its arguments.
struct ToolSpec {
  std::string name, description;
  nlohmann::json schema;
  template <class F>
  void fields(F& f) {
    f("name", name, "that it is called by");
    f("description", description, "as a model reads it");
    f("schema", schema, "JSON Schema of its arguments");
  }
};

struct Message {
  enum class Role : uint8_t { kUser, kAssistant, kTool } role = Role::kUser;
  std::string text;
  std::vector<ToolCall> calls;   ///< of an assistant
  std::string call_id;           ///< of a tool's result
  bool failed = false;           ///< the tool could not do it
  /// The provider's own blocks of an assistant's turn (thinking among them): go back unmodified.
  nlohmann::json raw = nlohmann::json::array();
};

struct Request {
  std::string system;
  std::vector<Message> messages;
  std::vector<ToolSpec> tools;
  int max_output_tokens = 8192;

  /// Canonical, also what is kept of it.
  [[nodiscard]] std::string to_json() const;
  /// Names it, together with who is asked.
  [[nodiscard]] std::string hash(std::string_view model) const;
  /// An upper bound of the tokens it becomes: no tokenizer in use makes more tokens than bytes, and each
  /// message and tool adds a few of the template's.
  [[nodiscard]] int64_t most_input_tokens() const;
};

/// Tokens, in disjoint classes whatever the provider's own way of counting.
struct Usage {
  int64_t input = 0;         ///< neither read from nor written to a cache
  int64_t cache_read = 0, cache_write = 0;
  int64_t output = 0;        ///< thinking included
  [[nodiscard]] int64_t total() const { return input + cache_read + cache_write + output; }
  Usage& operator+=(const Usage& other);
  template <class F>
  void fields(F& f) {
    f.later("input", input, "tokens neither read from nor written to a cache");
    f.later("cache_read", cache_read, "read from it");
    f.later("cache_write", cache_write, "written to it");
    f.later("output", output, "thinking included");
  }
};

enum class Stop : uint8_t { kEnd, kTools, kLength, kRefused };
[[nodiscard]] std::string_view name_of(Stop stop);
[[nodiscard]] std::optional<Stop> from_name(std::string_view name, Stop);

struct Reply {
  std::string text;
  std::vector<ToolCall> calls;
  Stop stop = Stop::kEnd;
  std::optional<Usage> usage;    ///< absent where the provider gave none
  std::string id;                ///< the provider's name for it
  nlohmann::json raw = nlohmann::json::array();
  /// As the next request carries it.
  [[nodiscard]] Message message() const;
  template <class F>
  void fields(F& f) {
    f("text", text, "what it said");
    f("stop", stop, "why it ended: end, tools, length, refused");
    f("id", id, "the provider's name for it");
    f("raw", raw, "the provider's own blocks");
    f("calls", calls, "of tools");
    f.or_null("usage", usage, "as the provider counted");
  }
};

/// `text` with what is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string valid_utf8(std::string_view text);

/// At most `most` bytes of `text`, cut between characters, with a line that says how many bytes are missing.
[[nodiscard]] std::string bounded(std::string_view text, size_t most);

}  // namespace hone::agent
