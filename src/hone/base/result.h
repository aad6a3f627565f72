// Errors and results. Owns: Error, Result<T>, HONE_TRY, HONE_CHECK.
// A user's mistake or a failing machine travels as an Error in a Result. A candidate that does
// not compile, crashes or is wrong is data (a verdict), never an Error. Our own bug stops loudly:
// HONE_CHECK prints the condition, file and line, and aborts.
#pragma once
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hone {

enum class ErrorCode {
  kUsage,        ///< the command line is off                       (exit status 2)
  kInput,        ///< a task, kernel or configuration file is wrong (exit status 2)
  kNotFound,     ///< a named thing does not exist
  kUnavailable,  ///< a device, compiler, library or right is missing here
  kExhausted,    ///< memory, disk or a deadline ran out
  kCorrupt,      ///< stored data contradicts itself
  kInterrupted,  ///< the user asked us to stop
  kInternal,     ///< something failed that should not have
};

/// What went wrong, for a person: `message` says what was found and what was expected, `hint` what
/// to do about it, `context` where ("softmax.toml:3:9"). Hint and context may be empty.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string hint{};
  std::string context{};

  /// "context: message\n  hint: hint"
  [[nodiscard]] std::string to_string() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::string hint = {}, std::string context = {}) {
  return tl::unexpected<Error>(
      Error{code, std::move(message), std::move(hint), std::move(context)});
}

/// Stops the process with a message that names our own bug.
[[noreturn]] void check_failed(const char* condition, const char* file, int line,
                               std::string_view what);

}  // namespace hone

#define HONE_CHECK(cond, ...)                                                        \
  do {                                                                               \
    if (!(cond)) [[unlikely]]                                                        \
      ::hone::check_failed(#cond, __FILE__, __LINE__, ::std::string_view{__VA_ARGS__}); \
  } while (false)

#define HONE_CONCAT_INNER(a, b) a##b
#define HONE_CONCAT(a, b) HONE_CONCAT_INNER(a, b)

/// HONE_TRY(auto x, f()); unwraps a Result or returns its error from the enclosing function.
#define HONE_TRY(decl, ...) HONE_TRY_IMPL(HONE_CONCAT(hone_try_, __LINE__), decl, __VA_ARGS__)
#define HONE_TRY_IMPL(tmp, decl, ...)                              \
  auto tmp = (__VA_ARGS__);                                        \
  if (!tmp) return ::tl::unexpected(std::move(tmp).error());       \
  decl = std::move(*tmp)

/// HONE_TRY_VOID(f()); the same for a Status.
#define HONE_TRY_VOID(...)                                                                \
  do {                                                                                    \
    if (auto hone_status = (__VA_ARGS__); !hone_status)                                   \
      return ::tl::unexpected(std::move(hone_status).error());                            \
  } while (false)
