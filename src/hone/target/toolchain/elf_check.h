// Reads a shared object that a candidate was built into, without loading it: what it asks of others
// and what would run before anybody called it. Pure; a file that is no ELF object is an Error.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "hone/base/result.h"

namespace hone::target {

struct ElfFacts {
  std::vector<std::string> undefined;   ///< symbols it expects others to define
  std::vector<std::string> exported;    ///< symbols that it defines for others, weak ones apart
  std::vector<std::string> libraries;   ///< it wants loaded, beside those that every runner has
  int64_t text_bytes = 0;               ///< executable sections
  int64_t data_bytes = 0;               ///< writable once it is loaded, by program headers, and a thread's variables
  int constructors = 0;                 ///< functions run at load time, compiler's own apart
  std::string forbidden;                ///< why nobody may load it, sanitized or not ("has an indirect function (f)"); empty: nothing
  /// Variables of an emulated GPU's shared memory: mangled names, bytes.
  std::vector<std::pair<std::string, int64_t>> shared;
};
[[nodiscard]] Result<ElfFacts> read_elf(const std::filesystem::path& file);

/// Empty when the object may be loaded; else why not ("calls open(), which kernels may not"). `emulated`: a GPU
/// kernel with the emulator's run-time, whose instrumentation has one constructor of its own.
[[nodiscard]] std::string refuse(const ElfFacts& facts, bool sanitized, bool emulated = false);

}  // namespace hone::target
