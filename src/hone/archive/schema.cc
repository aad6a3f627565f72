#include "hone/archive/schema.h"

#include <fmt/format.h>

#include "hone/archive/store.h"

namespace hone::archive {
namespace {

// `seal` columns hold seal() over the row's other columns in order; see sql.cc.
constexpr const char* kFirst = R"sql(
CREATE TABLE meta(
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE runs(
  number          INTEGER PRIMARY KEY AUTOINCREMENT,  -- age: clocks may go back, this does not
  id              TEXT NOT NULL UNIQUE,
  task_name       TEXT NOT NULL,
  task_hash       TEXT NOT NULL,
  target          TEXT NOT NULL,
  options_json    TEXT NOT NULL,
  task_toml       TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  updated_unix_ms INTEGER NOT NULL,
  status          TEXT NOT NULL,
  champion        TEXT NOT NULL,
  summary_json    TEXT NOT NULL,
  seal            TEXT NOT NULL                       -- without number
) STRICT;

CREATE TABLE events(
  run     INTEGER NOT NULL REFERENCES runs(number),
  seq     INTEGER NOT NULL,
  unix_ms INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  json    TEXT NOT NULL,
  seal    TEXT NOT NULL,
  PRIMARY KEY(run, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE kernels(
  hash        TEXT NOT NULL PRIMARY KEY,
  language    TEXT NOT NULL,
  source      TEXT NOT NULL,
  config_json TEXT NOT NULL,
  parent      TEXT NOT NULL,
  author      TEXT NOT NULL,
  action      TEXT NOT NULL,
  note        TEXT NOT NULL,
  task_hash   TEXT NOT NULL,
  seal        TEXT NOT NULL
) STRICT;

CREATE TABLE facts(
  key  TEXT NOT NULL PRIMARY KEY,
  json TEXT NOT NULL,
  seal TEXT NOT NULL
) STRICT;

CREATE TABLE blobs(
  hash        TEXT NOT NULL PRIMARY KEY,
  put_unix_ms INTEGER NOT NULL,
  content     BLOB NOT NULL
) STRICT;
)sql";

// What runs have taught: contexts, lessons in them, and the trials that speak for or against each.
constexpr const char* kLessons = R"sql(
CREATE TABLE contexts(
  id     TEXT NOT NULL PRIMARY KEY,
  target TEXT NOT NULL,
  json   TEXT NOT NULL,
  seal   TEXT NOT NULL
) STRICT;

CREATE TABLE lessons(
  id      TEXT NOT NULL PRIMARY KEY,
  context TEXT NOT NULL REFERENCES contexts(id),
  json    TEXT NOT NULL,
  seal    TEXT NOT NULL
) STRICT;

CREATE INDEX lessons_of_context ON lessons(context);

CREATE TABLE evidence(
  lesson TEXT NOT NULL REFERENCES lessons(id),
  run    TEXT NOT NULL,
  n      INTEGER NOT NULL,
  json   TEXT NOT NULL,
  seal   TEXT NOT NULL,
  PRIMARY KEY(lesson, run, n)
) STRICT, WITHOUT ROWID;
)sql";

constexpr SchemaStep kSteps[] = {{"0.1.0", kFirst}, {"0.1.0", kLessons}};
static_assert(std::size(kSteps) == kSchemaVersion);

tl::unexpected<Error> too_new(const sql::Database& database, int64_t found, size_t known) {
  std::string version = "a newer version";
  // The newer layout may have no such table any more; then we just know less.
  if (auto statement = database.query("SELECT value FROM meta WHERE key = 'needs_hone'")) {
    if (const auto row = statement->step(); row && *row) version = statement->text(0) + " or newer";
  }
  return fail(ErrorCode::kUnavailable,
              fmt::format("the archive {} has schema {}; this hone knows schemas up to {}",
                          database.file().string(), found, known),
              fmt::format("it needs hone {}; or point HONE_HOME at another folder to start a new "
                          "archive beside it",
                          version));
}

}  // namespace

std::span<const SchemaStep> schema_steps() { return kSteps; }

Result<int64_t> schema_version(const sql::Database& database, std::span<const SchemaStep> steps) {
  // One statement, one snapshot: another process may be migrating meanwhile.
  HONE_TRY(auto row, database.query("SELECT (SELECT application_id FROM pragma_application_id),"
                                    " (SELECT user_version FROM pragma_user_version),"
                                    " (SELECT count(*) FROM sqlite_schema)"));
  HONE_TRY([[maybe_unused]] const bool found, row.step());
  const int64_t application = row.integer(0), version = row.integer(1), tables = row.integer(2);
  if (application == kApplicationId) {
    if (version > static_cast<int64_t>(steps.size())) return too_new(database, version, steps.size());
    if (version >= 0) return version;
  }
  if (application == 0 && version == 0 && tables == 0) return 0;
  return fail(ErrorCode::kInput,
              fmt::format("{} is a database of another program, not a hone archive",
                          database.file().string()),
              "give the path of another file");
}

Status migrate(sql::Database& database, std::span<const SchemaStep> steps) {
  HONE_TRY(sql::Transaction transaction, sql::Transaction::begin(database));
  HONE_TRY(const int64_t from, schema_version(database, steps));
  const auto to = static_cast<int64_t>(steps.size());
  for (int64_t version = from; version < to; ++version) {
    const SchemaStep& step = steps[static_cast<size_t>(version)];
    if (auto done = database.script(step.sql); !done) {
      done.error().context =
          fmt::format("bringing the archive from schema {} to {}", version, version + 1);
      return done;
    }
    HONE_TRY_VOID(database.change("INSERT INTO meta VALUES('needs_hone', ?1) "
                                  "ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                                  std::string_view(step.hone_version)));
  }
  if (from < to) {
    HONE_TRY(auto broken, database.query("PRAGMA foreign_key_check"));
    HONE_TRY(const bool any_broken, broken.step());
    if (any_broken) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("cannot bring {} to schema {}: rows of table {} refer to rows that "
                              "do not exist",
                              database.file().string(), to, broken.view(0)),
                  "the archive is as it was; use the hone that wrote it, or move it aside");
    }
    HONE_TRY_VOID(database.script(
        fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, to)
            .c_str()));
  }
  return transaction.commit();
}

}  // namespace hone::archive
