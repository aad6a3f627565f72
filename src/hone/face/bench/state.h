// A bench as it is kept in a file, so that it can be killed at any time and gone on with. Plain values.
//
// The file is HONE_HOME/benches/<id>/state.json, replaced as a whole after every step; the runs themselves are in the
// archive and resumable by their own means.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "hone/engine/champion.h"
#include "hone/engine/run.h"
#include "hone/face/bench/row.h"
#include "hone/task/drawn/drawn.h"

namespace hone::face::bench {

/// What the user asked for: a bench that asks the same goes on with one that is not finished.
struct Asked {
  std::vector<std::string> suite;      ///< absolute paths of folders and files
  std::string drawn;                   ///< what DrawnSuite says, where the tasks are drawn and not read; else empty
  std::string only;
  std::vector<std::string> workloads;  ///< by name; empty: each task's own default
  std::string track;                   ///< by name; empty: each task's own
  engine::RunOptions options;          ///< of each task's run
  bool cold = false;                   ///< what the archive knows is left aside
};

struct Conditions {
  engine::Place place;
  std::string machine_json;            ///< docs/json.md, `targets`
  std::string pytorch;                 ///< version; empty: none, or not asked for
  std::string hone;                    ///< version
};

struct Entry {
  std::string name;                    ///< the file's, without extension
  std::string file;                    ///< absolute; of a drawn task its name alone
  std::string toml;
  std::string start_source;            ///< of the kernel that the task names to begin from
  std::string unreadable;              ///< why the file is no task, as far as reading goes; empty: it was read
  std::string run;                     ///< twelve digits, once it has begun; may not be in the archive yet
  double spent = 0;                    ///< seconds of earlier runs that came to nothing
  bool search = false;                 ///< recalling came to nothing
  std::optional<Row> row;              ///< once it is done
};

struct State {
  std::string id;                      ///< twelve hexadecimal digits
  int64_t created_unix_ms = 0, updated_unix_ms = 0;
  std::string command;                 ///< as typed
  Asked asked;
  Conditions conditions;
  std::vector<Entry> entries;          ///< in order

  [[nodiscard]] std::vector<Row> rows() const;  ///< of what is done
  [[nodiscard]] size_t left() const;
  [[nodiscard]] bool finished() const { return left() == 0; }
};

[[nodiscard]] std::string to_text(const Conditions& conditions);
[[nodiscard]] Result<Conditions> conditions_from(const std::string& text);
[[nodiscard]] std::string to_text(const State& state);
/// kCorrupt where it is none.
[[nodiscard]] Result<State> state_from(const std::string& text, const std::string& name);

/// Whether both ask the same under the same conditions.
[[nodiscard]] bool same_bench(const Asked& a, const Conditions& ca, const Asked& b, const Conditions& cb);

/// The suite's files read now. What cannot be read says so in its entry; an Error is about the suite itself.
[[nodiscard]] Result<std::vector<Entry>> read_entries(const Asked& asked);
[[nodiscard]] std::vector<Entry> drawn_entries(const std::vector<task::drawn::DrawnTask>& tasks);

/// `fresh` with what `old` knows of those tasks that have not changed since.
[[nodiscard]] std::vector<Entry> carried_over(std::vector<Entry> fresh, const std::vector<Entry>& old);

}  // namespace hone::face::bench
