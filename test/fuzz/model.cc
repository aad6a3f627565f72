// Models' answers: streams and documents of the three protocols, and what is made of their text. The first byte says which protocol
// and whether it is an error, the second in which pieces it comes.
#include <algorithm>

#include "fuzz.h"
#include "hone/agent/answer.h"
#include "hone/agent/model/client.h"

namespace hone::agent {
namespace {

class Canned final : public HttpTransport {
 public:
  Canned(std::string_view body, size_t piece, int status) : body_(body), piece_(piece), status_(status) {}
  HttpEnd post(const HttpRequest&, const std::function<bool(const HttpHead&, std::string_view)>& take, const std::function<bool()>&) override {
    HttpEnd end;
    end.head.status = status_;
    for (size_t at = 0; at < body_.size(); at += piece_)
      if (!take(end.head, body_.substr(at, piece_))) {
        end.how = HttpEnd::How::kStopped;
        break;
      }
    return end;
  }

 private:
  std::string_view body_;
  size_t piece_;
  int status_;
};

HONE_FUZZ(model) {
  if (input.size() < 2 || input.size() > hone::fuzz::kMostBytes) return;
  const auto first = static_cast<unsigned char>(input[0]), second = static_cast<unsigned char>(input[1]);
  const std::string_view body = input.substr(2);
  Endpoint endpoint;
  endpoint.protocol = first == 'r' ? Protocol::kResponses : first == 'm' ? Protocol::kMessages : Protocol::kChat;
  endpoint.url = "http://127.0.0.1:1";
  RetryPolicy once;
  once.attempts = 1;
  const auto transport = std::make_shared<Canned>(body, second < 'a' ? std::max<size_t>(second, 1) : body.size() + 1, first == 'e' ? 429 : 200);
  const Exchange exchange = http_client(endpoint, Secret(), transport, once, {}, system_waiting())->complete({}, {});
  hone::fuzz::require(exchange.reply.has_value() == exchange.problem.empty(), "a reply, or why there is none");
  const std::string text = exchange.reply ? exchange.reply->text : std::string(body);
  if (exchange.reply) {
    for (const ToolCall& call : exchange.reply->calls) hone::fuzz::require(call.arguments.is_object(), "arguments are an object");
    Request next;
    next.messages.push_back(exchange.reply->message());
    for (const Protocol protocol : {Protocol::kChat, Protocol::kResponses, Protocol::kMessages}) endpoint.protocol = protocol, static_cast<void>(body_of(endpoint, next));
  }
  for (const auto language : {hone::kernel::Language::kCpp, hone::kernel::Language::kTriton}) static_cast<void>(kernel_answer(text, language));
  static_cast<void>(diagnosis_answer(text, {"vector_share"})), static_cast<void>(research_answer(text)), static_cast<void>(task_answer(text));
}

}  // namespace
}  // namespace hone::agent
