// A user's PyTorch program in a Python process: captured, and later run, as it is and composed of hone's kernels. A file is
// code, and gets a jailed process of its own (program_helper.py), which sees Python, the file's folder and a scratch folder and
// has no network. A graph that torch.compile hands to hone_torch stays in the user's process, which started this one
// (attach()). What either says decides about no kernel; what it measures of the whole program is the user's own affair, as the
// program could do anything to it. One thread drives a session.
#pragma once
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/base/result.h"

namespace hone::evaluate {

struct ProgramSource {
  std::filesystem::path file;
  std::string function;   ///< returns the module and its inputs; empty: the file has Model, get_inputs and get_init_inputs
  bool train = false;     ///< as in training: batch statistics, buffers that change
  int threads = 0;        ///< of PyTorch; 0: all
  std::string target = "cpu";  ///< where the module and its inputs are put
  std::string workload;   ///< of a definition: the beginning of a uuid, or "M=256,N=8"; empty: the first
};

/// "model.py", "model.py:block" or a definition, "gemm.json"; none where the text names neither.
[[nodiscard]] std::optional<ProgramSource> program_source(const std::string& text);

/// The workloads of a definition in JSON: beside it, or where a set of FlashInfer-Bench has them; empty where there are none.
[[nodiscard]] std::filesystem::path workloads_of(const std::filesystem::path& definition);

/// How far off one output is, in units of its root mean square.
struct OutputOff {
  double scale = 0, max = 0, rms = 0;
  int64_t broken = 0;   ///< elements that are finite on one side only
  int64_t differ = 0;   ///< of integers and bools: elements that are not equal
  template <class F>
  void fields(F& f) {
    f.later("scale", scale), f.later("max", max), f.later("rms", rms), f.later("broken", broken), f.later("differ", differ);
  }
};

/// One output under one draw of inputs and weights: against the module computed in fp64.
struct OutputCheck {
  std::string name, dtype;
  OutputOff eager, ours;
  std::string wrong;    ///< another shape or type than the module's
};

/// One step's time in its place.
struct StepTime {
  double eager_ns = 0, kernel_ns = 0;
};

class ProgramSession {
 public:
  /// kUnavailable where there is no torch; kInput where the file makes no program that can be captured: one line, and a
  /// hint that says what to do.
  [[nodiscard]] static Result<std::unique_ptr<ProgramSession>> start(const ProgramSource& source);
  /// With the process at the other end of a socket that this one was started with. kUnavailable where nobody answers.
  [[nodiscard]] static Result<std::unique_ptr<ProgramSession>> attach(int descriptor);
  ~ProgramSession();

  /// What torch.export made of it, as program::read_program() takes it.
  [[nodiscard]] const std::string& capture() const { return capture_; }
  /// Captured once more, with these nodes as what PyTorch makes of them by its own decompositions, where it makes something of them; operators that
  /// are `known` stay whole.
  [[nodiscard]] Status take_apart(const std::set<std::string>& nodes, const std::vector<std::string>& known);
  /// Tensors that no state_dict has, written by torch.save().
  [[nodiscard]] std::filesystem::path constants() const;
  /// Where a package has to lie that the process is to import: `kept`, or a folder that a jailed process sees.
  [[nodiscard]] std::filesystem::path package_folder(const std::filesystem::path& kept) const;
  [[nodiscard]] const std::string& description() const { return description_; }  ///< "PyTorch 2.13.0+cpu, 2 threads"

  /// Imports a package that lies in a folder; then it can be checked and timed. Reasons by task where a kernel does not run.
  [[nodiscard]] Result<std::map<std::string, std::string>> compose(const std::filesystem::path& folder, const std::string& package);
  /// Which tasks use their kernels from now on.
  [[nodiscard]] Status use(const std::map<std::string, bool>& tasks);
  struct Recording {
    bool on = false;
    std::string why;    ///< not, where it was asked for
  };
  /// Whether calls of the composed program replay one CUDA graph from now on; as soon as it is composed they do, where they can.
  [[nodiscard]] Result<Recording> record(bool on);
  /// Set 0 is the given inputs, others are drawn anew; so with weights.
  [[nodiscard]] Result<std::vector<OutputCheck>> check(int set, int weights);
  /// By step of the composed program, "3"; of one of `written`, which runs as one for eager_ns and as what it was written out as for
  /// kernel_ns, those too: "3.0", "3.1", without and with the kernels of `tasks`.
  [[nodiscard]] Result<std::map<std::string, StepTime>> step_times(const std::vector<std::string>& tasks, const std::vector<std::string>& written, double seconds);
  struct Times {
    std::vector<double> ours_ns, theirs_ns;  ///< pairs, taken in turns
  };
  /// Against "eager", "compile" or a mode of torch.compile's, "steps" (the composed program, not recorded); of a graph, "nested":
  /// the backend that runs it without hone.
  [[nodiscard]] Result<Times> times(const std::string& against, int pairs, double seconds);
  /// Something that an attached process is told: "wait" (it goes on with its work, and asks now and then), "done", "failed".
  [[nodiscard]] Status tell(const std::string& what, const base::Json& more);

 private:
  struct State;
  ProgramSession(std::unique_ptr<State> state, base::ScratchDirectory scratch);
  [[nodiscard]] Result<base::Json> ask(const base::Json& request, std::chrono::nanoseconds deadline);
  std::unique_ptr<State> state_;
  base::ScratchDirectory scratch_;
  std::string capture_, description_;
};

}  // namespace hone::evaluate
