// The three wire protocols: how a request becomes a POST and how the answer's stream becomes a reply. Pure
// but for the reader's own state; one thread a reader. What the stream does wrong comes back as a Flaw;
// a reply exists only when the stream said that it is complete and every tool call in it parses.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/agent/model/message.h"
#include "hone/agent/model/sse.h"

namespace hone::agent {

enum class Protocol : uint8_t { kChat, kResponses, kMessages };
[[nodiscard]] std::string_view name_of(Protocol protocol);  ///< "chat", "responses", "messages"
[[nodiscard]] std::optional<Protocol> protocol_from(std::string_view name);

/// What is wrong with an answer.
struct Flaw {
  std::string problem;       ///< one line
  bool again = true;         ///< sending the same once more may help
};

/// Reads one answer.
class Reader {
 public:
  virtual ~Reader() = default;
  /// The next event of a stream. A flaw ends it.
  [[nodiscard]] std::optional<Flaw> event(const SseEvent& event);
  /// An answer that came as one JSON document, as some relays send it.
  [[nodiscard]] virtual std::optional<Flaw> document(const nlohmann::json& body) = 0;
  /// After the last event: the reply, unless it is incomplete.
  [[nodiscard]] virtual tl::expected<Reply, Flaw> finish() = 0;
  /// Nothing more is to come, whatever the connection does.
  [[nodiscard]] bool done() const { return done_; }
  /// What it is known to have cost so far; absent while nothing is known.
  [[nodiscard]] const std::optional<Usage>& usage() const { return reply_.usage; }

 protected:
  [[nodiscard]] virtual std::optional<Flaw> take(const SseEvent& event, const nlohmann::json& data) = 0;
  /// `text` to the reply's; a flaw beyond the bound.
  [[nodiscard]] std::optional<Flaw> append(std::string_view text);
  /// Adds the call; a flaw where `arguments` is no JSON object: half a call is none.
  [[nodiscard]] std::optional<Flaw> add_call(std::string id, std::string name, std::string_view arguments);

  Reply reply_;
  bool done_ = false;
};

/// Where and how to reach a model.
struct Endpoint {
  Protocol protocol = Protocol::kChat;
  std::string url;           ///< up to and without /v1/...: "http://127.0.0.1:8000"
  std::string model;         ///< as the provider calls it
  std::optional<double> temperature;
};

/// The address that requests go to.
[[nodiscard]] std::string address_of(const Endpoint& endpoint);
/// Headers, `key` among them where it is not empty.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> headers_of(const Endpoint& endpoint, const std::string& key);
/// The body, byte-stable.
[[nodiscard]] std::string body_of(const Endpoint& endpoint, const Request& request);
[[nodiscard]] std::unique_ptr<Reader> make_reader(Protocol protocol);

namespace wire {
/// One a protocol; wire.cc chooses.
[[nodiscard]] nlohmann::json chat_body(const Endpoint& endpoint, const Request& request);
[[nodiscard]] nlohmann::json responses_body(const Endpoint& endpoint, const Request& request);
[[nodiscard]] nlohmann::json messages_body(const Endpoint& endpoint, const Request& request);
[[nodiscard]] std::unique_ptr<Reader> chat_reader();
[[nodiscard]] std::unique_ptr<Reader> responses_reader();
[[nodiscard]] std::unique_ptr<Reader> messages_reader();
/// Members that a provider may have left out, or filled with something else.
[[nodiscard]] std::string text_in(const nlohmann::json& object, const char* key);
[[nodiscard]] int64_t count_in(const nlohmann::json& object, const char* key);
[[nodiscard]] const nlohmann::json& child_of(const nlohmann::json& object, const char* key);
/// An error that a provider sent inside a stream or document.
[[nodiscard]] Flaw flaw_of(const nlohmann::json& error);
}  // namespace wire

}  // namespace hone::agent
