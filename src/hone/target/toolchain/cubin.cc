#include "hone/target/toolchain/cubin.h"

#include <algorithm>
#include <map>

#include "hone/base/file.h"
#include "hone/target/bundle.h"
#include "hone/target/toolchain/elf_image.h"

namespace hone::target {
namespace {

/// Attributes of .nv.info: a byte of format, a byte of kind, 16 bits that are a value or the size of what follows.
enum Attribute : uint8_t { kMaxThreads = 0x05, kStack = 0x12, kExactThreads = 0x10, kParameter = 0x17, kRegisters = 0x2f, kPhaseBarriers = 0x39 };
constexpr uint8_t kSized = 4;
constexpr uint32_t kMostExtent = 1 << 20;
constexpr uint8_t kEntry = 0x10;  ///< in a symbol's st_other: a __global__ function

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

void read_entry_info(std::string_view info, GpuEntry& entry) {
  each_attribute(info, [&](uint8_t kind, std::string_view value) {
    // Of x, y and z, each far below what their product would need to leave the range.
    const auto threads = [&] { return int64_t{std::min(word_at(value, 0), kMostExtent)} * std::min(word_at(value, 4), kMostExtent) * std::min(word_at(value, 8), kMostExtent); };
    if (kind == kMaxThreads && value.size() >= 12) entry.bound = threads();
    if (kind == kExactThreads && value.size() >= 12) entry.exact = threads();
    if (kind == kParameter && value.size() >= 12) {
      const size_t ordinal = word_at(value, 4) & 0xffff;
      if (ordinal >= 4096) return;
      if (entry.parameters.size() <= ordinal) entry.parameters.resize(ordinal + 1);
      entry.parameters[ordinal] = word_at(value, 8) >> 18;
    }
  });
}

bool add_image(std::string_view content, CubinFacts& facts) {
  const auto image = ElfImage::open(content, EM_CUDA);
  if (!image) return false;
  std::map<uint32_t, size_t> by_symbol;
  for (const Elf64_Shdr& section : image->sections())
    if (image->name(section) == ".nv.constant3") add_size(facts.constant_bytes, section.sh_size);
  image->each_symbol([&](uint32_t number, const Elf64_Sym& symbol, std::string_view name) {
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (type == STT_FUNC && symbol.st_shndx == SHN_UNDEF) facts.undefined.emplace_back(name);
    const Elf64_Shdr* const home = image->home(symbol);
    if (!home) return;
    const std::string_view section = image->name(*home);
    // Texts of the source's own (assert's words) are named so by the compiler.
    if (type == STT_OBJECT && (section == ".nv.global" || section == ".nv.global.init") && !name.starts_with('$') && !name.starts_with("__unnamed_"))
      add_size(facts.global_bytes, symbol.st_size);
    if (type != STT_FUNC || !(symbol.st_other & kEntry)) return;
    GpuEntry entry;
    entry.symbol = name;
    entry.facts["code_bytes"] = static_cast<int64_t>(symbol.st_size);
    const std::string_view info = image->body(".nv.info." + entry.symbol);
    read_entry_info(info, entry);
    each_attribute(info, [&](uint8_t kind, std::string_view) { facts.phase_barriers |= kind == kPhaseBarriers; });
    by_symbol[number] = facts.entries.size();
    facts.entries.push_back(std::move(entry));
  });
  each_attribute(image->body(".nv.info"), [&](uint8_t kind, std::string_view value) {
    const auto it = by_symbol.find(word_at(value, 0));
    if (value.size() < 8 || it == by_symbol.end()) return;
    if (kind == kRegisters) facts.entries[it->second].facts["registers"] = word_at(value, 4);
    if (kind == kStack) facts.entries[it->second].facts["stack_bytes"] = word_at(value, 4);
  });
  return true;
}

}  // namespace

Result<CubinFacts> read_cubin(const std::filesystem::path& file) {
  HONE_TRY(const std::string content, base::read_file(file));
  const std::vector<std::string_view> images = binaries_in(content);
  CubinFacts facts;
  if (images.empty() || !std::ranges::all_of(images, [&](std::string_view image) { return add_image(image, facts); }))
    return fail(ErrorCode::kInternal, file.string() + " is no CUDA binary");
  return facts;
}

int64_t most_threads(const GpuEntry& entry) {
  constexpr int64_t kRegisterFile = 65536, kWarp = 32, kMost = 1024;
  int64_t most = entry.bound ? std::min(*entry.bound, kMost) : kMost;
  if (const auto it = entry.facts.find("registers"); it != entry.facts.end() && it->second > 0) {
    // Registers are given out to a warp in units of 256, and warps spread over four schedulers.
    const int64_t warp = (it->second * kWarp + 255) / 256 * 256;
    most = std::min(most, kRegisterFile / warp / 4 * 4 * kWarp);
  }
  return most;
}

}  // namespace hone::target
