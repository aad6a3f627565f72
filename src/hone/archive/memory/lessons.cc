// Lessons in the archive: Store's part of memory.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/archive/store.h"
#include "hone/archive/store_state.h"
#include "hone/base/json.h"

namespace hone::archive {
namespace {

using nlohmann::json;

/// A row whose seal fits was written by us; what still cannot be read is damage all the same.
template <class Read>
auto parsed(const sql::Database& database, const sql::Statement& row, int text, int sealed, const char* what, const Read& read)
    -> Result<decltype(read(json()))> {
  if (!row.integer(sealed)) return damaged(database, what);
  try {
    return read(json::parse(row.view(text)));
  } catch (const json::exception&) {
    return damaged(database, what);
  }
}

}  // namespace

Status Store::put_lesson(const Context& context, const Lesson& lesson) {
  sql::Database& database = *state_->database;
  HONE_TRY_VOID(database.change("INSERT INTO contexts(id, target, json, seal) VALUES(?1, ?2, ?3, seal(?1, ?2, ?3)) ON CONFLICT(id) DO NOTHING",
                                context.id(), context.target, base::canonical_json(to_json(context))));
  HONE_TRY_VOID(database.change("INSERT INTO lessons(id, context, json, seal) VALUES(?1, ?2, ?3, seal(?1, ?2, ?3)) ON CONFLICT(id) DO NOTHING",
                                lesson.id(), lesson.context, base::canonical_json(to_json(lesson))));
  return {};
}

Status Store::put_evidence(std::string_view lesson, const Evidence& evidence) {
  HONE_TRY_VOID(state_->database->change(
      "INSERT INTO evidence(lesson, run, n, json, seal) VALUES(?1, ?2, ?3, ?4, seal(?1, ?2, ?3, ?4))"
      " ON CONFLICT(lesson, run, n) DO UPDATE SET json = excluded.json, seal = excluded.seal",
      lesson, std::string_view(evidence.run), evidence.n, base::canonical_json(to_json(evidence))));
  return {};
}

Result<std::vector<Context>> Store::contexts(std::string_view target) {
  const sql::Database& database = *state_->database;
  HONE_TRY(auto rows, database.query("SELECT json, seal = seal(id, target, json) FROM contexts WHERE target = ?1 ORDER BY id", target));
  std::vector<Context> all;
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return all;
    HONE_TRY(Context context, parsed(database, rows, 0, 1, "a context of lessons", [](const json& j) { return context_from(j); }));
    all.push_back(std::move(context));
  }
}

Result<std::vector<Lesson>> Store::lessons(std::string_view context) {
  const sql::Database& database = *state_->database;
  std::vector<Lesson> all;
  std::vector<std::string> ids;
  {
    HONE_TRY(auto rows, database.query("SELECT json, seal = seal(id, context, json), id FROM lessons WHERE context = ?1 ORDER BY id", context));
    for (;;) {
      HONE_TRY(const bool more, rows.step());
      if (!more) break;
      HONE_TRY(Lesson lesson, parsed(database, rows, 0, 1, "a lesson", [](const json& j) { return lesson_from(j); }));
      all.push_back(std::move(lesson));
      ids.push_back(rows.text(2));
    }
  }
  HONE_TRY(auto rows, database.query("SELECT evidence.json, evidence.seal = seal(lesson, run, n, evidence.json), lesson FROM evidence JOIN lessons"
                                     " ON lessons.id = lesson WHERE context = ?1 ORDER BY lesson, run, n", context));
  size_t at = 0;
  for (;;) {
    HONE_TRY(const bool more, rows.step());
    if (!more) return all;
    // Another process may add lessons between the two questions: those wait for the next time.
    while (at < ids.size() && ids[at] < rows.view(2)) ++at;
    if (at == ids.size()) return all;
    if (ids[at] != rows.view(2)) continue;
    HONE_TRY(Evidence evidence, parsed(database, rows, 0, 1, "evidence of a lesson", [](const json& j) { return evidence_from(j); }));
    all[at].evidence.push_back(std::move(evidence));
  }
}

}  // namespace hone::archive
