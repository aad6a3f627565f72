#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "hone/agent/model/client.h"
#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/base/process/process.h"

namespace hone::agent {
namespace {

namespace fs = std::filesystem;

/// Words as a shell would split them: blanks, single and double quotes, backslash. No expansion.
Result<std::vector<std::string>> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote) {
      if (c == quote) quote = 0;
      else if (c == '\\' && quote == '"' && i + 1 < command.size()) word += command[++i];
      else word += c;
    } else if (c == '\'' || c == '"') {
      quote = c;
      open = true;
    } else if (c == '\\' && i + 1 < command.size()) {
      word += command[++i];
      open = true;
    } else if (c == ' ' || c == '\t') {
      if (open) words.push_back(std::exchange(word, {}));
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (quote) return fail(ErrorCode::kInput, fmt::format("a quote is not closed in the command {}", command));
  if (open) words.push_back(word);
  if (words.empty()) return fail(ErrorCode::kInput, "a command model without a program", "command:PROGRAM, for example command:./my_model");
  return words;
}

/// What a program needs to run at all; nothing that may hold a key.
std::map<std::string, std::string> plain_environment() {
  std::map<std::string, std::string> all;
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TERM", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"})
    if (const char* value = std::getenv(name)) all[name] = value;
  return all;
}

class CommandClient final : public ModelClient {
 public:
  CommandClient(std::vector<std::string> words, Timeouts timeouts, base::Clock& clock)
      : words_(std::move(words)), timeouts_(timeouts), clock_(clock) {}

  Exchange complete(const Request& request, const Call& call) override {
    Exchange exchange;
    if (call.cancelled && call.cancelled()) {
      exchange.cancelled = true;
      exchange.problem = "cancelled";
      return exchange;
    }
    if (call.gate && !call.gate->admit()) {
      exchange.problem = "the budget does not allow it";
      return exchange;
    }
    Attempt attempt;
    const int64_t before = clock_.now_ns();
    const std::string prompt = prompt_text(request);
    ask(prompt, call, attempt, exchange);
    attempt.latency_ns = clock_.now_ns() - before;
    attempt.problem = exchange.problem;
    if (call.gate) call.gate->settle(attempt);
    exchange.attempts.push_back(std::move(attempt));
    return exchange;
  }

 private:
  void ask(const std::string& prompt, const Call& call, Attempt& attempt, Exchange& exchange) {
    const auto scratch = base::ScratchDirectory::create("model");
    if (!scratch) {
      exchange.problem = scratch.error().message;
      return;
    }
    base::SpawnOptions spawn;
    spawn.argv = words_;
    spawn.environment = plain_environment();
    spawn.directory = scratch->path();
    spawn.input = prompt;
    spawn.output_limit = kMaxReplyText;
    auto child = base::Child::spawn(spawn);
    if (!child) {
      exchange.problem = child.error().message;
      return;
    }
    attempt.began = true;
    std::atomic<bool> over{false}, cancelled{false};
    std::thread watch;
    if (call.cancelled)
      watch = std::thread([&, pidfd = child->pidfd()] {
        while (!over) {
          if (call.cancelled()) {
            cancelled = true;
            (void)::syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, nullptr, 0);
            return;
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        }
      });
    const base::Exit exit = child->wait(timeouts_.total);
    over = true;
    if (watch.joinable()) watch.join();
    if (cancelled) {
      exchange.cancelled = true;
      exchange.problem = "cancelled";
    } else if (!exit.ok()) {
      const std::string said = valid_utf8(exit.err);
      exchange.problem = fmt::format("{} {}{}{}", words_.front(), exit.describe(), said.empty() ? "" : ": ", bounded(said, 300));
    } else if (exit.truncated) {
      exchange.problem = "the answer is longer than 1 MiB";
    } else {
      Reply reply;
      reply.text = valid_utf8(exit.out);
      // No count is given: the usual four bytes a token.
      reply.usage = Usage{static_cast<int64_t>(prompt.size() + 3) / 4, 0, 0, static_cast<int64_t>(reply.text.size() + 3) / 4};
      attempt.usage = reply.usage;
      exchange.reply = std::move(reply);
    }
  }

  std::vector<std::string> words_;
  Timeouts timeouts_;
  base::Clock& clock_;
};

}  // namespace

std::string prompt_text(const Request& request) {
  std::string text = request.system;
  for (const Message& message : request.messages) {
    if (!text.empty()) text += "\n\n";
    if (message.role == Message::Role::kAssistant) text += "--- your earlier answer ---\n";
    if (message.role != Message::Role::kAssistant && request.messages.size() > 1) text += "--- message ---\n";
    text += message.text;
  }
  return text + "\n";
}

Result<std::unique_ptr<ModelClient>> command_client(const std::string& command, Timeouts timeouts, base::Clock& clock) {
  HONE_TRY(std::vector<std::string> words, words_of(command));
  if (words[0].find('/') != std::string::npos) {
    std::error_code error;
    const fs::path path = fs::absolute(words[0], error);
    if (error || !fs::is_regular_file(path, error) || ::access(path.c_str(), X_OK) != 0)
      return fail(ErrorCode::kInput, fmt::format("{} is no program that can be run", words[0]));
    words[0] = path.string();
  }
  return std::make_unique<CommandClient>(std::move(words), timeouts, clock);
}

}  // namespace hone::agent
