// The Model Context Protocol as a pure function: a message in, an answer out. Both eras: up to revision
// 2025-11-25 with initialize, and 2026-07-28, where every request says its version itself. Tools are those of
// a table; a tool's failure is a result (isError), a protocol failure a JSON-RPC error. Resources and prompts are
// text by name. Stateless but for the tools, and as thread-safe as they are.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

/// A text that clients may read by its address.
struct Resource {
  std::string uri, name, description, type;   ///< type: "text/markdown"
  std::function<Result<std::string>()> read;
  /// Not listed by itself but with all that have this template: "hone://doc/{name}".
  std::string uri_template = {};
  /// The address of another that says of many like it what each is: this one is listed by address and name alone.
  std::string said_in = {};
};
/// A text that is made of arguments, for a client's own model.
struct PromptText {
  std::string name, title, description;
  struct Argument {
    std::string name, description;
    bool required = false;
  };
  std::vector<Argument> arguments;
  std::function<Result<std::string>(const nlohmann::json&)> make;   ///< of an object of texts
};

class Server {
 public:
  explicit Server(agent::ToolTable tools, std::vector<Resource> resources = {}, std::vector<PromptText> prompts = {})
      : tools_(std::move(tools)), resources_(std::move(resources)), prompts_(std::move(prompts)) {}
  /// `text` is one JSON-RPC message.
  [[nodiscard]] Answer handle(std::string_view text, const std::optional<Headers>& headers = {}) const;
  [[nodiscard]] const agent::ToolTable& tools() const { return tools_; }

 private:
  [[nodiscard]] Answer request(const nlohmann::json& message, const nlohmann::json& id, const std::optional<Headers>& headers) const;
  [[nodiscard]] nlohmann::json list() const;
  [[nodiscard]] nlohmann::json call(const nlohmann::json& params) const;
  [[nodiscard]] nlohmann::json list_resources() const;
  [[nodiscard]] nlohmann::json list_templates() const;
  [[nodiscard]] nlohmann::json list_prompts() const;
  /// Of resources/read and prompts/get; an Error where there is no such thing, or it cannot be made.
  [[nodiscard]] Result<nlohmann::json> read_resource(const nlohmann::json& params) const;
  [[nodiscard]] Result<nlohmann::json> get_prompt(const nlohmann::json& params) const;

  agent::ToolTable tools_;
  std::vector<Resource> resources_;
  std::vector<PromptText> prompts_;
};

/// One JSON message a line, until the input ends; calls of tools side by side, so answers come as they are ready. Only
/// answers go to `out`.
void serve_stdio(const Server& server, std::istream& in, std::ostream& out);

struct HttpOptions {
  int port = 0;                         ///< 0: any
  std::string token;                    ///< a client must show it; empty: none is asked for
};
/// On 127.0.0.1 at /mcp, until `stop` is true (polled). `ready` is told the port.
[[nodiscard]] Status serve_http(const Server& server, const HttpOptions& options, const std::function<void(int)>& ready,
                                const std::function<bool()>& stop);

}  // namespace hone::face::mcp
