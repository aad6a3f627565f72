#include "hone/agent/model/message.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/base/fields.h"
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

json message_json(const Message& message) {
  json out = {{"role", kRoles[static_cast<size_t>(message.role)]}, {"text", message.text}};
  if (!message.calls.empty()) out["calls"] = base::json_of(message.calls);
  if (!message.call_id.empty()) out["call_id"] = message.call_id;
  if (message.failed) out["failed"] = true;
  if (!message.raw.empty()) out["raw"] = message.raw;
  return out;
}

}  // namespace

std::string_view name_of(Stop stop) { return kStops[static_cast<size_t>(stop)]; }

std::optional<Stop> from_name(std::string_view name, Stop) {
  const auto at = std::find(std::begin(kStops), std::end(kStops), name);
  return at == std::end(kStops) ? std::nullopt : std::optional(static_cast<Stop>(at - std::begin(kStops)));
}

std::string Request::to_json() const {
  json out = {{"system", system}, {"messages", json::array()}, {"tools", base::json_of(tools)}, {"max_output_tokens", max_output_tokens}};
  for (const Message& message : messages) out["messages"].push_back(message_json(message));
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
