// The archive's tables and how older files become current ones. The layout is a ladder of steps;
// a file's PRAGMA user_version says how many it has climbed, its application_id that it is ours.
// A step that has shipped is never edited: a change of layout is a new step at the end. All steps
// a file lacks run in one transaction, so a failure or a kill leaves it as it was.
#pragma once
#include <span>

#include "hone/archive/sql.h"

namespace hone::archive {

inline constexpr int64_t kApplicationId = 0x686f6e65;  // "hone"

struct SchemaStep {
  const char* hone_version;  ///< the first hone that knows this layout
  const char* sql;
};

/// The ladder; step i leads from version i to i + 1.
[[nodiscard]] std::span<const SchemaStep> schema_steps();

/// Whether the file is ours and how many steps it has climbed. An empty database counts as ours, at
/// version 0. Fails where it belongs to another program (kInput) or to a newer hone (kUnavailable).
[[nodiscard]] Result<int64_t> schema_version(const sql::Database& database,
                                             std::span<const SchemaStep> steps = schema_steps());

/// Climbs the steps that are missing. Foreign keys must be off (a step may rebuild a table); they
/// are checked before the commit.
[[nodiscard]] Status migrate(sql::Database& database,
                             std::span<const SchemaStep> steps = schema_steps());

}  // namespace hone::archive
