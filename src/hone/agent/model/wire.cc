#include "hone/agent/model/wire.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "hone/base/json.h"

namespace hone::agent {

using nlohmann::json;

namespace {

constexpr std::string_view kProtocolNames[] = {"chat", "responses", "messages"};

}  // namespace

std::string_view name_of(Protocol protocol) { return kProtocolNames[static_cast<size_t>(protocol)]; }

std::optional<Protocol> protocol_from(std::string_view name) {
  for (size_t i = 0; i < std::size(kProtocolNames); ++i)
    if (kProtocolNames[i] == name) return static_cast<Protocol>(i);
  return std::nullopt;
}

std::optional<Flaw> Reader::event(const SseEvent& event) {
  if (event.data == "[DONE]") return take(event, json());
  const auto data = base::parse_json(valid_utf8(event.data), "stream");
  if (!data) return Flaw{"an event of the stream is no JSON: " + data.error().message};
  if (!data->is_object()) return Flaw{"an event of the stream is no JSON object"};
  return take(event, *data);
}

std::optional<Flaw> Reader::append(std::string_view text) {
  if (reply_.text.size() + text.size() > kMaxReplyText) return Flaw{"the answer is longer than 1 MiB", false};
  reply_.text += text;
  return {};
}

std::optional<Flaw> Reader::add_call(std::string id, std::string name, std::string_view arguments) {
  if (name.empty() || id.empty()) return Flaw{"a tool call without name or id"};
  if (reply_.calls.size() >= kMaxToolCalls) return Flaw{"more than 32 tool calls in one answer", false};
  // Some providers leave the arguments of a tool without parameters empty.
  auto parsed = base::parse_json(arguments.empty() ? "{}" : arguments, "arguments");
  if (!parsed || !parsed->is_object())
    return Flaw{fmt::format("the arguments of the tool call {} are no JSON object", bounded(name, 60))};
  reply_.calls.push_back({std::move(id), std::move(name), std::move(*parsed)});
  return {};
}

std::string address_of(const Endpoint& endpoint) {
  std::string url = endpoint.url;
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  constexpr std::string_view kPaths[] = {"/v1/chat/completions", "/v1/responses", "/v1/messages"};
  return url + std::string(kPaths[static_cast<size_t>(endpoint.protocol)]);
}

std::vector<std::pair<std::string, std::string>> headers_of(const Endpoint& endpoint, const std::string& key) {
  std::vector<std::pair<std::string, std::string>> all = {{"Content-Type", "application/json"},
                                                          {"Accept", "text/event-stream, application/json"}};
  if (endpoint.protocol == Protocol::kMessages) {
    all.emplace_back("anthropic-version", "2023-06-01");
    if (!key.empty()) all.emplace_back("x-api-key", key);
  } else if (!key.empty()) {
    all.emplace_back("Authorization", "Bearer " + key);
  }
  return all;
}

std::string body_of(const Endpoint& endpoint, const Request& request) {
  json body;
  switch (endpoint.protocol) {
    case Protocol::kChat: body = wire::chat_body(endpoint, request); break;
    case Protocol::kResponses: body = wire::responses_body(endpoint, request); break;
    case Protocol::kMessages: body = wire::messages_body(endpoint, request); break;
  }
  body["model"] = endpoint.model;
  body["stream"] = true;
  if (endpoint.temperature) body["temperature"] = *endpoint.temperature;
  return base::canonical_json(body);
}

std::unique_ptr<Reader> make_reader(Protocol protocol) {
  switch (protocol) {
    case Protocol::kChat: return wire::chat_reader();
    case Protocol::kResponses: return wire::responses_reader();
    case Protocol::kMessages: return wire::messages_reader();
  }
  return nullptr;
}

namespace wire {

std::string text_in(const json& object, const char* key) {
  const json& value = child_of(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

int64_t count_in(const json& object, const char* key) {
  const json& value = child_of(object, key);
  constexpr int64_t kMost = int64_t{1} << 40;
  if (value.is_number_unsigned()) return static_cast<int64_t>(std::min(value.get<uint64_t>(), uint64_t{kMost}));
  if (value.is_number_integer()) return std::clamp(value.get<int64_t>(), int64_t{0}, kMost);
  return 0;
}

const json& child_of(const json& object, const char* key) {
  static const json none;
  if (!object.is_object()) return none;
  const auto it = object.find(key);
  return it == object.end() ? none : *it;
}

Flaw flaw_of(const json& error) {
  const std::string type = text_in(error, "type"), code = text_in(error, "code");
  std::string message = error.is_string() ? error.get<std::string>() : text_in(error, "message");
  if (message.empty()) message = type.empty() ? "no reason given" : type;
  // What will not be better a moment later.
  constexpr std::string_view kFinal[] = {"insufficient_quota", "invalid_request_error", "authentication_error", "permission_error",
                                         "not_found_error",    "billing_error",         "request_too_large",    "context_length_exceeded"};
  const bool final = std::any_of(std::begin(kFinal), std::end(kFinal), [&](auto name) { return type == name || code == name; });
  return {fmt::format("the provider says: {}", bounded(message, 500)), !final};
}

}  // namespace wire
}  // namespace hone::agent
