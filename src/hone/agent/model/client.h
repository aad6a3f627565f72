// A model that can be asked. Two kinds: over HTTP, with retries under a deadline, and a program on a pipe.
// Thread-safe: several calls at once. Whatever goes wrong is in the Exchange, with every attempt that was
// made; a reply is there only when it is whole.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/agent/model/retry.h"
#include "hone/agent/model/secret.h"
#include "hone/agent/model/wire.h"
#include "hone/base/clock.h"

namespace hone::agent {

/// One time that a request was sent.
struct Attempt {
  int status = 0;                ///< of HTTP; 0: none came
  std::string problem;           ///< empty: it answered
  std::optional<Usage> usage;    ///< as the provider said
  bool began = false;            ///< an answer began, so it may be on the bill
  int64_t latency_ns = 0;
  int64_t waited_ns = 0;         ///< before it, for an earlier attempt's sake
  std::string id;                ///< the provider's
  template <class F>
  void fields(F& f) {
    f("status", status, "of HTTP; 0: none came");
    f("problem", problem, "empty: it answered");
    f.or_null("usage", usage, "as the provider counted");
    f("began", began, "an answer began, so it may be on the bill");
    f("latency_ns", latency_ns, "how long it took");
    f("waited_ns", waited_ns, "before it, for an earlier attempt's sake");
    f("id", id, "the provider's");
  }
};

struct Exchange {
  std::optional<Reply> reply;
  std::string problem;           ///< why there is no reply
  bool cancelled = false;
  std::vector<Attempt> attempts;
};

/// Stands before every attempt: nothing is sent that it does not admit.
class Gate {
 public:
  virtual ~Gate() = default;
  [[nodiscard]] virtual bool admit() = 0;
  /// Follows each admit().
  virtual void settle(const Attempt& attempt) = 0;
};

struct Call {
  Gate* gate = nullptr;                 ///< may be null
  std::function<bool()> cancelled;      ///< polled; may be empty
};

class ModelClient {
 public:
  virtual ~ModelClient() = default;
  [[nodiscard]] virtual Exchange complete(const Request& request, const Call& call) = 0;
};

/// Time as clients spend it; tests have their own.
struct Waiting {
  base::Clock* clock = nullptr;
  /// Returns early when `cancelled` says so.
  std::function<void(std::chrono::milliseconds, const std::function<bool()>& cancelled)> sleep;
  std::function<double()> uniform;      ///< for jitter, in [0, 1)
};
[[nodiscard]] Waiting system_waiting();

struct Timeouts {
  std::chrono::milliseconds connect{10'000}, idle{120'000}, total{600'000};
};

[[nodiscard]] std::unique_ptr<ModelClient> http_client(Endpoint endpoint, Secret key, std::shared_ptr<HttpTransport> transport,
                                                       RetryPolicy policy, Timeouts timeouts, Waiting waiting);

/// `command`: program and arguments as typed, quotes as a shell has them, nothing else of a shell. It gets
/// the whole conversation on standard input and answers on standard output; it sees PATH, HOME, the locale,
/// and no key, and starts in an empty folder. Tools are not offered to it. kInput where the program is not
/// there.
[[nodiscard]] Result<std::unique_ptr<ModelClient>> command_client(const std::string& command, Timeouts timeouts, base::Clock& clock);

/// The conversation as a program reads it.
[[nodiscard]] std::string prompt_text(const Request& request);

}  // namespace hone::agent
