// What the tools of `hone mcp` work on: the archive, evaluators that are kept from call to call, and runs on a thread each, one
// measuring at a time. Tools may be called from several threads; what needs the machine to itself waits for its turn. Its
// destructor stops the runs, which can be resumed.
#pragma once
#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "hone/agent/tool.h"
#include "hone/archive/store.h"
#include "hone/engine/desk.h"
#include "hone/engine/tools.h"
#include "hone/engine/workbench.h"

namespace hone::face::mcp {

/// A task from a client: text only. A path in it would be opened on our side.
[[nodiscard]] Result<task::Task> task_from(const nlohmann::json& arguments);
/// The kernel under `key`, in one of the place's languages, whose header names only what the task and the place have. A champion's file, as get_run and export give it, is a kernel like any other.
[[nodiscard]] Result<kernel::Kernel> kernel_in(const nlohmann::json& arguments, const char* key, const engine::Workbench& bench, const task::Task& task);
/// Properties of a tool's schema: {"type": "string"} with a bound; "target", "language", "track", "workloads" beside `properties`, with what
/// they are only if `explained`.
[[nodiscard]] nlohmann::json text_type(int longest, const char* about = "");
[[nodiscard]] nlohmann::json with_place(nlohmann::json properties, bool explained = false);

class Workshop {
 public:
  /// `home`: the folder of the archive, champions in it. `models`: an agent::ModelsConfig as JSON, those that runs may be given; empty: none.
  /// Clients name them only: addresses, programs and keys are ours.
  explicit Workshop(std::filesystem::path home, std::string models = {}) : home_(std::move(home)), models_(std::move(models)) {}
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  /// Every tool of `hone mcp`. The table must not outlive the workshop.
  [[nodiscard]] agent::ToolTable tools();

 private:
  /// A task at a place with its evaluator, and plain loops as the yardstick: made once, kept for later calls.
  struct Seat {
    task::Task task;
    std::shared_ptr<engine::Workbench> bench;
    std::mutex mutex;                                ///< who works here
    std::unique_ptr<evaluate::Evaluator> evaluator;  ///< made when first needed
    bool has_plain = false;                          ///< was looked for
    std::optional<kernel::Kernel> plain;             ///< the yardstick
    std::set<std::string> accepted;                  ///< hashes of kernels that were, here
  };
  struct Live {
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> stop;
  };
  // Runs (workshop.cc).
  [[nodiscard]] Result<nlohmann::json> start_run(const nlohmann::json& arguments, bool tune);
  [[nodiscard]] Result<nlohmann::json> resume_run(const nlohmann::json& arguments);
  [[nodiscard]] Result<nlohmann::json> cancel(const nlohmann::json& arguments);
  [[nodiscard]] Result<nlohmann::json> get_run(const nlohmann::json& arguments);
  [[nodiscard]] Result<nlohmann::json> wait(const nlohmann::json& arguments);
  [[nodiscard]] agent::ToolResult get_report(const nlohmann::json& arguments);
  [[nodiscard]] Status launch(const std::string& id, std::function<Status(const std::function<bool()>& stopped)> work);
  // Kernels (judging.cc): a verdict and the speed; `look`: what is said beside.
  [[nodiscard]] Result<nlohmann::json> look_at(const nlohmann::json& arguments, std::optional<engine::Look> look);
  /// Leaves of the actions that name other kernels those that were faster than `kernel` when tried.
  [[nodiscard]] Status measure_actions(const Seat& seat, evaluate::Evaluator& evaluator, const kernel::Kernel& kernel, nlohmann::json& actions) const;
  [[nodiscard]] Result<nlohmann::json> compare(const nlohmann::json& arguments);
  [[nodiscard]] Result<std::shared_ptr<Seat>> seat_for(const nlohmann::json& arguments);
  /// The seat's evaluator, with a yardstick where there is a clock. The caller holds the seat's mutex and the machine.
  [[nodiscard]] Result<evaluate::Evaluator*> ready(Seat& seat);
  /// Until nobody else measures there; kUnavailable after two minutes. Where there is no clock nobody has to wait.
  [[nodiscard]] Result<std::unique_lock<std::timed_mutex>> turn(const engine::Workbench& bench);
  // What is known without running anything (knowledge.cc).
  [[nodiscard]] Result<nlohmann::json> explain_task(const nlohmann::json& arguments);
  [[nodiscard]] Result<nlohmann::json> library_kernels(const nlohmann::json& arguments);
  [[nodiscard]] Result<nlohmann::json> search_memory(const nlohmann::json& arguments);
  [[nodiscard]] agent::ToolResult export_kernel(const nlohmann::json& arguments);

  [[nodiscard]] Result<archive::Store> archive() const;
  /// Clients of the models that a run was given; keys are read.
  [[nodiscard]] Result<engine::ModelServices> model_services_of(const std::string& models_json) const;
  /// The place that `arguments` name ("target", "language"; the CPU where they name none), opened once.
  [[nodiscard]] Result<std::shared_ptr<engine::Workbench>> place_in(const nlohmann::json& arguments);

  std::filesystem::path home_;
  std::string models_;                         ///< that runs may be given
  std::atomic<bool> stopping_{false};
  std::timed_mutex measuring_;                 ///< one at a time has the machine
  std::mutex mutex_;                           ///< of what follows
  std::map<std::string, std::shared_ptr<engine::Workbench>> places_;  ///< by target and language
  std::deque<std::pair<std::string, std::shared_ptr<Seat>>> seats_;   ///< by place, task and workloads; the latest first
  std::map<std::string, Live> runs_;
  std::map<std::string, std::string> errors_;  ///< of runs that failed
};

}  // namespace hone::face::mcp
