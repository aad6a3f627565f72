#include "hone/agent/model/message.h"

#include <fmt/format.h>

#include "hone/base/hash.h"
#include "hone/base/json.h"

namespace hone::agent {

using nlohmann::json;

namespace {

constexpr std::string_view kStops[] = {"end", "tools", "length", "refused"};
constexpr std::string_view kRoles[] = {"user", "assistant", "tool"};
constexpr int64_t kTemplateTokens = 16;

/// Length of the UTF-8 sequence that begins at `at`; 0 where none does (overlong forms, surrogates and
/// values beyond U+10FFFF are none).
size_t sequence_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0U; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    if (!continues(1) || !continues(2)) return 0;
    if (first == 0xE0 && byte(1) < 0xA0) return 0;
    if (first == 0xED && byte(1) > 0x9F) return 0;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3)) return 0;
    if (first == 0xF0 && byte(1) < 0x90) return 0;
    if (first == 0xF4 && byte(1) > 0x8F) return 0;
    return 4;
  }
  return 0;
}

json json_of(const ToolCall& call) { return {{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}}; }

json json_of(const Message& message) {
  json out = {{"role", kRoles[static_cast<size_t>(message.role)]}, {"text", message.text}};
  for (const ToolCall& call : message.calls) out["calls"].push_back(json_of(call));
  if (!message.call_id.empty()) out["call_id"] = message.call_id;
  if (message.failed) out["failed"] = true;
  if (!message.raw.empty()) out["raw"] = message.raw;
  return out;
}

}  // namespace

std::string_view name_of(Stop stop) { return kStops[static_cast<size_t>(stop)]; }

std::string Request::to_json() const {
  json out = {{"system", system}, {"messages", json::array()}, {"tools", json::array()}, {"max_output_tokens", max_output_tokens}};
  for (const Message& message : messages) out["messages"].push_back(json_of(message));
  for (const ToolSpec& tool : tools) out["tools"].push_back(agent::to_json(tool));
  return base::canonical_json(out);
}

std::string Request::hash(std::string_view model) const { return base::Hasher().add(model).add(to_json()).finish(); }

int64_t Request::most_input_tokens() const {
  return static_cast<int64_t>(to_json().size()) + kTemplateTokens * static_cast<int64_t>(messages.size() + tools.size() + 1);
}

Usage& Usage::operator+=(const Usage& other) {
  input += other.input, cache_read += other.cache_read, cache_write += other.cache_write, output += other.output;
  return *this;
}

Message Reply::message() const { return {Message::Role::kAssistant, text, calls, {}, false, raw}; }

json to_json(const ToolSpec& tool) { return {{"name", tool.name}, {"description", tool.description}, {"schema", tool.schema}}; }

ToolSpec tool_spec_from(const json& value) { return {value.at("name"), value.at("description"), value.at("schema")}; }

json to_json(const Usage& usage) {
  return {{"input", usage.input}, {"cache_read", usage.cache_read}, {"cache_write", usage.cache_write}, {"output", usage.output}};
}

Usage usage_from(const json& value) {
  return {value.value("input", int64_t{0}), value.value("cache_read", int64_t{0}), value.value("cache_write", int64_t{0}),
          value.value("output", int64_t{0})};
}

json to_json(const Reply& reply) {
  json out = {{"text", reply.text}, {"stop", name_of(reply.stop)}, {"id", reply.id}, {"raw", reply.raw}, {"calls", json::array()},
              {"usage", reply.usage ? to_json(*reply.usage) : json()}};
  for (const ToolCall& call : reply.calls) out["calls"].push_back(json_of(call));
  return out;
}

Result<Reply> reply_from(const json& value) try {
  Reply reply;
  reply.text = value.at("text").get<std::string>();
  reply.id = value.at("id").get<std::string>();
  reply.raw = value.at("raw");
  const std::string stop = value.at("stop");
  bool known = false;
  for (size_t i = 0; i < std::size(kStops); ++i)
    if (kStops[i] == stop) reply.stop = static_cast<Stop>(i), known = true;
  if (!known) return fail(ErrorCode::kCorrupt, fmt::format("a recorded reply stops by \"{}\"", stop));
  if (!value.at("usage").is_null()) reply.usage = usage_from(value.at("usage"));
  for (const json& call : value.at("calls"))
    reply.calls.push_back({call.at("id").get<std::string>(), call.at("name").get<std::string>(), call.at("arguments")});
  return reply;
} catch (const json::exception& e) {
  return fail(ErrorCode::kCorrupt, fmt::format("a recorded reply cannot be read: {}", e.what()));
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t length = sequence_at(text, at);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++at;
    } else {
      out.append(text.substr(at, length));
      at += length;
    }
  }
  return out;
}

std::string bounded(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return fmt::format("{}\n[cut: {} more bytes]", text.substr(0, end), text.size() - end);
}

}  // namespace hone::agent
