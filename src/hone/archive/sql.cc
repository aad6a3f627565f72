#include "hone/archive/sql.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hone/base/hash.h"

namespace hone::archive::sql {
namespace {

constexpr int kBusyTimeoutMs = 10'000;

/// seal(a, b, …): 16 hexadecimal digits over its arguments. SQLite has no page checksums; sealed
/// rows let us notice a flipped bit in text that is still well formed.
void seal(sqlite3_context* context, int count, sqlite3_value** values) {
  base::Hasher hasher;
  for (int i = 0; i < count; ++i) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
    const int size = sqlite3_value_bytes(values[i]);
    hasher.add(text ? std::string_view(text, static_cast<size_t>(size)) : std::string_view());
  }
  const std::string digest = hasher.finish();
  sqlite3_result_text(context, digest.data(), 16, SQLITE_TRANSIENT);
}

/// A "file:" URI; the characters that mean something in one are escaped.
std::string immutable_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

Error describe(const std::filesystem::path& file, int code, int system_error, const char* detail) {
  const bool space =
      system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
  const std::string name = file.string();
  const int primary = code & 0xff;
  if (primary == SQLITE_FULL ||
      ((primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN) && space)) {
    return {ErrorCode::kExhausted, fmt::format("no space left to write to the archive {}", name),
            "nothing that was acknowledged is lost: free some disk space (or raise the file size "
            "limit), or point HONE_HOME at another disk"};
  }
  switch (primary) {
    case SQLITE_NOTADB:
      return {ErrorCode::kCorrupt, fmt::format("{} is not a hone archive, or its start is damaged", name),
              "if the path is right, move the file aside: hone starts a new archive"};
    case SQLITE_CORRUPT:
      return {ErrorCode::kCorrupt, fmt::format("the archive {} is damaged ({})", name, detail),
              fmt::format("keep a copy; `sqlite3 '{}' .recover` prints what can be saved; with the "
                          "file and its -wal moved aside hone starts a new archive",
                          name)};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {ErrorCode::kUnavailable,
              fmt::format("the archive {} has been locked by another process for {} s", name,
                          kBusyTimeoutMs / 1000),
              "look for a stuck hone or sqlite3 process that has the file open"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_CANTOPEN: {
      const std::string why = system_error ? std::strerror(system_error) : detail;
      return {ErrorCode::kUnavailable,
              fmt::format("cannot {} the archive {}: {}",
                          primary == SQLITE_CANTOPEN ? "open" : "write to", name, why),
              "check the permissions of the file and of its folder, which must be writable too, or "
              "point HONE_HOME at a place that can be written"};
    }
    case SQLITE_NOMEM:
      return {ErrorCode::kExhausted, fmt::format("out of memory in the archive {}", name)};
    case SQLITE_TOOBIG:
      return {ErrorCode::kInput, "a value is too large for the archive: at most 1 GB each"};
    case SQLITE_IOERR:
      return {ErrorCode::kInternal,
              fmt::format("reading or writing the archive {} failed: {}", name,
                          system_error ? std::strerror(system_error) : detail),
              "check the disk and the file system (archives belong on a local one)"};
    default:
      return {ErrorCode::kInternal, fmt::format("archive {}: {} (SQLite {})", name, detail, code)};
  }
}

}  // namespace

Statement::Statement(Statement&& other) noexcept
    : database_(other.database_),
      statement_(std::exchange(other.statement_, nullptr)),
      bind_code_(other.bind_code_) {}

Statement& Statement::operator=(Statement&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(statement_, other.statement_);
  std::swap(bind_code_, other.bind_code_);
  return *this;
}

Statement::~Statement() { sqlite3_finalize(statement_); }

Result<bool> Statement::step() {
  errno = 0;
  const int code = bind_code_ != SQLITE_OK ? bind_code_ : sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(database_->error(code));
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }

std::string_view Statement::view(int column) const {
  // The pointer first, then the size: the order SQLite asks for.
  const void* data = sqlite3_column_blob(statement_, column);
  const int size = sqlite3_column_bytes(statement_, column);
  return data ? std::string_view(static_cast<const char*>(data), static_cast<size_t>(size))
              : std::string_view();
}

void Statement::bind(int index, int64_t value) {
  if (const int code = sqlite3_bind_int64(statement_, index, value)) bind_code_ = code;
}

void Statement::bind(int index, std::string_view value) {
  // A null pointer would bind NULL, and an empty text is not NULL.
  const char* data = value.data() ? value.data() : "";
  if (const int code = sqlite3_bind_text64(statement_, index, data, value.size(), SQLITE_TRANSIENT,
                                           SQLITE_UTF8)) {
    bind_code_ = code;
  }
}

void Statement::bind(int index, Bytes value) {
  const char* data = value.content.data() ? value.content.data() : "";
  if (const int code = sqlite3_bind_blob64(statement_, index, data, value.content.size(),
                                           SQLITE_TRANSIENT)) {
    bind_code_ = code;
  }
}

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  std::string name = file.string();
  if (mode == Mode::kWrite) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (mode == Mode::kRead) flags |= SQLITE_OPEN_READONLY;
  if (mode == Mode::kImmutable) {
    flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    name = immutable_uri(file);
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(file, handle));
  if (code != SQLITE_OK) return tl::unexpected(database->error(code));
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  const int made = sqlite3_create_function_v2(
      handle, "seal", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nullptr, seal,
      nullptr, nullptr, nullptr);
  if (made != SQLITE_OK) return tl::unexpected(database->error(made));
  return database;
}

Database::~Database() { sqlite3_close_v2(handle_); }

Status Database::script(const char* sql) {
  errno = 0;
  if (const int code = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr)) {
    return tl::unexpected(error(code));
  }
  return {};
}

Error Database::error(int code) const {
  if (!handle_) return describe(file_, SQLITE_NOMEM, 0, "out of memory");
  // SQLite does not note the system's reason when it is the commit that fails.
  int system_error = sqlite3_system_errno(handle_);
  if (system_error == 0 && (code & 0xff) == SQLITE_IOERR) system_error = errno;
  return describe(file_, code, system_error, sqlite3_errmsg(handle_));
}

Result<Statement> Database::prepare(const char* sql) const {
  sqlite3_stmt* statement = nullptr;
  if (const int code = sqlite3_prepare_v2(handle_, sql, -1, &statement, nullptr)) {
    return tl::unexpected(error(code));
  }
  return Statement(*this, statement);
}

bool Database::read_only() const { return sqlite3_db_readonly(handle_, "main") != 0; }

int64_t Database::changes() const { return sqlite3_changes64(handle_); }

Result<Transaction> Transaction::begin(Database& database) {
  HONE_TRY_VOID(database.script("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Status Transaction::commit() {
  HONE_TRY_VOID(database_->script("COMMIT"));
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  // Fails only where SQLite has rolled back already.
  if (database_) static_cast<void>(database_->script("ROLLBACK"));
}

}  // namespace hone::archive::sql
