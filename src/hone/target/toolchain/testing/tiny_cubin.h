// A cubin made by hand: what hone reads of one, and no code that would run. For tests that have no compiler.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace hone::target {

/// One entry `function`, extern "C", of 40 registers with parameters of these sizes. `calls`: a function that it leaves to the driver.
inline std::string tiny_cubin(const std::string& function, const std::vector<uint32_t>& parameters, const std::string& calls = {}) {
  const auto word = [](uint32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); };
  const auto attribute = [&](uint8_t kind, const std::vector<uint32_t>& words) {
    std::string bytes = {'\x04', static_cast<char>(kind), static_cast<char>(4 * words.size()), '\0'};
    for (const uint32_t value : words) bytes += word(value);
    return bytes;
  };
  std::string texts(1, '\0');
  const auto text = [&](const std::string& name) {
    const auto at = static_cast<uint32_t>(texts.size());
    texts += name + '\0';
    return at;
  };
  struct Section {
    uint32_t name, type, link;
    uint64_t flags;
    std::string bytes;
  };
  constexpr unsigned char kEntry = 0x10;
  constexpr uint32_t kTexts = 2, kCode = 3;
  std::string symbols(sizeof(Elf64_Sym), '\0'), of_entry;
  const auto add_symbol = [&](const std::string& name, unsigned char other, uint16_t home) {
    Elf64_Sym symbol{};
    symbol.st_name = text(name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_other = other;
    symbol.st_shndx = home;
    symbol.st_size = home == SHN_UNDEF ? 0 : 128;
    symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
  };
  add_symbol(function, kEntry, kCode);
  if (!calls.empty()) add_symbol(calls, 0, SHN_UNDEF);
  for (uint32_t i = 0; i < parameters.size(); ++i) of_entry += attribute(0x17, {0, i, parameters[i] << 18});
  std::vector<Section> sections = {{0, SHT_NULL, 0, 0, ""},
                                   {text(".symtab"), SHT_SYMTAB, kTexts, 0, symbols},
                                   {text(".strtab"), SHT_STRTAB, 0, 0, ""},
                                   {text(".text." + function), SHT_PROGBITS, 0, SHF_ALLOC | SHF_EXECINSTR, std::string(128, '\x42')},
                                   {text(".nv.info"), 0x70000000, 0, 0, attribute(0x2f, {1, 40})},
                                   {text(".nv.info." + function), 0x70000000, 0, 0, of_entry}};
  sections[kTexts].bytes = texts;
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_machine = 190;  // EM_CUDA
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<uint16_t>(sections.size());
  header.e_shstrndx = kTexts;
  std::string bodies, table;
  for (const Section& section : sections) {
    Elf64_Shdr line{};
    line.sh_name = section.name;
    line.sh_type = section.type;
    line.sh_link = section.link;
    line.sh_flags = section.flags;
    line.sh_offset = sizeof header + bodies.size();
    line.sh_size = section.bytes.size();
    bodies += section.bytes;
    table.append(reinterpret_cast<const char*>(&line), sizeof line);
  }
  header.e_shoff = sizeof header + bodies.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + bodies + table;
}

}  // namespace hone::target
