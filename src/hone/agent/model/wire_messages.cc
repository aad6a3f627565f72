// Anthropic messages: an answer is a list of blocks, each begun, filled and ended by events.
#include <map>

#include <fmt/format.h>

#include "hone/agent/model/wire.h"
#include "hone/base/json.h"

namespace hone::agent::wire {
namespace {

using nlohmann::json;

constexpr int64_t kMaxBlocks = 256;

class MessagesReader final : public Reader {
 public:
  std::optional<Flaw> document(const json& body) override {
    if (text_in(body, "type") == "error") return flaw_of(child_of(body, "error"));
    take_start(body);
    const json& content = child_of(body, "content");
    if (!content.is_array() || static_cast<int64_t>(content.size()) > kMaxBlocks) return Flaw{"an answer without content"};
    for (size_t i = 0; i < content.size(); ++i) blocks_[static_cast<int64_t>(i)] = {content[i], "", true};
    take_stop(text_in(body, "stop_reason"));
    done_ = true;
    return {};
  }

  tl::expected<Reply, Flaw> finish() override {
    if (!done_) return tl::unexpected(Flaw{"the stream ended before the answer did"});
    for (auto& [index, block] : blocks_) {
      const std::string type = text_in(block.content, "type");
      if (!block.ended) return tl::unexpected(Flaw{fmt::format("block {} of the answer was never ended", index)});
      if (type == "text")
        if (const auto flaw = append(text_in(block.content, "text"))) return tl::unexpected(*flaw);
      if (type == "tool_use") {
        // At its limit a model stops in the middle of a call.
        if (reply_.stop == Stop::kLength || reply_.stop == Stop::kRefused) continue;
        const json& input = child_of(block.content, "input");
        const bool whole = block.partial.empty() && input.is_object();
        const std::string arguments = whole ? base::canonical_json(input) : block.partial;
        if (const auto flaw = add_call(text_in(block.content, "id"), text_in(block.content, "name"), arguments))
          return tl::unexpected(*flaw);
        block.content["input"] = reply_.calls.back().arguments;
      }
      reply_.raw.push_back(block.content);
    }
    if (!reply_.calls.empty()) reply_.stop = Stop::kTools;
    return std::move(reply_);
  }

 private:
  std::optional<Flaw> take(const SseEvent& event, const json& data) override {
    if (event.data == "[DONE]" || done_) return {};
    std::string type = text_in(data, "type");
    if (type.empty()) type = event.name;
    if (type == "error") return flaw_of(child_of(data, "error"));
    if (type == "message_start") take_start(child_of(data, "message"));
    if (type == "message_delta") {
      take_usage(child_of(data, "usage"));
      take_stop(text_in(child_of(data, "delta"), "stop_reason"));
    }
    if (type == "message_stop") done_ = true;
    if (!type.starts_with("content_block")) return {};
    const int64_t index = count_in(data, "index");
    if (index >= kMaxBlocks) return Flaw{"more than 256 blocks in one answer", false};
    if (type == "content_block_start") {
      if (blocks_.contains(index)) return Flaw{fmt::format("block {} of the answer began twice", index)};
      blocks_[index] = {child_of(data, "content_block"), "", false};
      return {};
    }
    const auto it = blocks_.find(index);
    if (it == blocks_.end() || it->second.ended) return Flaw{fmt::format("block {} of the answer is not open", index)};
    if (type == "content_block_stop") it->second.ended = true;
    if (type == "content_block_delta") return take_delta(it->second, child_of(data, "delta"));
    return {};
  }

  struct Block {
    json content;
    std::string partial;      ///< of a tool call's input
    bool ended = false;
  };

