// `hone draft`: a task file from a description in prose. A model writes it, hone's own reader checks it, and
// the user has the last word.
#include <unistd.h>

#include <cstdio>
#include <iostream>

#include <fmt/format.h>

#include "hone/agent/answer.h"
#include "hone/agent/model/config.h"
#include "hone/agent/prompt.h"
#include "hone/base/file.h"
#include "hone/face/cli/context.h"
#include "hone/task/reference/language_page.h"

namespace hone::face {
namespace {

constexpr int kTries = 3;
constexpr const char* kExample =
    "name = \"rmsnorm\"\ninputs = { x = \"f32[B, D]\", w = \"f32[D]\" }\noutputs = { y = \"f32[B, D]\" }\n"
    "compute = \"y = x * rsqrt(mean(x * x, axis=-1, keepdims=true) + 1e-5) * w\"\n"
    "workloads = [ { B = 4096, D = 8192 }, { name = \"small\", B = 64, D = 1000 } ]\n";

Result<bool> confirmed(const std::string& file) {
  if (::isatty(STDIN_FILENO) == 0)
    return fail(ErrorCode::kUsage, fmt::format("nobody is there to confirm the draft, so {} is not written", file), "look at it, then give --yes");
  fmt::print(stderr, "write it to {}? [y/N] ", file);
  std::string line;
  std::getline(std::cin, line);
  return line == "y" || line == "Y" || line == "yes";
}

}  // namespace

Result<int> draft_task(const DraftArguments& arguments) {
  HONE_TRY(const std::string models_json, models_json_of(arguments.models));
  if (models_json.empty()) return fail(ErrorCode::kUsage, "which model is to write it?", "--model command:PROGRAM, or see hone draft --help");
  HONE_TRY(const agent::ModelsConfig config, agent::ModelsConfig::from_json(models_json));
  HONE_TRY(const engine::ModelServices services, model_services(models_json));
  const agent::ModelConfig& model = config.models.front();
  agent::Request request;
  request.max_output_tokens = model.max_output_tokens;
  HONE_TRY(std::string question, agent::prompt("analyst", {{"language", task::language_page()}, {"example", kExample},
                                                           {"description", agent::material("DESCRIPTION", arguments.description, size_t{16} << 10)}}));
  request.messages.push_back({agent::Message::Role::kUser, std::move(question), {}, {}, false, nlohmann::json::array()});
  agent::Budget budget(config.limits);
  std::string problem;
  watch_interrupts();
  for (int n = 0; n < kTries; ++n) {
    agent::BudgetGate gate(budget, agent::most_cost_of(request, model.price), model.price);
    agent::Call call;
    call.gate = &gate;
    call.cancelled = interrupted;
    const agent::Exchange exchange = services.clients.front()->complete(request, call);
    if (interrupted()) return fail(ErrorCode::kInterrupted, "interrupted");
    if (!exchange.reply) return fail(ErrorCode::kUnavailable, fmt::format("{} does not answer: {}", model.name, exchange.problem), "hone models tests it");
    const auto answer = agent::task_answer(exchange.reply->text);
    auto task = answer ? task::parse_task(answer->toml, "draft") : Result<task::Task>(fail(ErrorCode::kInput, answer.error().problem));
    // A draft that names a file of the user's would have it opened.
    if (task && task->start) task = fail(ErrorCode::kInput, "the draft names a start kernel, which nobody asked for");
    if (task) {
      fmt::print("{}", answer->toml);
      std::fflush(stdout);
      for (const std::string& assumption : answer->assumptions) fmt::print(stderr, "assumed: {}\n", assumption);
      if (arguments.output.empty()) return 0;
      if (!arguments.yes) {
        HONE_TRY(const bool yes, confirmed(arguments.output));
        if (!yes) return 1;
      }
      HONE_TRY_VOID(base::write_file_atomic(arguments.output, answer->toml));
      return 0;
    }
    problem = task.error().to_string();
    request.messages.push_back(exchange.reply->message());
    request.messages.push_back({agent::Message::Role::kUser,
                                fmt::format("That is no task file: {}\n\nAnswer once more, in full and in the same form.",
                                            agent::material("ERROR", problem, 2000)),
                                {}, {}, false, nlohmann::json::array()});
  }
  return fail(ErrorCode::kUnavailable, fmt::format("{} wrote no task file in {} tries; the last: {}", model.name, kTries, problem), "describe it in other words");
}

}  // namespace hone::face
