// What store.cc and upkeep.cc share: the connection, and reading a stored row as what it must be.
#pragma once
#include <memory>

#include "hone/archive/sql.h"
#include "hone/archive/store.h"

namespace hone::archive {

struct Store::State {
  std::unique_ptr<sql::Database> database;
};

/// The error for a row whose seal or hash does not fit its content.
[[nodiscard]] tl::unexpected<Error> damaged(const sql::Database& database, std::string_view what);

}  // namespace hone::archive
