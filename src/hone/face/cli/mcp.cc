#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "hone/agent/model/secret.h"
#include "hone/face/cli/context.h"
#include "hone/face/mcp/reading.h"
#include "hone/face/mcp/server.h"
#include "hone/face/mcp/workshop.h"

namespace hone::face {

Result<int> serve_mcp(const McpArguments& arguments) {
  HONE_TRY(const std::string models, models_json_of(arguments.models));
  mcp::Workshop workshop(home(), models);
  const mcp::Server server(workshop.tools(), mcp::resources(), mcp::prompts());
  if (!arguments.http) {
    // The protocol has standard output to itself.
    mcp::serve_stdio(server, std::cin, std::cout);
    return 0;
  }
  mcp::HttpOptions options;
  options.port = arguments.port;
  if (!arguments.token_env.empty()) {
    HONE_TRY(const agent::Secret token, agent::secret_from_environment(arguments.token_env));
    options.token = token.reveal();
  }
  watch_interrupts();
  HONE_TRY_VOID(mcp::serve_http(server, options, [](int port) {
    fmt::print("http://127.0.0.1:{}/mcp\n", port);
    std::fflush(stdout);
  }, interrupted));
  return 0;
}

}  // namespace hone::face
