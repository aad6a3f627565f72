// What processes of others say: a Python process that runs the user's program, over its socket; reports of sanitizers.
#include <nlohmann/json.hpp>
#include <sys/socket.h>

#include "fuzz.h"
#include "hone/base/json.h"
#include "hone/evaluate/baseline/pytorch_process.h"
#include "hone/evaluate/card_sanitize.h"
#include "hone/evaluate/program/program_session.h"
#include "hone/evaluate/sanitize.h"

namespace hone::evaluate {
namespace {

HONE_FUZZ(worker) {
  if (input.size() > fuzz::kMostBytes) return;
  static_cast<void>(first_card_finding(input)), static_cast<void>(first_finding(std::string(input))), static_cast<void>(finding_frames(std::string(input)));
  auto pair = evaluate::socket_pair();
  fuzz::require(pair.has_value(), "there are sockets");
  // All answers lie ready; what is asked is read by nobody.
  fuzz::require(send(pair->second.get(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT) == static_cast<ssize_t>(input.size()) || input.empty(), "a socket holds an input");
  shutdown(pair->second.get(), SHUT_WR);
  const auto session = evaluate::ProgramSession::attach(pair->first.release());
  if (!session) return;
  static_cast<void>((*session)->tell("wait", base::Json::object()));
  static_cast<void>((*session)->check(0, 0));
  static_cast<void>((*session)->compose("/nowhere", "package"));
  static_cast<void>((*session)->step_times({"a"}, {"b"}, 1));
  static_cast<void>((*session)->times("eager", 2, 1));
  static_cast<void>((*session)->use({{"a", true}}));
}

}  // namespace
}  // namespace hone::evaluate