  std::optional<Flaw> take_delta(Block& block, const json& delta) {
    const std::string type = text_in(delta, "type");
    const auto grow = [&](const char* key) -> std::optional<Flaw> {
      const std::string more = text_in(delta, key);
      seen_ += more.size();
      // Thinking counts too: it has a bound of its own, well above the answer's.
      if (seen_ > 4 * kMaxReplyText) return Flaw{"the answer is longer than 4 MiB", false};
      json& text = block.content[key];
      if (!text.is_string()) text = "";
      text.get_ref<std::string&>() += more;
      return {};
    };
    if (!block.content.is_object()) return Flaw{"a block of the answer that is no object"};
    if (type == "text_delta") return grow("text");
    if (type == "thinking_delta") return grow("thinking");
    if (type == "signature_delta") return grow("signature");
    if (type == "input_json_delta") {
      block.partial += text_in(delta, "partial_json");
      if (block.partial.size() > kMaxArguments) return Flaw{"a tool call with more than 256 KiB of arguments", false};
    }
    return {};
  }

  void take_start(const json& message) {
    reply_.id = text_in(message, "id");
    take_usage(child_of(message, "usage"));
  }

  void take_stop(const std::string& reason) {
    if (reason == "max_tokens" || reason == "model_context_window_exceeded") reply_.stop = Stop::kLength;
    if (reason == "refusal") reply_.stop = Stop::kRefused;
  }

  /// Counts are cumulative: what an event does not repeat still holds.
  void take_usage(const json& usage) {
    if (!usage.is_object()) return;
    Usage now = reply_.usage.value_or(Usage{});
    const auto update = [&](const char* key, int64_t& count) {
      if (child_of(usage, key).is_number()) count = count_in(usage, key);
    };
    update("input_tokens", now.input);
    update("cache_read_input_tokens", now.cache_read);
    update("cache_creation_input_tokens", now.cache_write);
    update("output_tokens", now.output);
    reply_.usage = now;
  }

  std::map<int64_t, Block> blocks_;
  size_t seen_ = 0;
};

}  // namespace

json messages_body(const Endpoint&, const Request& request) {
  json messages = json::array();
  // Results of tools come first in the user's turn, and turns alternate.
  const auto user_turn = [&]() -> json& {
    if (messages.empty() || messages.back()["role"] != "user") messages.push_back({{"role", "user"}, {"content", json::array()}});
    return messages.back()["content"];
  };
  for (const Message& message : request.messages) {
    switch (message.role) {
      case Message::Role::kUser: user_turn().push_back({{"type", "text"}, {"text", message.text}}); break;
      case Message::Role::kTool: {
        json result = {{"type", "tool_result"}, {"tool_use_id", message.call_id}, {"content", message.text}};
        if (message.failed) result["is_error"] = true;
        user_turn().push_back(std::move(result));
        break;
      }
      case Message::Role::kAssistant: {
        json content = message.raw;
        if (!content.is_array() || content.empty()) {
          content = json::array();
          if (!message.text.empty()) content.push_back({{"type", "text"}, {"text", message.text}});
          for (const ToolCall& call : message.calls)
            content.push_back({{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", call.arguments}});
        }
        messages.push_back({{"role", "assistant"}, {"content", std::move(content)}});
        break;
      }
    }
  }
  const json ephemeral = {{"type", "ephemeral"}};
  // The first turn holds the task, which every later request of the conversation repeats.
  if (!messages.empty() && messages[0]["role"] == "user" && !messages[0]["content"].empty())
    messages[0]["content"].back()["cache_control"] = ephemeral;
  json body = {{"messages", std::move(messages)}, {"max_tokens", request.max_output_tokens}};
  // A mark behind the system text covers the tools before it.
  if (!request.system.empty())
    body["system"] = json::array({{{"type", "text"}, {"text", request.system}, {"cache_control", ephemeral}}});
  for (const ToolSpec& tool : request.tools)
    body["tools"].push_back({{"name", tool.name}, {"description", tool.description}, {"input_schema", tool.schema}});
  return body;
}

std::unique_ptr<Reader> messages_reader() { return std::make_unique<MessagesReader>(); }

}  // namespace hone::agent::wire
