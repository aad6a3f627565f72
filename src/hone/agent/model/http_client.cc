#include <algorithm>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "hone/agent/model/client.h"
#include "hone/base/json.h"

namespace hone::agent {
namespace {

using nlohmann::json;

constexpr size_t kMaxErrorBody = size_t{64} << 10;
constexpr size_t kMaxDocument = size_t{8} << 20;
constexpr size_t kMaxStream = size_t{64} << 20;  ///< bytes, whatever is in them

/// What became of one attempt.
struct Outcome {
  Attempt attempt;
  std::optional<Reply> reply;
  bool again = false;
  bool cancelled = false;
  HttpHead head;
};

bool is_stream(const HttpHead& head, std::string_view first) {
  const std::string type = head.header("content-type");
  if (type.find("event-stream") != std::string::npos) return true;
  if (type.find("json") != std::string::npos) return false;
  const size_t at = first.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos || first[at] != '{';
}

/// Takes in one answer's body, piece by piece.
class Intake {
 public:
  explicit Intake(Protocol protocol) : reader_(make_reader(protocol)) {}

  bool take(const HttpHead& head, std::string_view bytes) {
    began_ = began_ || !bytes.empty();
    total_ += bytes.size();
    if (head.status < 200 || head.status > 299) {
      text_ += bytes.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, text_.size()));
      return text_.size() < kMaxErrorBody;
    }
    if (!stream_) stream_ = is_stream(head, bytes);
    if (total_ > (*stream_ ? kMaxStream : kMaxDocument)) {
      flaw_ = Flaw{"the answer is absurdly long", false};
      return false;
    }
    if (!*stream_) {
      text_ += bytes;
      return true;
    }
    const auto events = parser_.feed(bytes);
    if (!events) {
      flaw_ = Flaw{events.error().message, false};
      return false;
    }
    for (const SseEvent& event : *events) {
      flaw_ = reader_->event(event);
      if (flaw_) return false;
      if (reader_->done()) return false;  // some servers leave the connection open
    }
    return true;
  }

  [[nodiscard]] tl::expected<Reply, Flaw> finish(const HttpEnd& end) {
    if (flaw_) return tl::unexpected(*flaw_);
    if (stream_.value_or(true)) {
      if (!reader_->done() && end.how != HttpEnd::How::kComplete)
        return tl::unexpected(Flaw{"the stream broke: " + (end.problem.empty() ? std::string("no reason known") : end.problem)});
      return reader_->finish();
    }
    if (end.how != HttpEnd::How::kComplete) return tl::unexpected(Flaw{"the answer broke off: " + end.problem});
    const auto body = base::parse_json(valid_utf8(text_), "answer");
    if (!body) return tl::unexpected(Flaw{"the answer is no JSON: " + body.error().message});
    if (auto flaw = reader_->document(*body)) return tl::unexpected(*flaw);
    return reader_->finish();
  }

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] bool began() const { return began_; }
  [[nodiscard]] const std::optional<Usage>& usage() const { return reader_->usage(); }

 private:
  std::unique_ptr<Reader> reader_;
  SseParser parser_;
  std::optional<bool> stream_;
  std::optional<Flaw> flaw_;
  std::string text_;
  size_t total_ = 0;
  bool began_ = false;
};

class HttpClient final : public ModelClient {
 public:
  HttpClient(Endpoint endpoint, Secret key, std::shared_ptr<HttpTransport> transport, RetryPolicy policy, Timeouts timeouts, Waiting waiting)
      : endpoint_(std::move(endpoint)), key_(std::move(key)), transport_(std::move(transport)), policy_(policy), timeouts_(timeouts),
        waiting_(std::move(waiting)) {}

  Exchange complete(const Request& request, const Call& call) override {
    HttpRequest post;
    post.url = address_of(endpoint_);
    post.headers = headers_of(endpoint_, key_.reveal());
    post.body = body_of(endpoint_, request);
    post.connect = timeouts_.connect;
    post.idle = timeouts_.idle;
    post.total = timeouts_.total;
    Exchange exchange;
    const int64_t start = waiting_.clock->now_ns();
    const auto spent = [&] { return std::chrono::milliseconds((waiting_.clock->now_ns() - start) / 1'000'000); };
    std::chrono::milliseconds wait{0};
    for (int n = 0; n < policy_.attempts; ++n) {
      const auto cancelled = [&] { return call.cancelled && call.cancelled(); };
      if (wait.count() > 0) waiting_.sleep(wait, call.cancelled);
      if (cancelled()) {
        exchange.cancelled = true;
        exchange.problem = "cancelled";
        break;
      }
      if (call.gate && !call.gate->admit()) {
        exchange.problem = n == 0 ? "the budget does not allow it" : exchange.problem + "; the budget does not allow another attempt";
        break;
      }
      Outcome outcome = once(post, call);
      outcome.attempt.waited_ns = std::chrono::nanoseconds(wait).count();
      if (call.gate) call.gate->settle(outcome.attempt);
      exchange.attempts.push_back(outcome.attempt);
      exchange.problem = outcome.attempt.problem;
      exchange.cancelled = outcome.cancelled;
      if (outcome.reply) {
        exchange.reply = std::move(outcome.reply);
        exchange.problem.clear();
        break;
      }
      if (!outcome.again || n + 1 == policy_.attempts) break;
      wait = asked_wait(outcome.head, waiting_.clock->unix_ms()).value_or(backoff(policy_, n, waiting_.uniform()));
      if (spent() + wait > policy_.total) {
        exchange.problem += fmt::format("; the next attempt would be {} s from now, past the deadline", wait.count() / 1000);
        break;
      }
    }
    return exchange;
  }

