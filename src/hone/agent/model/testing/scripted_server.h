// A server on 127.0.0.1 that answers as a script says, well or badly: statuses, headers, chunks cut
// anywhere, pauses, streams that break. Speaks all three protocols through answer(). For tests. The script
// is called from the server's threads, one call at a time.
#pragma once
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/agent/model/wire.h"

namespace hone::agent::testing {

struct Scripted {
  int status = 200;
  std::string type = "text/event-stream";
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::string> chunks;
  std::chrono::milliseconds between{0};   ///< before each chunk
  bool breaks = false;                    ///< the connection ends behind the last chunk, mid-answer
};

struct Received {
  std::string path, body;
  std::multimap<std::string, std::string> headers;
  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(body); }
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? "" : it->second;
  }
};

class ScriptedServer {
 public:
  using Script = std::function<Scripted(const Received&, int number)>;

  explicit ScriptedServer(Script script) : script_(std::move(script)) {
    server_.new_task_queue = [] { return new httplib::ThreadPool(8); };
    server_.Post(".*", [this](const httplib::Request& request, httplib::Response& response) { serve(request, response); });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~ScriptedServer() {
    ending_ = true;
    server_.stop();
    thread_.join();
  }

  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  [[nodiscard]] std::vector<Received> received() const {
    const std::scoped_lock lock(mutex_);
    return received_;
  }

 private:
  void serve(const httplib::Request& request, httplib::Response& response) {
    Scripted scripted;
    {
      const std::scoped_lock lock(mutex_);
      Received received{request.path, request.body, {}};
      for (const auto& [name, value] : request.headers) received.headers.emplace(name, value);
      received_.push_back(received);
      scripted = script_(received, static_cast<int>(received_.size()) - 1);
    }
    response.status = scripted.status;
    for (const auto& [name, value] : scripted.headers) response.set_header(name.c_str(), value);
    auto state = std::make_shared<std::pair<Scripted, size_t>>(scripted, 0);
    response.set_chunked_content_provider(scripted.type.c_str(), [this, state](size_t, httplib::DataSink& sink) {
      auto& [script, at] = *state;
      if (ending_) return false;
      if (at == script.chunks.size()) {
        if (script.breaks) return false;
        sink.done();
        return true;
      }
      for (auto left = script.between; left.count() > 0 && !ending_; left -= std::chrono::milliseconds(10))
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::string& chunk = script.chunks[at++];
      return sink.write(chunk.data(), chunk.size());
    });
  }

  Script script_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::vector<Received> received_;
  std::atomic<bool> ending_{false};
};

/// What a model answers, before it has a wire.
struct Said {
  std::string text;
  std::vector<ToolCall> calls;
  Usage usage{100, 20, 0, 50};
  bool length = false;      ///< stopped at its limit
};

inline std::string sse(const nlohmann::json& data, bool named) {
  return (named ? "event: " + data.value("type", "") + "\n" : "") + "data: " + data.dump() + "\n\n";
}

inline std::vector<std::string> chat_events(const Said& said) {
  using nlohmann::json;
  std::vector<std::string> out;
  const auto chunk = [&](json delta, json reason) {
    out.push_back(sse({{"id", "chat-1"}, {"choices", json::array({{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(reason)}}})}}, false));
  };
  for (size_t at = 0; at < said.text.size(); at += 7) chunk({{"content", said.text.substr(at, 7)}}, nullptr);
  for (size_t i = 0; i < said.calls.size(); ++i) {
    chunk({{"tool_calls", json::array({{{"index", i}, {"id", said.calls[i].id}, {"type", "function"}, {"function", {{"name", said.calls[i].name}, {"arguments", ""}}}}})}}, nullptr);
    const std::string arguments = said.calls[i].arguments.dump();
    for (size_t at = 0; at < arguments.size(); at += 5)
      chunk({{"tool_calls", json::array({{{"index", i}, {"function", {{"arguments", arguments.substr(at, 5)}}}}})}}, nullptr);
  }
  chunk(json::object(), said.length ? "length" : said.calls.empty() ? "stop" : "tool_calls");
  out.push_back(sse({{"id", "chat-1"}, {"choices", json::array()},
                     {"usage", {{"prompt_tokens", said.usage.input + said.usage.cache_read}, {"completion_tokens", said.usage.output},
                                {"prompt_tokens_details", {{"cached_tokens", said.usage.cache_read}}}}}}, false));
  out.push_back("data: [DONE]\n\n");
  return out;
}

