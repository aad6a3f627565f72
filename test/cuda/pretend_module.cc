#include "pretend_module.h"

#include <elf.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

namespace hone::pretend {

namespace {

/// The name of each entry of a text in PTX.
std::set<std::string> entries_of(const std::string& text) {
  constexpr std::string_view kEntry = ".entry ";
  std::set<std::string> names;
  for (size_t at = text.find(kEntry); at != std::string::npos; at = text.find(kEntry, at + 1))
    names.insert(text.substr(at + kEntry.size(), text.find('(', at) - at - kEntry.size()));
  return names;
}

}  // namespace

std::unique_ptr<Module> Module::load(const void* image) {
  constexpr uint16_t kCuda = 190;  // EM_CUDA
  const auto* const bytes = static_cast<const char*>(image);
  if (std::strncmp(bytes, ELFMAG, SELFMAG) != 0) {
    if (!std::strstr(bytes, ".version ")) return nullptr;
    auto module = std::make_unique<Module>();
    module->names_ = entries_of(bytes);
    if (const char* const counts = std::strstr(bytes, "hone_counts[")) module->counts_ = std::strtoul(std::strchr(counts, '[') + 1, nullptr, 10);
    return module;
  }
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (header.e_machine != kCuda || header.e_shentsize != sizeof(Elf64_Shdr)) return nullptr;
  const auto section = [&](size_t number) {
    Elf64_Shdr out;
    std::memcpy(&out, bytes + header.e_shoff + number * sizeof out, sizeof out);
    return out;
  };
  auto module = std::make_unique<Module>();
  for (size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_SYMTAB) continue;
    const char* const names = bytes + section(symbols.sh_link).sh_offset;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes + symbols.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) module->names_.insert(names + symbol.st_name);
    }
  }
  return module;
}

Function* Module::find(const std::string& name) {
  if (!names_.contains(name)) return nullptr;
  if (pretend::dies_when_found(name)) (void)raise(SIGKILL);
  dies_ |= pretend::dies_when_unloaded(name);
  Function& function = functions_[name];
  function.kernel = find_kernel(name);
  return &function;
}

}  // namespace hone::pretend
