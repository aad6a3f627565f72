// The archive: one SQLite file in WAL mode that holds runs as logs of events, kernels, verdicts and
// blobs by content hash. Several processes may use one archive at once; one Store is for one thread.
// What append_event() and put_* acknowledge survives kill -9. A newer schema is refused politely, an
// older one is migrated in a transaction; damage is reported as kCorrupt with what to do.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/archive/memory/lesson.h"
#include "hone/base/result.h"

namespace hone::archive {

inline constexpr int kSchemaVersion = 2;

struct RunInfo {
  std::string id;            ///< twelve hexadecimal digits
  std::string task_name;
  std::string task_hash;
  std::string target;        ///< "cpu", "cuda:0", …
  std::string options_json;  ///< everything the search was asked, enough to resume
  std::string task_toml;
  int64_t created_unix_ms = 0;
  int64_t updated_unix_ms = 0;
  std::string status;        ///< "running", "finished", "interrupted", "failed"; a running run nobody holds is resumable
  std::string champion;      ///< kernel hash or empty
  std::string summary_json;  ///< the final result line, empty until there is one
};

struct Event {
  int64_t seq = 0;           ///< 0, 1, 2, … without gaps within a run
  std::string kind;          ///< "proposed", "evaluated", "promoted", …
  std::string json;          ///< canonical JSON (sorted keys, no white space)
};

struct KernelRow {
  std::string hash, language, source, config_json, parent, author, action, note;
  std::string task_hash;     ///< task it was first made for
};

/// Held while a run is being worked on; freed by destruction or by the death of the process.
class RunLock {
 public:
  virtual ~RunLock() = default;
};

class Store {
 public:
  /// Creates the file and its folder if absent.
  [[nodiscard]] static Result<Store> open(const std::filesystem::path& file);
  /// For looking only: works on read-only media, never migrates.
  [[nodiscard]] static Result<Store> open_read_only(const std::filesystem::path& file);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  /// kInput where the id is not twelve hexadecimal digits or is taken.
  [[nodiscard]] Status create_run(const RunInfo& run);
  [[nodiscard]] Result<RunInfo> run(std::string_view id_or_prefix);   ///< unique prefix, "last" for the newest
  [[nodiscard]] Result<std::vector<RunInfo>> runs(int limit = 50);    ///< newest first
  /// Sets all three; appending an event moves updated_unix_ms too.
  [[nodiscard]] Status update_run(std::string_view id, std::string_view status,
                                  std::string_view champion, std::string_view summary_json);
  /// kUnavailable when somebody holds it already, in whatever process.
  [[nodiscard]] Result<std::unique_ptr<RunLock>> lock_run(std::string_view id);

  /// Appends with the next sequence number; `expected_seq` must be it (a second writer is our bug and
  /// an error). Durable against kill -9 when it returns.
  [[nodiscard]] Status append_event(std::string_view run, int64_t expected_seq,
                                    std::string_view kind, std::string_view json);
  [[nodiscard]] Result<std::vector<Event>> events(std::string_view run, int64_t from = 0);

  /// Idempotent: what is not in the hash (parent, author, …) stays as the first maker put it.
  [[nodiscard]] Status put_kernel(const KernelRow& kernel);
  [[nodiscard]] Result<KernelRow> kernel(std::string_view hash_or_prefix);

  /// Facts that do not depend on the day (verdicts, builds' static facts), by a key that names all
  /// they depend on. Times are never facts. The last one put holds.
  [[nodiscard]] Status put_fact(std::string_view key, std::string_view json);
  [[nodiscard]] Result<std::optional<std::string>> fact(std::string_view key);

  /// A lesson in its context. Idempotent; its evidence is put apart.
  [[nodiscard]] Status put_lesson(const Context& context, const Lesson& lesson);
  /// One trial of a lesson that is there, known by its run and number: put again it is replaced, so a run that was killed
  /// counts nothing twice.
  [[nodiscard]] Status put_evidence(std::string_view lesson, const Evidence& evidence);
  [[nodiscard]] Result<std::vector<Context>> contexts(std::string_view target);  ///< by id
  [[nodiscard]] Result<std::vector<Lesson>> lessons(std::string_view context);   ///< with their evidence, by id

  [[nodiscard]] Result<std::string> put_blob(std::string_view content);  ///< its hash; idempotent
  [[nodiscard]] Result<std::string> blob(std::string_view hash);
  /// Deletes blobs that no event or kernel of the newest `keep_runs` runs, or of a run somebody
  /// holds, names by its hash. Returns bytes freed. While any run is held, blobs put within the last
  /// hour stay too: their events may be on the way.
  [[nodiscard]] Result<int64_t> collect(int keep_runs);

  /// SQLite's own check, every blob's hash, every run's event numbering. Empty: sound.
  [[nodiscard]] Result<std::vector<std::string>> check();

 private:
  struct State;
  explicit Store(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// data_directory() / "archive.db".
[[nodiscard]] std::filesystem::path default_archive();

}  // namespace hone::archive
