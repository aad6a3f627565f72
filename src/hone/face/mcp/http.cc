#include "hone/face/mcp/server.h"

#ifdef HONE_WITHOUT_HTTP

namespace hone::face::mcp {

Status serve_http(const Server&, const HttpOptions&, const std::function<void(int)>&, const std::function<bool()>&) {
  return fail(ErrorCode::kUnavailable, "this build of hone has no HTTP; speak to it over standard input and output (hone mcp)");
}

}  // namespace hone::face::mcp

#else

#include <httplib.h>

#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <sodium.h>

#include "hone/base/json.h"

namespace hone::face::mcp {
namespace {

constexpr size_t kMaxBody = size_t{4} << 20;

/// A page in a browser may reach us; it is let in only if it lies on this machine.
bool is_local(const std::string& origin) {
  for (const char* host : {"http://127.0.0.1", "http://localhost", "http://[::1]"}) {
    const std::string_view start = host;
    if (origin.starts_with(start) && (origin.size() == start.size() || origin[start.size()] == ':')) return true;
  }
  return false;
}

bool same(const std::string& a, const std::string& b) { return a.size() == b.size() && sodium_memcmp(a.data(), b.data(), a.size()) == 0; }

}  // namespace

Status serve_http(const Server& server, const HttpOptions& options, const std::function<void(int)>& ready, const std::function<bool()>& stop) {
  httplib::Server http;
  http.set_payload_max_length(kMaxBody);
  const auto refuse = [](httplib::Response& response, int status, const char* why) {
    response.status = status;
    response.set_content(why, "text/plain");
  };
  http.Post("/mcp", [&](const httplib::Request& request, httplib::Response& response) {
    if (const std::string origin = request.get_header_value("Origin"); !origin.empty() && !is_local(origin))
      return refuse(response, 403, "requests from other sites are not answered");
    // A name that resolves to this machine is not enough: see DNS rebinding.
    if (const std::string host = request.get_header_value("Host"); !is_local("http://" + host)) return refuse(response, 403, "the host is not this machine");
    if (!options.token.empty() && !same(request.get_header_value("Authorization"), "Bearer " + options.token)) {
      response.set_header("WWW-Authenticate", "Bearer");
      return refuse(response, 401, "the token is missing or wrong");
    }
    const Headers headers{request.get_header_value("MCP-Protocol-Version"), request.get_header_value("Mcp-Method"), request.get_header_value("Mcp-Name")};
    const Answer answer = server.handle(request.body, headers);
    response.status = answer.status;
    if (answer.body) response.set_content(base::canonical_json(*answer.body), "application/json");
  });
  const auto only_post = [&](const httplib::Request&, httplib::Response& response) {
    response.set_header("Allow", "POST");
    refuse(response, 405, "POST only");
  };
  http.Get("/mcp", only_post);
  http.Delete("/mcp", only_post);
  const int port = options.port > 0 ? (http.bind_to_port("127.0.0.1", options.port) ? options.port : -1) : http.bind_to_any_port("127.0.0.1");
  if (port < 0) return fail(ErrorCode::kUnavailable, fmt::format("port {} of 127.0.0.1 cannot be had", options.port), "choose another one, or 0 for any");
  ready(port);
  std::atomic<bool> over{false};
  std::thread watch([&] {
    while (!over && !stop()) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    http.stop();
  });
  // Its stop() says nothing to a server that has not begun to listen.
  if (!stop()) http.listen_after_bind();
  over = true;
  watch.join();
  return {};
}

}  // namespace hone::face::mcp

#endif