 private:
  Outcome once(const HttpRequest& post, const Call& call) {
    Intake intake(endpoint_.protocol);
    Outcome out;
    const int64_t before = waiting_.clock->now_ns();
    const HttpEnd end = transport_->post(
        post, [&](const HttpHead& head, std::string_view bytes) { return intake.take(head, bytes); }, call.cancelled);
    out.attempt.latency_ns = waiting_.clock->now_ns() - before;
    out.attempt.status = end.head.status;
    out.head = end.head;
    if (end.how == HttpEnd::How::kCancelled) {
      out.cancelled = true;
      out.attempt.problem = "cancelled";
      // What was sent may be on the bill, whether or not the answer had begun.
      out.attempt.began = true;
      out.attempt.usage = intake.usage();
      return out;
    }
    if (end.head.status == 0) {
      out.attempt.problem = key_.redact("no answer: " + end.problem);
      out.again = true;
      // A connection that died while we waited may have been served.
      out.attempt.began = end.how != HttpEnd::How::kUnreachable;
      return out;
    }
    if (end.head.status < 200 || end.head.status > 299) {
      refuse(intake.text(), end, out);
      return out;
    }
    out.attempt.began = true;
    auto reply = intake.finish(end);
    out.attempt.usage = intake.usage();
    if (!reply) {
      out.attempt.problem = key_.redact(reply.error().problem);
      out.again = reply.error().again;
      return out;
    }
    reply->text = key_.redact(std::move(reply->text));
    out.attempt.usage = reply->usage;
    out.attempt.id = bounded(reply->id, 200);
    out.reply = std::move(*reply);
    return out;
  }

  void refuse(const std::string& text, const HttpEnd& end, Outcome& out) const {
    const int status = end.head.status;
    out.again = may_retry(status);
    std::string why;
    const auto body = base::parse_json(valid_utf8(text), "error");
    if (body && body->is_object()) {
      const json& error = wire::child_of(*body, "error");
      const Flaw flaw = wire::flaw_of(error.is_null() ? *body : error);
      // A quota that is used up comes as 429, too, and no waiting helps.
      if (!flaw.again) out.again = false;
      why = flaw.problem;
    } else if (!text.empty()) {
      why = bounded(valid_utf8(text), 300);
    }
    if (status >= 300 && status < 400) why = "it redirects elsewhere, where a key must not follow";
    out.attempt.problem = key_.redact(fmt::format("HTTP status {}{}{}", status, why.empty() ? "" : ": ", why));
  }

  Endpoint endpoint_;
  Secret key_;
  std::shared_ptr<HttpTransport> transport_;
  RetryPolicy policy_;
  Timeouts timeouts_;
  Waiting waiting_;
};

}  // namespace

Waiting system_waiting() {
  Waiting waiting;
  waiting.clock = &base::system_clock();
  waiting.sleep = [](std::chrono::milliseconds time, const std::function<bool()>& cancelled) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end && !(cancelled && cancelled()))
      std::this_thread::sleep_for(std::min(std::chrono::milliseconds(100),
                                           std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()) +
                                               std::chrono::milliseconds(1)));
  };
  waiting.uniform = [] {
    thread_local std::mt19937_64 engine{std::random_device{}()};
    return std::uniform_real_distribution<double>(0, 1)(engine);
  };
  return waiting;
}

std::unique_ptr<ModelClient> http_client(Endpoint endpoint, Secret key, std::shared_ptr<HttpTransport> transport, RetryPolicy policy,
                                         Timeouts timeouts, Waiting waiting) {
  return std::make_unique<HttpClient>(std::move(endpoint), std::move(key), std::move(transport), policy, timeouts, std::move(waiting));
}

}  // namespace hone::agent
