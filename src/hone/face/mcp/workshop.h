// What the tools of `hone mcp` work on: the archive, one evaluator for a task at a time, and runs on a thread
// each, one measuring at a time. Called from one thread; its destructor stops the runs, which can be resumed.
#pragma once
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "hone/agent/tool.h"
#include "hone/archive/store.h"
#include "hone/engine/tools.h"
#include "hone/engine/workbench.h"

namespace hone::face::mcp {

class Workshop {
 public:
  /// `home`: the folder of the archive, champions in it.
  explicit Workshop(std::filesystem::path home) : home_(std::move(home)) {}
  ~Workshop();
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  /// Every tool of `hone mcp`. The table must not outlive the workshop.
  [[nodiscard]] agent::ToolTable tools();

 private:
  [[nodiscard]] agent::ToolResult start_run(const nlohmann::json& arguments);
  [[nodiscard]] agent::ToolResult get_run(const nlohmann::json& arguments);
  /// A verdict and the speed; `look`: what is said beside.
  [[nodiscard]] agent::ToolResult look_at(const nlohmann::json& arguments, std::optional<engine::Look> look);
  [[nodiscard]] agent::ToolResult search_memory(const nlohmann::json& arguments);
  [[nodiscard]] agent::ToolResult export_kernel(const nlohmann::json& arguments);
  [[nodiscard]] Result<archive::Store> archive() const;
  /// The place that `arguments` name ("target", "language"; the CPU where they name none), opened once.
  [[nodiscard]] Result<std::shared_ptr<engine::Workbench>> place_in(const nlohmann::json& arguments);

  std::filesystem::path home_;
  std::atomic<bool> stopping_{false};
  std::mutex measuring_;                       ///< one at a time has the machine
  std::mutex places_mutex_;
  std::map<std::string, std::shared_ptr<engine::Workbench>> places_;  ///< by target and language
  std::map<std::string, std::thread> runs_;
  std::mutex errors_mutex_;
  std::map<std::string, std::string> errors_;  ///< of runs that failed
};

}  // namespace hone::face::mcp
