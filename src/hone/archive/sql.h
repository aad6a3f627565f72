// A thin layer over SQLite's C interface: a connection, a statement and a transaction that clean up
// after themselves, and one place that turns SQLite's codes into Errors a person can act on.
// A Database and its statements belong to one thread at a time. Text and bytes are copied on
// binding; what step() shows is valid until the next step().
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "hone/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace hone::archive::sql {

class Database;

/// Binds as a BLOB; a plain string_view binds as text.
struct Bytes {
  std::string_view content;
};

class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();
  /// True where there is a row to look at; false at the end.
  [[nodiscard]] Result<bool> step();
  [[nodiscard]] int64_t integer(int column) const;
  [[nodiscard]] std::string_view view(int column) const;
  [[nodiscard]] std::string text(int column) const { return std::string(view(column)); }

 private:
  friend class Database;
  Statement(const Database& database, sqlite3_stmt* statement)
      : database_(&database), statement_(statement) {}
  // A failed binding is reported by the next step().
  void bind(int index, int64_t value);
  void bind(int index, std::string_view value);
  void bind(int index, Bytes value);

  const Database* database_;
  sqlite3_stmt* statement_;
  int bind_code_ = 0;
};

class Database {
 public:
  enum class Mode : uint8_t {
    kWrite,      ///< created if absent
    kRead,       ///< shares the file with writers
    kImmutable,  ///< takes no locks and needs no writable folder; nobody may be writing
  };
  [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file,
                                                              Mode mode);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  template <class... Args>
  [[nodiscard]] Result<Statement> query(const char* sql, const Args&... args) const {
    HONE_TRY(Statement statement, prepare(sql));
    [[maybe_unused]] int index = 0;
    (statement.bind(++index, args), ...);
    return statement;
  }
  /// Runs one statement to its end; how many rows it changed.
  template <class... Args>
  [[nodiscard]] Result<int64_t> change(const char* sql, const Args&... args) {
    HONE_TRY(Statement statement, query(sql, args...));
    HONE_TRY([[maybe_unused]] const bool row, statement.step());
    return changes();
  }
  /// Any number of statements, rows dropped.
  [[nodiscard]] Status script(const char* sql);

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// SQLite opens a file it may not write for reading without a word.
  [[nodiscard]] bool read_only() const;
  /// The error that an SQLite result code stands for; call it right after the failing call.
  [[nodiscard]] Error error(int code) const;

 private:
  Database(std::filesystem::path file, sqlite3* handle) : file_(std::move(file)), handle_(handle) {}
  [[nodiscard]] Result<Statement> prepare(const char* sql) const;
  [[nodiscard]] int64_t changes() const;

  std::filesystem::path file_;
  sqlite3* handle_;
};

/// Takes the write lock at once, so that what it reads stays true; rolls back unless committed.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  [[nodiscard]] Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace hone::archive::sql
