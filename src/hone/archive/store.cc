#include "hone/archive/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "hone/archive/locks.h"
#include "hone/archive/schema.h"
#include "hone/archive/sql.h"
#include "hone/archive/store_state.h"
#include "hone/base/clock.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"

namespace hone::archive {
namespace fs = std::filesystem;
namespace {

constexpr size_t kRunDigits = 12;
constexpr size_t kHashDigits = 64;
constexpr size_t kCandidatesShown = 8;

bool is_hex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

// Columns in RunInfo's order; the last one says whether the seal fits. An event moves the run's
// time of change without a second write.
constexpr const char* kRunColumns =
    "SELECT id, task_name, task_hash, target, options_json, task_toml, created_unix_ms,"
    " max(updated_unix_ms, coalesce((SELECT unix_ms FROM events WHERE run = runs.number"
    "                                ORDER BY seq DESC LIMIT 1), 0)),"
    " status, champion, summary_json,"
    " seal = seal(id, task_name, task_hash, target, options_json, task_toml, created_unix_ms,"
    "             updated_unix_ms, status, champion, summary_json) FROM runs ";

Result<RunInfo> read_run(const sql::Database& database, const sql::Statement& row) {
  if (!row.integer(11)) return damaged(database, fmt::format("run {}", row.view(0)));
  RunInfo run;
  run.id = row.text(0);
  run.task_name = row.text(1);
  run.task_hash = row.text(2);
  run.target = row.text(3);
  run.options_json = row.text(4);
  run.task_toml = row.text(5);
  run.created_unix_ms = row.integer(6);
  run.updated_unix_ms = row.integer(7);
  run.status = row.text(8);
  run.champion = row.text(9);
  run.summary_json = row.text(10);
  return run;
}

Result<int64_t> run_number(const sql::Database& database, std::string_view id) {
  HONE_TRY(auto row, database.query("SELECT number FROM runs WHERE id = ?1", id));
  HONE_TRY(const bool found, row.step());
  if (!found) return fail(ErrorCode::kNotFound, fmt::format("no run {} in the archive", id));
  return row.integer(0);
}

/// The one name that begins with `prefix`. `select` yields name and description in order, for names
/// in [?1, ?2): 'g' sorts right behind the hexadecimal digits.
Result<std::string> resolve(const sql::Database& database, const char* select,
                            std::string_view what, std::string_view given, size_t digits) {
  std::string prefix(given);
  for (char& c : prefix) c = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  if (prefix.empty() || prefix.size() > digits || !is_hex(prefix)) {
    return fail(ErrorCode::kInput, fmt::format("'{}' does not name a {}", given, what),
                fmt::format("expected 1 to {} hexadecimal digits{}", digits,
                            digits == kRunDigits ? ", or \"last\" for the newest" : ""));
  }
  HONE_TRY(auto rows, database.query(select, prefix, prefix + "g"));
  std::vector<std::string> names, lines;
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) break;
    names.push_back(rows.text(0));
    lines.push_back(fmt::format("{} ({})", base::short_hash(names.back()), rows.view(1)));
    if (names.size() > kCandidatesShown) break;
  }
  if (names.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("no {} begins with '{}'", what, given));
  }
  if (names.size() == 1) return names.front();
  if (lines.size() > kCandidatesShown) lines.back() = "…";
  return fail(ErrorCode::kInput, fmt::format("'{}' could be several {}s", given, what),
              fmt::format("give more digits; candidates: {}", fmt::join(lines, ", ")));
}

Result<bool> in_wal_mode(const sql::Database& database) {
  HONE_TRY(auto journal, database.query("PRAGMA journal_mode"));
  HONE_TRY(const bool row, journal.step());
  return row && journal.view(0) == "wal";
}

/// Makes or migrates the tables. Processes take turns: SQLite does not wait when two of them turn
/// one file to WAL at once.
Status set_up(sql::Database& database) {
  HONE_TRY(const auto turn, take_setup_lock(database.file()));
  // Only an empty file takes this one in; it lets collect() give space back.
  HONE_TRY_VOID(database.script("PRAGMA auto_vacuum = INCREMENTAL"));
  HONE_TRY_VOID(database.script("PRAGMA journal_mode = WAL"));
  return migrate(database);
}

}  // namespace

