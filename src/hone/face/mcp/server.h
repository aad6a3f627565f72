// The Model Context Protocol as a pure function: a message in, an answer out. Both eras: up to revision
// 2025-11-25 with initialize, and 2026-07-28, where every request says its version itself. Tools are those of
// a table; a tool's failure is a result (isError), a protocol failure a JSON-RPC error. Stateless but for
// the tools; whoever calls it serialises the calls.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "hone/agent/tool.h"

namespace hone::face::mcp {

inline constexpr std::string_view kModern = "2026-07-28";

/// An answer, and the HTTP status it goes with.
struct Answer {
  std::optional<nlohmann::json> body;   ///< absent: a notification, nothing to say
  int status = 200;
};

/// What HTTP says beside the body; absent on stdio.
struct Headers {
  std::string version, method, name;    ///< MCP-Protocol-Version, Mcp-Method, Mcp-Name; empty: not there
};

class Server {
 public:
  explicit Server(agent::ToolTable tools) : tools_(std::move(tools)) {}
  /// `text` is one JSON-RPC message.
  [[nodiscard]] Answer handle(std::string_view text, const std::optional<Headers>& headers = {}) const;
  [[nodiscard]] const agent::ToolTable& tools() const { return tools_; }

 private:
  [[nodiscard]] Answer request(const nlohmann::json& message, const nlohmann::json& id, const std::optional<Headers>& headers) const;
  [[nodiscard]] nlohmann::json list() const;
  [[nodiscard]] nlohmann::json call(const nlohmann::json& params) const;

  agent::ToolTable tools_;
};

/// One JSON message a line, until the input ends. Only answers go to `out`.
void serve_stdio(const Server& server, std::istream& in, std::ostream& out);

struct HttpOptions {
  int port = 0;                         ///< 0: any
  std::string token;                    ///< a client must show it; empty: none is asked for
};
/// On 127.0.0.1 at /mcp, until `stop` is true (polled). `ready` is told the port.
[[nodiscard]] Status serve_http(const Server& server, const HttpOptions& options, const std::function<void(int)>& ready,
                                const std::function<bool()>& stop);

}  // namespace hone::face::mcp
