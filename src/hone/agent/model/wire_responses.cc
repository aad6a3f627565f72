// OpenAI responses: typed, numbered events; the last one carries the whole answer.
#include <fmt/format.h>

#include "hone/agent/model/wire.h"
#include "hone/base/json.h"

namespace hone::agent::wire {
namespace {

using nlohmann::json;

class ResponsesReader final : public Reader {
 public:
  std::optional<Flaw> document(const json& body) override { return take_response(body); }

  tl::expected<Reply, Flaw> finish() override {
    if (!done_) return tl::unexpected(Flaw{"the stream ended before the answer did"});
    return std::move(reply_);
  }

 private:
  std::optional<Flaw> take(const SseEvent& event, const json& data) override {
    if (event.data == "[DONE]" || done_) return {};
    const json& number = child_of(data, "sequence_number");
    if (number.is_number_integer()) {
      const int64_t now = count_in(data, "sequence_number");
      if (now <= last_) return Flaw{fmt::format("event {} of the stream came after event {}", now, last_)};
      last_ = now;
    }
    std::string type = text_in(data, "type");
    if (type.empty()) type = event.name;
    if (type == "error") return flaw_of(child_of(data, "error").is_object() ? child_of(data, "error") : data);
    if (type == "response.failed") return flaw_of(child_of(child_of(data, "response"), "error"));
    if (type == "response.output_text.delta") {
      // Counted against the bound as it comes; the last event says what the text is.
      seen_ += text_in(data, "delta").size();
      if (seen_ > kMaxReplyText) return Flaw{"the answer is longer than 1 MiB", false};
    }
    if (type == "response.output_item.done" && items_.size() < kMaxToolCalls * 4) items_.push_back(child_of(data, "item"));
    if (type == "response.completed" || type == "response.incomplete") return take_response(child_of(data, "response"));
    return {};
  }

  std::optional<Flaw> take_response(const json& response) {
    if (const json& error = child_of(response, "error"); error.is_object()) return flaw_of(error);
    reply_.id = text_in(response, "id");
    const json& usage = child_of(response, "usage");
    if (usage.is_object()) {
      Usage now;
      now.cache_read = count_in(child_of(usage, "input_tokens_details"), "cached_tokens");
      now.input = std::max(int64_t{0}, count_in(usage, "input_tokens") - now.cache_read);
      now.output = count_in(usage, "output_tokens");
      reply_.usage = now;
    }
    const std::string status = text_in(response, "status");
    if (status == "failed" || status == "cancelled") return Flaw{"the answer has the status " + status};
    const bool cut = status == "incomplete";
    const json& output = child_of(response, "output");
    const json& items = output.is_array() && !output.empty() ? output : items_;
    for (const json& item : items) {
      const std::string type = text_in(item, "type");
      const json& content = child_of(item, "content");
      if (type == "message" && content.is_array()) {
        for (const json& part : content)
          if (text_in(part, "type") == "output_text")
            if (const auto flaw = append(text_in(part, "text"))) return flaw;
        for (const json& part : content)
          if (text_in(part, "type") == "refusal") reply_.stop = Stop::kRefused;
      }
      // An answer cut short may hold half a call.
      if (type == "function_call" && !cut) {
        const std::string arguments = text_in(item, "arguments");
        if (arguments.size() > kMaxArguments) return Flaw{"a tool call with more than 256 KiB of arguments", false};
        if (const auto flaw = add_call(text_in(item, "call_id"), text_in(item, "name"), arguments)) return flaw;
      }
    }
    if (!cut && items.is_array()) reply_.raw = items;
    if (cut) {
      const bool filtered = text_in(child_of(response, "incomplete_details"), "reason") == "content_filter";
      reply_.stop = filtered ? Stop::kRefused : Stop::kLength;
    } else if (!reply_.calls.empty()) {
      reply_.stop = Stop::kTools;
    }
    done_ = true;
    return {};
  }

  json items_ = json::array();
  int64_t last_ = -1;
  size_t seen_ = 0;
};

}  // namespace

json responses_body(const Endpoint&, const Request& request) {
  json input = json::array();
  for (const Message& message : request.messages) {
    switch (message.role) {
      case Message::Role::kUser:
        input.push_back({{"role", "user"}, {"content", json::array({{{"type", "input_text"}, {"text", message.text}}})}});
        break;
      case Message::Role::kTool:
        input.push_back({{"type", "function_call_output"}, {"call_id", message.call_id}, {"output", message.text}});
        break;
      case Message::Role::kAssistant:
        if (message.raw.is_array() && !message.raw.empty()) {
          for (const json& item : message.raw) input.push_back(item);
          break;
        }
        if (!message.text.empty())
          input.push_back({{"role", "assistant"}, {"content", json::array({{{"type", "output_text"}, {"text", message.text}}})}});
        for (const ToolCall& call : message.calls)
          input.push_back({{"type", "function_call"}, {"call_id", call.id}, {"name", call.name},
                           {"arguments", base::canonical_json(call.arguments)}});
        break;
    }
  }
  // Nothing is kept at the provider: what it wants to remember of its thinking travels with us, encrypted.
  json body = {{"input", std::move(input)}, {"max_output_tokens", request.max_output_tokens}, {"store", false},
               {"include", json::array({"reasoning.encrypted_content"})}};
  if (!request.system.empty()) body["instructions"] = request.system;
  for (const ToolSpec& tool : request.tools)
    body["tools"].push_back({{"type", "function"}, {"name", tool.name}, {"description", tool.description},
                             {"parameters", tool.schema}, {"strict", false}});
  return body;
}

std::unique_ptr<Reader> responses_reader() { return std::make_unique<ResponsesReader>(); }

}  // namespace hone::agent::wire
