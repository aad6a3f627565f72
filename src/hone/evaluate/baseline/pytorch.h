// PyTorch as an opponent: eager or torch.compile, in a Python process of its own behind the same
// interface as a kernel. Owns: writing a task as PyTorch, finding a Python that has torch, the
// session. An opponent that cannot be had (no torch, an operation we cannot write, a compilation that
// fails) is kUnavailable and the message says why; the comparison then goes without it.
#pragma once
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"
#include "hone/target/card.h"
#include "hone/target/device/session.h"
#include "hone/task/task.h"

namespace hone::evaluate {

/// The task as a PyTorch user would write it, for one workload: Python source that defines
/// forward(inputs…), returning a dense tensor (a tuple where there are several outputs). Fails with
/// kUnavailable naming the operation that has no PyTorch form.
[[nodiscard]] Result<std::string> emit_pytorch(const task::Task& task, const task::Bindings& bindings);

/// A Python that imports torch.
struct PythonTorch {
  std::filesystem::path python;  ///< sys.executable: what a shim or a link resolves to
  std::string python_version;    ///< "3.11.7"
  std::string torch_version;     ///< "2.13.0+cpu"
};

/// Asks one interpreter. kUnavailable: not there, no torch, or no answer before the deadline.
[[nodiscard]] Result<PythonTorch> probe_pytorch(const std::filesystem::path& python,
                                                std::chrono::nanoseconds deadline);

/// The first that works of $HONE_PYTHON (alone, when set), venv/bin/python under data_directory(),
/// python3 in PATH. Asked once per process; thread-safe.
[[nodiscard]] const Result<PythonTorch>& find_pytorch();

enum class PytorchMode : uint8_t {
  kEager,
  kCompiled,   ///< torch.compile as it comes
  kAutotuned,  ///< max-autotune-no-cudagraphs: compiling takes minutes
};
/// "eager", "compiled", "autotuned".
[[nodiscard]] std::string_view name_of(PytorchMode mode);

struct PytorchOptions {
  PytorchMode mode = PytorchMode::kEager;
  int threads = 0;                                                    ///< 0: all that we may run on
  std::optional<target::CardInfo> card;                               ///< on it, and so are the regions
  std::chrono::nanoseconds start_deadline = std::chrono::minutes(5);  ///< import and compilation
};

class PytorchSession;

/// A Python that has imported torch once for all workloads, and forks servers.
class PytorchHost {
 public:
  /// What it does before its first job; the rest it does when a job first asks for it. kModules: the compiler's are imported,
  /// which takes longer than most compilations, and nothing is compiled; all that a context of a card, which no fork
  /// survives, lets it do ahead.
  enum class Readiness : uint8_t { kImported, kModules, kCompiler };

  /// kUnavailable where there is no torch. Returns when the compiler is there, or else at once: then whoever first asks for a
  /// server waits. `threads`: 0 for all.
  [[nodiscard]] static Result<std::shared_ptr<PytorchHost>> start(int threads, bool on_card = false, Readiness readiness = Readiness::kImported);
  /// The one that all opponents of this process share, begun when it is first asked for. A failure is remembered,
  /// as it would not end differently. Thread-safe. `readiness` counts where it is begun.
  [[nodiscard]] static Result<std::shared_ptr<PytorchHost>> shared(int threads, bool on_card = false, Readiness readiness = Readiness::kImported);
  /// Whether `host` turned out to have ended when a server was asked of it; shared() then begins another.
  [[nodiscard]] static bool forget_ended(const std::shared_ptr<PytorchHost>& host);
  ~PytorchHost();

 private:
  friend class PytorchServer;
  struct State;
  explicit PytorchHost(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A process that has compiled where asked to and called forward() once, and that forks sessions. It times
/// nothing, and sleeps while nobody asks.
class PytorchServer {
 public:
  /// `regions` are what the placements of later calls index; they must outlive the server's sessions. Keeps
  /// `host` alive, as its sessions keep the server.
  [[nodiscard]] static Result<std::shared_ptr<PytorchServer>> start(
      std::shared_ptr<PytorchHost> host, const task::Task& task, const task::Bindings& bindings,
      const std::vector<const target::Region*>& regions, const PytorchOptions& options);
  ~PytorchServer();

  /// A fresh process: its own buffers, threads and mappings. Only the addresses of libraries and of the
  /// heap's beginning are the server's. On a card the server's own process: the session before must be over.
  [[nodiscard]] static Result<std::unique_ptr<PytorchSession>> fork(std::shared_ptr<PytorchServer> server);

 private:
  friend class PytorchSession;
  struct State;
  explicit PytorchServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Runs forward() on our regions. The results of a timed batch stay where PyTorch put them, as they
/// would for its user; run() copies them to their placements after the clock has stopped. While no
/// batch runs the process is stopped, so that its idle threads disturb nobody's measurement. On a card times are
/// by events on PyTorch's stream, as a kernel's are on its own.
class PytorchSession final : public target::Session {
 public:
  ~PytorchSession() override;
  [[nodiscard]] target::BatchOutcome run(std::span<const target::Call> calls,
                                         std::chrono::nanoseconds deadline) override;
  [[nodiscard]] int64_t empty_batch_ns() override;

  /// -x on one element, in the same mode and by the same loop and clock as forward(): the least that PyTorch spends on
  /// a call of one operation. Measured once; 0 when the session is over.
  [[nodiscard]] int64_t dispatch_ns() override;
  /// "PyTorch 2.13.0+cpu eager, 2 threads"
  [[nodiscard]] const std::string& description() const;

 private:
  friend class PytorchServer;
  struct State;
  explicit PytorchSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace hone::evaluate
