// Messages to `hone mcp`, one a line, with the tools that run nothing.
#include <set>

#include "fuzz.h"
#include "hone/base/file.h"
#include "hone/face/mcp/reading.h"
#include "hone/face/mcp/workshop.h"

namespace hone::face {
namespace {

HONE_FUZZ(mcp) {
  if (input.size() > fuzz::kMostBytes) return;
  static const auto home = base::ScratchDirectory::create("fuzz");
  fuzz::require(home.has_value(), "there is a folder for scratch");
  static mcp::Workshop workshop(home->path());
  static const mcp::Server server = [] {
    agent::ToolTable quiet;
    const agent::ToolTable all = workshop.tools();
    for (const char* const name : {"list_patterns", "read_pattern", "search_patterns", "explain_task", "library_kernels", "search_memory", "get_run", "get_report", "list_runs", "wait"})
      if (const agent::Tool* const tool = all.find(name)) quiet.add(*tool);
    return mcp::Server(std::move(quiet), mcp::resources(), mcp::prompts());
  }();
  for (std::string_view rest = input; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    for (const auto& headers : {std::optional<mcp::Headers>(), std::optional(mcp::Headers{"2025-06-18", {}, {}})}) {
      const mcp::Answer answer = server.handle(rest.substr(0, end), headers);
      if (answer.body) fuzz::require(answer.body->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).find("\"jsonrpc\":\"2.0\"") != std::string::npos, "an answer is JSON-RPC");
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace
}  // namespace hone::face
