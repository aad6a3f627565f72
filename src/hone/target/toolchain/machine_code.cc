#include "hone/target/toolchain/machine_code.h"

#include <string>

#include "hone/base/hash.h"
#include "hone/target/bundle.h"
#include "hone/target/toolchain/elf_image.h"

namespace hone::target {
namespace {

/// Loaded, and no part of what is computed.
bool is_bookkeeping(std::string_view name) {
  for (const char* start : {".note", ".eh_frame", ".gnu.", ".hash", ".dynsym", ".dynstr", ".dynamic", ".comment", ".debug", ".nv.callgraph"})
    if (name.starts_with(start)) return true;
  return false;
}

std::string machine_code_of(std::string_view image) {
  Elf64_Ehdr header;
  if (!read_at(image, 0, header)) return {};
  const auto elf = ElfImage::open(image, header.e_machine);
  if (!elf) return {};
  base::Hasher hasher;
  hasher.add("machine-code-1").add(std::to_string(header.e_machine)).add(std::to_string(header.e_flags));
  bool code = false;
  for (const Elf64_Shdr& section : elf->sections()) {
    const std::string_view name = elf->name(section);
    // A cubin's resources (registers, the most threads) are not loaded as memory, and part of the code all the same.
    const bool resources = name.starts_with(".nv.info");
    if ((!(section.sh_flags & SHF_ALLOC) && !resources) || is_bookkeeping(name)) continue;
    code |= (section.sh_flags & SHF_EXECINSTR) != 0;
    hasher.add(name).add(std::to_string(section.sh_size)).add(elf->body(section));
    // Registers of a cubin's function.
    if (section.sh_flags & SHF_EXECINSTR) hasher.add(std::to_string(section.sh_info));
  }
  return code ? hasher.finish() : std::string();
}

}  // namespace

std::string machine_code(std::string_view file) {
  const std::vector<std::string_view> images = binaries_in(file);
  if (images.size() == 1) return machine_code_of(images.front());
  base::Hasher hasher;
  for (const std::string_view image : images) {
    const std::string code = machine_code_of(image);
    if (code.empty()) return {};
    hasher.add(code);
  }
  return images.empty() ? std::string() : hasher.finish();
}

}  // namespace hone::target
