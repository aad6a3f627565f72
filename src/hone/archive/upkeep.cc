// The archive looking after itself: collect() forgets blobs nobody needs, check() looks for damage.
#include <fmt/format.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "hone/archive/locks.h"
#include "hone/archive/store_state.h"
#include "hone/base/clock.h"
#include "hone/base/hash.h"

namespace hone::archive {

namespace {

/// A blob is put before the event that names it is appended. While any run is being worked on,
/// blobs put within this time may be waiting for theirs.
constexpr int64_t kGraceMs = 3'600'000;

/// Hashes that must stay, found by reading text for words of exactly 64 hexadecimal digits.
class Marks {
 public:
  void read(std::string_view text) {
    for (size_t at = 0; at < text.size();) {
      size_t end = at;
      while (end < text.size() && is_hex_digit(text[end])) ++end;
      if (end - at == 64) add(text.substr(at, 64));
      at = end + 1;
    }
  }
  void add(std::string_view hash) {
    if (auto [place, fresh] = marked_.emplace(hash); fresh) unread_.push_back(*place);
  }
  [[nodiscard]] bool has(const std::string& hash) const { return marked_.contains(hash); }
  /// Hashes that were marked since the last call.
  [[nodiscard]] std::vector<std::string> take_unread() { return std::exchange(unread_, {}); }

 private:
  static bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }
  std::unordered_set<std::string> marked_;
  std::vector<std::string> unread_;
};

/// Reads every column of every row.
Status read_all(sql::Statement rows, int columns, Marks& marks) {
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return {};
    for (int column = 0; column < columns; ++column) marks.read(rows.view(column));
  }
}

Status mark_run(const sql::Database& database, int64_t number, Marks& marks) {
  HONE_TRY(auto run, database.query("SELECT task_hash, options_json, task_toml, champion,"
                                    " summary_json FROM runs WHERE number = ?1",
                                    number));
  HONE_TRY_VOID(read_all(std::move(run), 5, marks));
  HONE_TRY(auto events, database.query("SELECT json FROM events WHERE run = ?1", number));
  return read_all(std::move(events), 1, marks);
}

/// Kernels that are named, their ancestors, and what those name in turn.
Status mark_kernels(const sql::Database& database, Marks& marks) {
  for (auto hashes = marks.take_unread(); !hashes.empty(); hashes = marks.take_unread()) {
    for (const std::string& hash : hashes) {
      HONE_TRY(auto kernel, database.query("SELECT parent, source, config_json, action, note"
                                           " FROM kernels WHERE hash = ?1",
                                           hash));
      HONE_TRY_VOID(read_all(std::move(kernel), 5, marks));
    }
  }
  return {};
}

Result<std::vector<int64_t>> runs_to_keep(const sql::Database& database, int newest,
                                          const std::vector<std::string>& held) {
  std::vector<int64_t> numbers;
  HONE_TRY(auto rows,
           database.query("SELECT number FROM runs ORDER BY number DESC LIMIT ?1", newest));
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) break;
    numbers.push_back(rows.integer(0));
  }
  for (const std::string& id : held) {
    HONE_TRY(auto row, database.query("SELECT number FROM runs WHERE id = ?1", id));
    HONE_TRY(const bool found, row.step());
    if (found) numbers.push_back(row.integer(0));
  }
  return numbers;
}

/// Text of each row where `sql` finds something wrong, as "<what> <first column>".
Status find_wrong(const sql::Database& database, const char* sql, std::string_view what,
                  std::vector<std::string>& problems) {
  HONE_TRY(auto rows, database.query(sql));
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return {};
    problems.push_back(fmt::format("{} {}", what, rows.view(0)));
  }
}

Status check_blobs(const sql::Database& database, std::vector<std::string>& problems) {
  HONE_TRY(auto rows, database.query("SELECT hash, content FROM blobs"));
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return {};
    const std::string hash = rows.text(0);
    if (base::content_hash(rows.view(1)) != hash) {
      problems.push_back(fmt::format("content does not fit its hash: blob {}", hash));
    }
  }
}

}  // namespace