tl::unexpected<Error> damaged(const sql::Database& database, std::string_view what) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("{} in the archive {} is not what was written", what,
                          database.file().string()),
              "the disk or a program changed the file behind hone's back: restore it from a backup, "
              "or move it and its -wal aside and start anew");
}

Store::Store(std::unique_ptr<State> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const fs::path& file) {
  if (file.has_parent_path()) HONE_TRY_VOID(base::make_directories(file.parent_path()));
  HONE_TRY(auto database, sql::Database::open(file, sql::Database::Mode::kWrite));
  // First of all, so that nothing is left beside a file that is not ours.
  HONE_TRY(const int64_t version, schema_version(*database));
  if (database->read_only()) {
    return fail(ErrorCode::kUnavailable, fmt::format("the archive {} is read-only", file.string()),
                "check the permissions of the file, or point HONE_HOME at another folder");
  }
  HONE_TRY(const bool wal, in_wal_mode(*database));
  if (version != kSchemaVersion || !wal) HONE_TRY_VOID(set_up(*database));
  HONE_TRY_VOID(database->script(
      "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON;"));
  auto state = std::make_unique<State>();
  state->database = std::move(database);
  return Store(std::move(state));
}

Result<Store> Store::open_read_only(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no archive at {}", file.string()),
                "a first run creates it; HONE_HOME says in which folder");
  }
  auto state = std::make_unique<State>();
  HONE_TRY(state->database, sql::Database::open(file, sql::Database::Mode::kRead));
  auto version = schema_version(*state->database);
  // Reading in WAL mode needs an index file beside the archive. Where none can be made and there is
  // no log that could hold newer pages, nobody is writing and the file itself is the whole truth.
  const auto log_bytes = fs::file_size(file.string() + "-wal", ignored);
  const bool no_log = ignored || log_bytes == 0;
  if (!version && version.error().code == ErrorCode::kUnavailable && no_log) {
    HONE_TRY(state->database, sql::Database::open(file, sql::Database::Mode::kImmutable));
    version = schema_version(*state->database);
  }
  if (!version) return tl::unexpected(std::move(version).error());
  if (*version != kSchemaVersion) {
    return fail(ErrorCode::kUnavailable,
                fmt::format("the archive {} has the older schema {}; this hone reads {}",
                            file.string(), *version, kSchemaVersion),
                "start any run on it, which brings it up to date");
  }
  return Store(std::move(state));
}

Status Store::create_run(const RunInfo& run) {
  if (run.id.size() != kRunDigits || !is_hex(run.id)) {
    return fail(ErrorCode::kInput, fmt::format("'{}' is no run id", run.id),
                "expected twelve lower-case hexadecimal digits");
  }
  HONE_TRY(const int64_t added,
           state_->database->change(
               "INSERT INTO runs(id, task_name, task_hash, target, options_json, task_toml,"
               " created_unix_ms, updated_unix_ms, status, champion, summary_json, seal)"
               " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11, seal(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11))"
               " ON CONFLICT(id) DO NOTHING",
               run.id, run.task_name, run.task_hash, run.target, run.options_json, run.task_toml,
               run.created_unix_ms, run.updated_unix_ms, run.status, run.champion,
               run.summary_json));
  if (added == 0) return fail(ErrorCode::kInput, fmt::format("there is a run {} already", run.id));
  return {};
}

Result<RunInfo> Store::run(std::string_view id_or_prefix) {
  const sql::Database& database = *state_->database;
  if (id_or_prefix == "last") {
    HONE_TRY(auto newest, runs(1));
    if (newest.empty()) return fail(ErrorCode::kNotFound, "the archive holds no runs yet");
    return newest.front();
  }
  HONE_TRY(const std::string id,
           resolve(database,
                   "SELECT id, task_name || ', ' || status FROM runs"
                   " WHERE id >= ?1 AND id < ?2 ORDER BY id",
                   "run", id_or_prefix, kRunDigits));
  HONE_TRY(auto row, database.query((std::string(kRunColumns) + "WHERE id = ?1").c_str(), id));
  HONE_TRY(const bool found, row.step());
  if (!found) return damaged(database, fmt::format("run {}", id));
  return read_run(database, row);
}

