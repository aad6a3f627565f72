// What running a candidate under AddressSanitizer and UndefinedBehaviorSanitizer takes besides its own
// instrumented build: a runner that carries the sanitizers' run-time, made on the spot by the same
// compiler, and a look at what the source makes of being watched. Thread-safe.
#pragma once
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/result.h"

namespace hone::target {

/// For candidate and runner alike. Without run-time type information there is nothing for vptr to check.
inline constexpr std::string_view kSanitizerFlags[] = {"-fsanitize=address,undefined", "-fno-sanitize=vptr",
                                                       "-fno-sanitize-recover=all", "-g1"};

/// The program, compiled in the jail when first asked for and kept in the cache. kUnavailable, with the
/// reason, where the compiler cannot do it or the result does not run in a jail.
[[nodiscard]] Result<std::filesystem::path> sanitized_runner(const std::string& compiler, const std::string& name);

/// Why unit.cc in `folder` is not to be trusted under sanitizers: it preprocesses to something else with them
/// than without, or names what switches them off. Empty when it may. `argv` is the compiler's command line
/// with the sanitizers, without input and output.
[[nodiscard]] Result<std::string> find_evasion(const std::vector<std::string>& argv, const std::filesystem::path& folder,
                                               const std::filesystem::path& headers, std::chrono::seconds deadline);

}  // namespace hone::target
