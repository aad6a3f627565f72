// HTTP as model clients need it: one POST, whose answer is handed on piece by piece. Whatever the network
// or the server does wrong is data (HttpEnd), never an Error. The curl transport is thread-safe; tests put
// their own in its place. Never follows redirects: a key goes to the host that the user named, or nowhere.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::agent {

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::chrono::milliseconds connect{10'000};   ///< until a connection stands
  std::chrono::milliseconds idle{120'000};     ///< without a single byte
  std::chrono::milliseconds total{600'000};    ///< for the whole answer: a drip of bytes ends here
};

struct HttpHead {
  int status = 0;
  std::map<std::string, std::string> headers;  ///< names in lower case
  [[nodiscard]] std::string header(const std::string& name) const {
    const auto it = headers.find(name);
    return it == headers.end() ? std::string() : it->second;
  }
};

struct HttpEnd {
  enum class How : uint8_t {
    kComplete,
    kUnreachable,   ///< no connection, no name, no certificate: nothing was sent
    kBroken,        ///< the connection ended before the answer did
    kTimedOut,
    kStopped,       ///< the receiver had enough
    kCancelled,
  } how = How::kComplete;
  HttpHead head;
  std::string problem;   ///< one line; empty when complete
};

class HttpTransport {
 public:
  virtual ~HttpTransport() = default;
  /// Sends and hands on the answer's body in pieces; `take` returns false to stop. `cancelled` is polled at
  /// least twice a second and may be empty.
  [[nodiscard]] virtual HttpEnd post(const HttpRequest& request,
                                     const std::function<bool(const HttpHead&, std::string_view)>& take,
                                     const std::function<bool()>& cancelled) = 0;
};

/// By libcurl. http and https only.
[[nodiscard]] std::unique_ptr<HttpTransport> curl_transport();

}  // namespace hone::agent