inline std::vector<std::string> responses_events(const Said& said) {
  using nlohmann::json;
  std::vector<std::string> out;
  int number = 0;
  const auto event = [&](json data) {
    data["sequence_number"] = number++;
    out.push_back(sse(data, true));
  };
  event({{"type", "response.created"}, {"response", {{"id", "resp-1"}, {"status", "in_progress"}}}});
  json output = json::array();
  for (size_t at = 0; at < said.text.size(); at += 7) event({{"type", "response.output_text.delta"}, {"delta", said.text.substr(at, 7)}});
  if (!said.text.empty())
    output.push_back({{"type", "message"}, {"role", "assistant"}, {"content", json::array({{{"type", "output_text"}, {"text", said.text}}})}});
  for (const ToolCall& call : said.calls) {
    event({{"type", "response.function_call_arguments.delta"}, {"delta", call.arguments.dump()}});
    output.push_back({{"type", "function_call"}, {"call_id", call.id}, {"name", call.name}, {"arguments", call.arguments.dump()}});
  }
  for (const json& item : output) event({{"type", "response.output_item.done"}, {"item", item}});
  json response = {{"id", "resp-1"}, {"status", said.length ? "incomplete" : "completed"}, {"output", output},
                   {"usage", {{"input_tokens", said.usage.input + said.usage.cache_read}, {"output_tokens", said.usage.output},
                              {"input_tokens_details", {{"cached_tokens", said.usage.cache_read}}}}}};
  if (said.length) response["incomplete_details"] = {{"reason", "max_output_tokens"}};
  event({{"type", said.length ? "response.incomplete" : "response.completed"}, {"response", response}});
  return out;
}

inline std::vector<std::string> messages_events(const Said& said) {
  using nlohmann::json;
  std::vector<std::string> out;
  const auto event = [&](const json& data) { out.push_back(sse(data, true)); };
  event({{"type", "message_start"}, {"message", {{"id", "msg-1"}, {"usage", {{"input_tokens", said.usage.input}, {"output_tokens", 1},
         {"cache_read_input_tokens", said.usage.cache_read}, {"cache_creation_input_tokens", said.usage.cache_write}}}}}});
  event({{"type", "ping"}});
  int index = 0;
  if (!said.text.empty()) {
    event({{"type", "content_block_start"}, {"index", index}, {"content_block", {{"type", "text"}, {"text", ""}}}});
    for (size_t at = 0; at < said.text.size(); at += 7)
      event({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", "text_delta"}, {"text", said.text.substr(at, 7)}}}});
    event({{"type", "content_block_stop"}, {"index", index++}});
  }
  for (const ToolCall& call : said.calls) {
    event({{"type", "content_block_start"}, {"index", index}, {"content_block", {{"type", "tool_use"}, {"id", call.id}, {"name", call.name}, {"input", json::object()}}}});
    const std::string arguments = call.arguments.dump();
    for (size_t at = 0; at < arguments.size(); at += 5)
      event({{"type", "content_block_delta"}, {"index", index}, {"delta", {{"type", "input_json_delta"}, {"partial_json", arguments.substr(at, 5)}}}});
    event({{"type", "content_block_stop"}, {"index", index++}});
  }
  event({{"type", "message_delta"}, {"delta", {{"stop_reason", said.length ? "max_tokens" : said.calls.empty() ? "end_turn" : "tool_use"}}},
         {"usage", {{"output_tokens", said.usage.output}}}});
  event({{"type", "message_stop"}});
  return out;
}

/// The stream that says it; ASCII text only, as chunks are cut every few bytes.
inline std::vector<std::string> events_of(Protocol protocol, const Said& said) {
  switch (protocol) {
    case Protocol::kChat: return chat_events(said);
    case Protocol::kResponses: return responses_events(said);
    case Protocol::kMessages: return messages_events(said);
  }
  return {};
}

inline Scripted answer(Protocol protocol, const Said& said) {
  Scripted scripted;
  scripted.chunks = events_of(protocol, said);
  return scripted;
}

}  // namespace hone::agent::testing
