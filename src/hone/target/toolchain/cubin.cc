#include "hone/target/toolchain/cubin.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/base/file.h"

namespace hone::target {
namespace {

/// Attributes of .nv.info: a byte of format, a byte of kind, 16 bits that are a value or the size of what follows.
enum Attribute : uint8_t { kMaxThreads = 0x05, kStack = 0x12, kParameter = 0x17, kRegisters = 0x2f };
constexpr uint8_t kSized = 4;
constexpr uint8_t kEntry = 0x10;  ///< in a symbol's st_other: a __global__ function

template <class T>
bool read_at(std::string_view image, uint64_t offset, T& out) {
  if (offset > image.size() || image.size() - offset < sizeof(T)) return false;
  std::memcpy(&out, image.data() + offset, sizeof(T));
  return true;
}

uint32_t word_at(std::string_view bytes, size_t offset) {
  uint32_t word = 0;
  return read_at(bytes, offset, word) ? word : 0;
}

template <class Each>
void each_attribute(std::string_view bytes, Each each) {
  for (size_t at = 0; at + 4 <= bytes.size();) {
    const auto format = static_cast<uint8_t>(bytes[at]), kind = static_cast<uint8_t>(bytes[at + 1]);
    const size_t size = format == kSized ? word_at(bytes, at) >> 16 : 0;
    if (at + 4 + size > bytes.size()) return;
    each(kind, bytes.substr(at + 4, size));
    at += 4 + size;
  }
}

class Image {
 public:
  [[nodiscard]] static std::optional<Image> open(std::string_view bytes) {
    Image image;
    image.bytes_ = bytes;
    Elf64_Ehdr header;
    if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_machine != EM_CUDA)
      return std::nullopt;
    image.sections_.resize(header.e_shnum);
    for (size_t i = 0; i < image.sections_.size(); ++i)
      if (!read_at(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), image.sections_[i])) return std::nullopt;
    if (header.e_shstrndx >= image.sections_.size()) return std::nullopt;
    image.names_ = header.e_shstrndx;
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
    for (const Elf64_Shdr& section : sections_)
      if (name(section) == name_wanted) return body(section);
    return {};
  }

 private:
  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  size_t names_ = 0;
};

void read_entry_info(std::string_view info, CubinEntry& entry) {
  each_attribute(info, [&](uint8_t kind, std::string_view value) {
    if (kind == kMaxThreads && value.size() >= 12) entry.bound = int64_t{word_at(value, 0)} * word_at(value, 4) * word_at(value, 8);
    if (kind == kParameter && value.size() >= 12) {
      const size_t ordinal = word_at(value, 4) & 0xffff;
      if (ordinal >= 4096) return;
      if (entry.parameters.size() <= ordinal) entry.parameters.resize(ordinal + 1);
      entry.parameters[ordinal] = word_at(value, 8) >> 18;
    }
  });
}

}  // namespace

Result<CubinFacts> read_cubin(const std::filesystem::path& file) {
  HONE_TRY(const std::string content, base::read_file(file));
  const auto image = Image::open(content);
  if (!image) return fail(ErrorCode::kInternal, file.string() + " is no CUDA binary");
  CubinFacts facts;
  std::map<uint32_t, size_t> by_symbol;
  for (const Elf64_Shdr& section : image->sections()) {
    const std::string_view name = image->name(section);
    if (name == ".nv.constant3") facts.constant_bytes += static_cast<int64_t>(section.sh_size);
    if (section.sh_type != SHT_SYMTAB) continue;
    const std::string_view symbols = image->body(section);
    for (uint32_t i = 0; (i + 1) * sizeof(Elf64_Sym) <= symbols.size(); ++i) {
      Elf64_Sym symbol;
      if (!read_at(symbols, i * sizeof(Elf64_Sym), symbol)) break;
      const std::string_view text = image->text(section.sh_link, symbol.st_name);
      const int type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_FUNC && symbol.st_shndx == SHN_UNDEF) facts.undefined.emplace_back(text);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= image->sections().size()) continue;
      const std::string_view home = image->name(image->sections()[symbol.st_shndx]);
      // Texts of the source's own (assert's words) are named so by the compiler.
      if (type == STT_OBJECT && (home == ".nv.global" || home == ".nv.global.init") && !text.starts_with('$') && !text.starts_with("__unnamed_"))
        facts.global_bytes += static_cast<int64_t>(symbol.st_size);
      if (type != STT_FUNC || !(symbol.st_other & kEntry)) continue;
      CubinEntry entry;
      entry.symbol = text;
      entry.code_bytes = static_cast<int64_t>(symbol.st_size);
      read_entry_info(image->body(".nv.info." + entry.symbol), entry);
      by_symbol[i] = facts.entries.size();
      facts.entries.push_back(std::move(entry));
    }
  }
  each_attribute(image->body(".nv.info"), [&](uint8_t kind, std::string_view value) {
    const auto it = by_symbol.find(word_at(value, 0));
    if (value.size() < 8 || it == by_symbol.end()) return;
    if (kind == kRegisters) facts.entries[it->second].registers = word_at(value, 4);
    if (kind == kStack) facts.entries[it->second].stack_bytes = word_at(value, 4);
  });
  return facts;
}

std::string source_name(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  size_t at = 2;
  const bool nested = at < symbol.size() && symbol[at] == 'N';
  if (nested) ++at;
  std::string last;
  while (at < symbol.size()) {
    if (symbol[at] == 'L') ++at;  // internal linkage
    size_t length = 0, digits = at;
    while (digits < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[digits])) && length < symbol.size())
      length = 10 * length + static_cast<size_t>(symbol[digits++] - '0');
    if (digits == at || length == 0 || length > symbol.size() - digits) break;
    last = symbol.substr(digits, length);
    at = digits + length;
    if (!nested) break;
  }
  return last;
}

tl::expected<const CubinEntry*, std::string> find_entry(const CubinFacts& facts, const std::string& function) {
  std::vector<const CubinEntry*> found;
  for (const CubinEntry& entry : facts.entries)
    if (source_name(entry.symbol) == function) found.push_back(&entry);
  if (found.size() == 1) return found[0];
  if (found.size() > 1)
    return tl::unexpected(fmt::format("the launch of {} may mean any of {} __global__ functions of this name", function, found.size()));
  std::vector<std::string> names;
  for (const CubinEntry& entry : facts.entries) names.push_back(source_name(entry.symbol));
  std::sort(names.begin(), names.end());
  if (names.empty()) return tl::unexpected(fmt::format("the launch of {} has no __global__ function: the source has none (a template must be instantiated)", function));
  if (names.size() > 8) names.resize(8);
  return tl::unexpected(fmt::format("the launch of {} has no __global__ function of that name; there is {}", function, fmt::join(names, ", ")));
}

int64_t most_threads(const CubinEntry& entry) {
  constexpr int64_t kRegisterFile = 65536, kWarp = 32, kMost = 1024;
  int64_t most = entry.bound ? std::min(*entry.bound, kMost) : kMost;
  if (entry.registers && *entry.registers > 0) {
    // Registers are given out to a warp in units of 256, and warps spread over four schedulers.
    const int64_t warp = (*entry.registers * kWarp + 255) / 256 * 256;
    most = std::min(most, kRegisterFile / warp / 4 * 4 * kWarp);
  }
  return most;
}

}  // namespace hone::target