Result<std::vector<RunInfo>> Store::runs(int limit) {
  const sql::Database& database = *state_->database;
  HONE_TRY(auto rows, database.query(
                          (std::string(kRunColumns) + "ORDER BY number DESC LIMIT ?1").c_str(),
                          limit));
  std::vector<RunInfo> all;
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return all;
    HONE_TRY(RunInfo run, read_run(database, rows));
    all.push_back(std::move(run));
  }
}

Status Store::update_run(std::string_view id, std::string_view status, std::string_view champion,
                         std::string_view summary_json) {
  HONE_TRY(const int64_t changed,
           state_->database->change(
               "UPDATE runs SET status = ?2, champion = ?3, summary_json = ?4, updated_unix_ms = ?5,"
               " seal = seal(id, task_name, task_hash, target, options_json, task_toml,"
               "             created_unix_ms, ?5, ?2, ?3, ?4) WHERE id = ?1",
               id, status, champion, summary_json, base::system_clock().unix_ms()));
  if (changed == 0) return fail(ErrorCode::kNotFound, fmt::format("no run {} in the archive", id));
  return {};
}

Result<std::unique_ptr<RunLock>> Store::lock_run(std::string_view id) {
  HONE_TRY([[maybe_unused]] const int64_t number, run_number(*state_->database, id));
  return take_run_lock(state_->database->file(), id);
}

Status Store::append_event(std::string_view run, int64_t expected_seq, std::string_view kind,
                           std::string_view json) {
  sql::Database& database = *state_->database;
  // One statement is one transaction: the number is checked and taken under the same write lock.
  HONE_TRY(const int64_t added,
           database.change(
               "INSERT INTO events(run, seq, unix_ms, kind, json, seal)"
               " SELECT number, ?2, ?3, ?4, ?5, seal(number, ?2, ?3, ?4, ?5) FROM runs WHERE id = ?1"
               " AND ?2 = (SELECT coalesce(max(seq) + 1, 0) FROM events WHERE run = runs.number)",
               run, expected_seq, base::system_clock().unix_ms(), kind, json));
  if (added == 1) return {};
  HONE_TRY([[maybe_unused]] const int64_t number, run_number(database, run));
  return fail(ErrorCode::kInternal,
              fmt::format("event {} of run {} is not the next one", expected_seq, run),
              "two writers work on one run, and one of them does not hold its lock");
}

Result<std::vector<Event>> Store::events(std::string_view run, int64_t from) {
  const sql::Database& database = *state_->database;
  HONE_TRY(const int64_t number, run_number(database, run));
  HONE_TRY(auto rows,
           database.query("SELECT seq, kind, json, seal = seal(run, seq, unix_ms, kind, json)"
                          " FROM events WHERE run = ?1 AND seq >= ?2 ORDER BY seq",
                          number, from));
  std::vector<Event> all;
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return all;
    Event event{rows.integer(0), rows.text(1), rows.text(2)};
    const int64_t expected = std::max<int64_t>(from, 0) + static_cast<int64_t>(all.size());
    if (event.seq != expected || !rows.integer(3)) {
      return damaged(database, fmt::format("event {} of run {}", expected, run));
    }
    all.push_back(std::move(event));
  }
}

