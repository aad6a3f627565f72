// OpenAI chat completions, as vLLM, SGLang, llama.cpp, Ollama and relays speak it too.
#include <map>

#include <fmt/format.h>

#include "hone/agent/model/wire.h"
#include "hone/base/json.h"

namespace hone::agent::wire {
namespace {

using nlohmann::json;

class ChatReader final : public Reader {
 public:
  std::optional<Flaw> document(const json& body) override {
    if (const json& error = child_of(body, "error"); !error.is_null()) return flaw_of(error);
    reply_.id = text_in(body, "id");
    take_usage(child_of(body, "usage"));
    const json& choices = child_of(body, "choices");
    if (!choices.is_array() || choices.empty()) return Flaw{"an answer without choices"};
    done_ = true;
    return take_choice(choices[0], "message");
  }

  tl::expected<Reply, Flaw> finish() override {
    // Either end may be missing, not both: then the stream was cut.
    if (!done_ && !finished_) return tl::unexpected(Flaw{"the stream ended before the answer did"});
    if (reply_.stop != Stop::kLength && reply_.stop != Stop::kRefused)
      for (const auto& [index, call] : calls_)
        if (const auto flaw = add_call(call.id.empty() ? fmt::format("call_{}", index) : call.id, call.name, call.arguments))
          return tl::unexpected(*flaw);
    if (!reply_.calls.empty()) reply_.stop = Stop::kTools;
    return std::move(reply_);
  }

 private:
  std::optional<Flaw> take(const SseEvent& event, const json& data) override {
    if (event.data == "[DONE]") {
      done_ = true;
      return {};
    }
    if (const json& error = child_of(data, "error"); !error.is_null()) return flaw_of(error);
    if (reply_.id.empty()) reply_.id = text_in(data, "id");
    take_usage(child_of(data, "usage"));
    const json& choices = child_of(data, "choices");
    if (!choices.is_array() || choices.empty()) return {};
    return take_choice(choices[0], "delta");
  }

  std::optional<Flaw> take_choice(const json& choice, const char* key) {
    const json& delta = child_of(choice, key);
    if (const auto flaw = append(text_in(delta, "content"))) return flaw;
    const json& calls = child_of(delta, "tool_calls");
    if (calls.is_array()) {
      for (size_t i = 0; i < calls.size(); ++i) {
        const json& index = child_of(calls[i], "index");
        const int64_t at = index.is_number() ? count_in(calls[i], "index") : static_cast<int64_t>(i);
        if (at >= static_cast<int64_t>(kMaxToolCalls)) return Flaw{"more than 32 tool calls in one answer", false};
        Call& call = calls_[at];
        const json& function = child_of(calls[i], "function");
        if (call.id.empty()) call.id = text_in(calls[i], "id");
        if (call.name.empty()) call.name = text_in(function, "name");
        // A whole document may hold them as an object already.
        const json& arguments = child_of(function, "arguments");
        call.arguments += arguments.is_object() ? base::canonical_json(arguments) : text_in(function, "arguments");
        if (call.arguments.size() > kMaxArguments) return Flaw{"a tool call with more than 256 KiB of arguments", false};
      }
    }
    const std::string reason = text_in(choice, "finish_reason");
    if (reason.empty()) return {};
    finished_ = true;
    if (reason == "length") reply_.stop = Stop::kLength;
    if (reason == "content_filter") reply_.stop = Stop::kRefused;
    return {};
  }

  void take_usage(const json& usage) {
    if (!usage.is_object()) return;
    Usage now;
    now.cache_read = count_in(child_of(usage, "prompt_tokens_details"), "cached_tokens");
    now.input = std::max(int64_t{0}, count_in(usage, "prompt_tokens") - now.cache_read);
    now.output = count_in(usage, "completion_tokens");
    reply_.usage = now;
  }

  struct Call {
    std::string id, name, arguments;
  };
  std::map<int64_t, Call> calls_;
  bool finished_ = false;
};

json call_json(const ToolCall& call) {
  return {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", base::canonical_json(call.arguments)}}}};
}

}  // namespace

json chat_body(const Endpoint& endpoint, const Request& request) {
  json messages = json::array();
  if (!request.system.empty()) messages.push_back({{"role", "system"}, {"content", request.system}});
  for (const Message& message : request.messages) {
    switch (message.role) {
      case Message::Role::kUser: messages.push_back({{"role", "user"}, {"content", message.text}}); break;
      case Message::Role::kTool:
        messages.push_back({{"role", "tool"}, {"tool_call_id", message.call_id}, {"content", message.text}});
        break;
      case Message::Role::kAssistant: {
        json out = {{"role", "assistant"}, {"content", message.text}};
        for (const ToolCall& call : message.calls) out["tool_calls"].push_back(call_json(call));
        messages.push_back(std::move(out));
        break;
      }
    }
  }
  json body = {{"messages", std::move(messages)}, {"stream_options", {{"include_usage", true}}}};
  // OpenAI's own newer models know only the longer name, most other servers only the shorter one.
  const bool own = endpoint.url.find("api.openai.com") != std::string::npos;
  body[own ? "max_completion_tokens" : "max_tokens"] = request.max_output_tokens;
  for (const ToolSpec& tool : request.tools)
    body["tools"].push_back({{"type", "function"},
                             {"function", {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.schema}}}});
  return body;
}

std::unique_ptr<Reader> chat_reader() { return std::make_unique<ChatReader>(); }

}  // namespace hone::agent::wire