Result<int64_t> Store::collect(int keep_runs) {
  if (keep_runs < 0) {
    return fail(ErrorCode::kInput, fmt::format("cannot keep {} runs", keep_runs),
                "expected 0 or more");
  }
  sql::Database& database = *state_->database;
  HONE_TRY(auto transaction, sql::Transaction::begin(database));
  // Under the write lock: whoever put a blob before this moment held its run then, and holds it
  // now or has appended all it will.
  HONE_TRY(const auto held, held_runs(database.file()));
  HONE_TRY(const auto numbers, runs_to_keep(database, keep_runs, held));
  Marks marks;
  for (const int64_t number : numbers) HONE_TRY_VOID(mark_run(database, number, marks));
  HONE_TRY_VOID(mark_kernels(database, marks));

  const int64_t spare_from =
      held.empty() ? INT64_MAX : base::system_clock().unix_ms() - kGraceMs;
  std::vector<std::string> doomed;
  int64_t freed = 0;
  {
    HONE_TRY(auto rows, database.query("SELECT hash, length(content) FROM blobs"
                                       " WHERE put_unix_ms < ?1",
                                       spare_from));
    for (;;) {
      HONE_TRY(const bool more, rows.step());
      if (!more) break;
      std::string hash = rows.text(0);
      if (marks.has(hash)) continue;
      freed += rows.integer(1);
      doomed.push_back(std::move(hash));
    }
  }
  for (const std::string& hash : doomed) {
    HONE_TRY_VOID(database.change("DELETE FROM blobs WHERE hash = ?1", hash));
  }
  HONE_TRY_VOID(transaction.commit());
  // The blobs are gone; giving their space back may wait until no reader is in the way.
  if (freed > 0) {
    static_cast<void>(database.script("PRAGMA incremental_vacuum"));
    static_cast<void>(database.script("PRAGMA wal_checkpoint(TRUNCATE)"));
  }
  return freed;
}

Result<std::vector<std::string>> Store::check() {
  const sql::Database& database = *state_->database;
  std::vector<std::string> problems;
  // A table too damaged to be read is a finding like any other; the rest is still looked at.
  const auto note = [&](Status status) -> Status {
    if (status) return status;
    if (status.error().code != ErrorCode::kCorrupt) return status;
    problems.push_back(status.error().message);
    return {};
  };
  const auto wrong = [&](const char* sql, std::string_view what) {
    return note(find_wrong(database, sql, what, problems));
  };
  HONE_TRY_VOID(wrong("SELECT integrity_check FROM pragma_integrity_check WHERE"
                      " integrity_check <> 'ok'",
                      "SQLite:"));
  HONE_TRY_VOID(wrong("SELECT \"table\" || ' row ' || coalesce(rowid, '?') FROM"
                      " pragma_foreign_key_check",
                      "refers to a row that does not exist:"));
  HONE_TRY_VOID(wrong("SELECT runs.id FROM events JOIN runs ON runs.number = events.run GROUP BY run"
                      " HAVING min(seq) <> 0 OR max(seq) + 1 <> count(*)",
                      "gaps in the numbering of the events of run"));
  HONE_TRY_VOID(wrong("SELECT id FROM runs WHERE seal IS NOT seal(id, task_name, task_hash, target,"
                      " options_json, task_toml, created_unix_ms, updated_unix_ms, status, champion,"
                      " summary_json)",
                      "not what was written: run"));
  HONE_TRY_VOID(wrong("SELECT seq || ' of run number ' || run FROM events WHERE seal IS NOT"
                      " seal(run, seq, unix_ms, kind, json)",
                      "not what was written: event"));
  HONE_TRY_VOID(wrong("SELECT hash FROM kernels WHERE seal IS NOT seal(hash, language, source,"
                      " config_json, parent, author, action, note, task_hash)",
                      "not what was written: kernel"));
  HONE_TRY_VOID(wrong("SELECT key FROM facts WHERE seal IS NOT seal(key, json)",
                      "not what was written: fact"));
  HONE_TRY_VOID(wrong("SELECT id FROM contexts WHERE seal IS NOT seal(id, target, json)",
                      "not what was written: context"));
  HONE_TRY_VOID(wrong("SELECT id FROM lessons WHERE seal IS NOT seal(id, context, json)",
                      "not what was written: lesson"));
  HONE_TRY_VOID(wrong("SELECT lesson FROM evidence WHERE seal IS NOT seal(lesson, run, n, json)",
                      "not what was written: evidence of lesson"));
  HONE_TRY_VOID(note(check_blobs(database, problems)));
  return problems;
}

}  // namespace hone::archive