Status Store::put_kernel(const KernelRow& kernel) {
  sql::Database& database = *state_->database;
  if (kernel.hash.size() != kHashDigits || !is_hex(kernel.hash)) {
    return fail(ErrorCode::kInput, fmt::format("'{}' is no kernel hash", kernel.hash),
                "expected 64 lower-case hexadecimal digits");
  }
  HONE_TRY(const int64_t added,
           database.change("INSERT INTO kernels(hash, language, source, config_json, parent, author,"
                           " action, note, task_hash, seal)"
                           " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9, seal(?1,?2,?3,?4,?5,?6,?7,?8,?9))"
                           " ON CONFLICT(hash) DO NOTHING",
                           kernel.hash, kernel.language, kernel.source, kernel.config_json,
                           kernel.parent, kernel.author, kernel.action, kernel.note,
                           kernel.task_hash));
  if (added == 1) return {};
  // Parent and author are the first maker's; what the hash names must agree.
  HONE_TRY(const KernelRow present, this->kernel(kernel.hash));
  if (present.source != kernel.source || present.config_json != kernel.config_json) {
    return fail(ErrorCode::kInternal,
                fmt::format("two different kernels claim the hash {}", kernel.hash));
  }
  return {};
}

Result<KernelRow> Store::kernel(std::string_view hash_or_prefix) {
  const sql::Database& database = *state_->database;
  HONE_TRY(const std::string hash,
           resolve(database,
                   "SELECT hash, language || ' by ' || author FROM kernels"
                   " WHERE hash >= ?1 AND hash < ?2 ORDER BY hash",
                   "kernel", hash_or_prefix, kHashDigits));
  HONE_TRY(auto row,
           database.query("SELECT hash, language, source, config_json, parent, author, action, note,"
                          " task_hash, seal = seal(hash, language, source, config_json, parent,"
                          " author, action, note, task_hash) FROM kernels WHERE hash = ?1",
                          hash));
  HONE_TRY(const bool found, row.step());
  if (!found || !row.integer(9)) return damaged(database, fmt::format("kernel {}", hash));
  return KernelRow{row.text(0), row.text(1), row.text(2), row.text(3), row.text(4),
                   row.text(5), row.text(6), row.text(7), row.text(8)};
}

Status Store::put_fact(std::string_view key, std::string_view json) {
  HONE_TRY_VOID(state_->database->change(
      "INSERT INTO facts(key, json, seal) VALUES(?1, ?2, seal(?1, ?2))"
      " ON CONFLICT(key) DO UPDATE SET json = excluded.json, seal = excluded.seal"
      " WHERE seal <> excluded.seal",
      key, json));
  return {};
}

Result<std::optional<std::string>> Store::fact(std::string_view key) {
  const sql::Database& database = *state_->database;
  HONE_TRY(auto row,
           database.query("SELECT json, seal = seal(key, json) FROM facts WHERE key = ?1", key));
  HONE_TRY(const bool found, row.step());
  if (!found) return std::nullopt;
  if (!row.integer(1)) return damaged(database, fmt::format("the fact '{}'", key));
  return row.text(0);
}

Result<std::string> Store::put_blob(std::string_view content) {
  std::string hash = base::content_hash(content);
  // Putting again renews the time, which collect() goes by; not each time, for it rewrites the row.
  HONE_TRY_VOID(state_->database->change(
      "INSERT INTO blobs(hash, put_unix_ms, content) VALUES(?1, ?2, ?3)"
      " ON CONFLICT(hash) DO UPDATE SET put_unix_ms = excluded.put_unix_ms"
      " WHERE put_unix_ms < excluded.put_unix_ms - 600000",
      hash, base::system_clock().unix_ms(), sql::Bytes{content}));
  return hash;
}

Result<std::string> Store::blob(std::string_view hash) {
  const sql::Database& database = *state_->database;
  HONE_TRY(auto row, database.query("SELECT content FROM blobs WHERE hash = ?1", hash));
  HONE_TRY(const bool found, row.step());
  if (!found) {
    return fail(ErrorCode::kNotFound, fmt::format("no blob {} in the archive", hash),
                "it may have been collected as older than the runs that are kept");
  }
  std::string content = row.text(0);
  if (base::content_hash(content) != hash) return damaged(database, fmt::format("blob {}", hash));
  return content;
}

fs::path default_archive() { return base::data_directory() / "archive.db"; }

}  // namespace hone::archive
