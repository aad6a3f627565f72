// The sections of a 64-bit ELF file in memory, for reading what a compiler made of hostile source: every offset is
// checked. Views into the bytes that it was opened on. Pure.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace hone::target {

template <class T>
bool read_at(std::string_view image, uint64_t offset, T& out) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, image.data() + offset, sizeof(T));
  return true;
}

/// Sizes that a file claims, added up as far as numbers go.
inline void add_size(int64_t& sum, uint64_t size) {
  if (__builtin_add_overflow(sum, size, &sum)) sum = INT64_MAX;
}

class ElfImage {
 public:
  [[nodiscard]] static std::optional<ElfImage> open(std::string_view bytes, uint16_t machine) {
    ElfImage image;
    image.bytes_ = bytes;
    Elf64_Ehdr header;
    if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != machine)
      return std::nullopt;
    image.sections_.resize(header.e_shnum);
    for (size_t i = 0; i < image.sections_.size(); ++i)
      if (!read_at(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), image.sections_[i])) return std::nullopt;
    if (header.e_shstrndx >= image.sections_.size()) return std::nullopt;
    image.names_ = header.e_shstrndx;
    size_t tables = 0;
    for (size_t i = image.sections_.size(); i-- > 0;) {
      image.by_name_[image.name(image.sections_[i])] = i;  // the first of a name
      tables += image.sections_[i].sh_type == SHT_SYMTAB;
    }
    if (tables > 1) return std::nullopt;  // a file has one; work grows with each
    return image;
  }

  [[nodiscard]] const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  [[nodiscard]] std::string_view name(const Elf64_Shdr& section) const { return text(names_, section.sh_name); }
  [[nodiscard]] std::string_view text(size_t strings, uint64_t offset) const {
    if (strings >= sections_.size()) return {};
    const std::string_view all = body(sections_[strings]);
    return offset < all.size() ? all.substr(offset, strnlen(all.data() + offset, all.size() - offset)) : std::string_view{};
  }
  [[nodiscard]] std::string_view body(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS || section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) return {};
    return bytes_.substr(section.sh_offset, section.sh_size);
  }
  [[nodiscard]] std::string_view body(std::string_view name_wanted) const {
    const auto at = by_name_.find(name_wanted);
    return at == by_name_.end() ? std::string_view{} : body(sections_[at->second]);
  }
  /// each(number, symbol, name) for every symbol that the file has.
  template <class Each>
  void each_symbol(Each each) const {
    for (const Elf64_Shdr& section : sections_) {
      if (section.sh_type != SHT_SYMTAB) continue;
      const std::string_view symbols = body(section);
      for (uint32_t i = 0; (i + uint64_t{1}) * sizeof(Elf64_Sym) <= symbols.size(); ++i)
        if (Elf64_Sym symbol; read_at(symbols, i * sizeof(Elf64_Sym), symbol)) each(i, symbol, text(section.sh_link, symbol.st_name));
    }
  }
  /// The section that a symbol lies in; null where it lies in none.
  [[nodiscard]] const Elf64_Shdr* home(const Elf64_Sym& symbol) const {
    return symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= sections_.size() ? nullptr : &sections_[symbol.st_shndx];
  }

 private:
  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::unordered_map<std::string_view, size_t> by_name_;
  size_t names_ = 0;
};

}  // namespace hone::target
