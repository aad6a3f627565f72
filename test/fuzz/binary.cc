// What compilers made of hostile source: shared objects, cubins, code objects; and packs of them.
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "hone/base/file.h"
#include "hone/target/toolchain/code_object.h"
#include "hone/target/toolchain/cubin.h"
#include "hone/target/toolchain/elf_check.h"
#include "hone/target/toolchain/machine_code.h"
#include "hone/target/toolchain/pack.h"

namespace hone::target {
namespace {

HONE_FUZZ(binary) {
  if (input.size() > fuzz::kMostBytes) return;
  static const base::Fd file(memfd_create("fuzz", 0));
  static const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  fuzz::require(ftruncate(file.get(), 0) == 0 && pwrite(file.get(), input.data(), input.size(), 0) == static_cast<ssize_t>(input.size()), "a file in memory");
  static_cast<void>(target::machine_code(input));
  if (const auto facts = target::read_elf(path))
    for (const bool sanitized : {false, true})
      for (const bool emulated : {false, true}) static_cast<void>(target::refuse(*facts, sanitized, emulated));
  if (const auto facts = target::read_cubin(path))
    for (const target::GpuEntry& entry : facts->entries) static_cast<void>(target::most_threads(entry));
  static_cast<void>(target::read_code_object(path));
  if (const auto pack = target::Pack::open(path))
    for (const auto& [key, entry] : (*pack)->entries()) static_cast<void>((*pack)->read(key));
}

}  // namespace
}  // namespace hone::target
