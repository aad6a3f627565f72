#include "hone/target/toolchain/elf_check.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "hone/base/file.h"
#include "hone/target/toolchain/elf_image.h"

namespace hone::target {
namespace {

/// What a kernel may ask for: memory moves and mathematics. Everything else has no business there.
const std::set<std::string_view>& allowed() {
  static const std::set<std::string_view> names = [] {
    std::set<std::string_view> all{"memcpy", "memmove", "memset", "memcmp", "bcmp", "abort",
                                   "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable",
                                   "_ITM_registerTMCloneTable", "__stack_chk_fail"};
    for (const char* name :
         {"exp",   "exp2",  "expm1", "log",   "log2",  "log10", "log1p", "sqrt",  "cbrt", "sin",  "cos",
          "tan",   "asin",  "acos",  "atan",  "sinh",  "cosh",  "tanh",  "asinh", "acosh", "atanh", "erf",
          "erfc",  "tgamma", "lgamma", "floor", "ceil", "trunc", "round", "rint",  "nearbyint", "fabs",
          "pow",   "atan2", "fmod",  "remainder", "hypot", "fmax", "fmin", "fma",  "copysign", "ldexp",
          "frexp", "scalbn", "logb", "ilogb", "lrint", "llrint", "lround", "llround", "sincos"}) {
      all.insert(name);
      static std::vector<std::string> kept = [] {
        std::vector<std::string> v;
        v.reserve(128);
        return v;
      }();
      kept.push_back(std::string(name) + "f");
      all.insert(kept.back());
    }
    return all;
  }();
  return names;
}

/// What AddressSanitizer's and UndefinedBehaviorSanitizer's instrumentation calls, as far as a name begins
/// so. Their interfaces for programs, which switch checks off, are not among them.
constexpr std::string_view kInstrumentation[] = {
    "__asan_init", "__asan_version_mismatch_check", "__asan_report_", "__asan_register_", "__asan_unregister_",
    "__asan_handle_no_return", "__asan_stack_malloc_", "__asan_stack_free_",
    "__asan_option_detect_stack_use_after_return", "__asan_load", "__asan_store", "__asan_memcpy", "__asan_memset",
    "__asan_memmove", "__asan_poison_stack_memory", "__asan_unpoison_stack_memory", "__asan_set_shadow_",
    "__asan_before_dynamic_init", "__asan_after_dynamic_init", "__asan_alloca_poison", "__asan_allocas_unpoison",
    "__asan_shadow_memory_dynamic_address", "__ubsan_handle_", "__sanitizer_internal_mem"};  // the last: clang's copies

/// What the emulator's own run-time tells AddressSanitizer. A kernel that names these is refused by its source.
constexpr std::string_view kEmulator[] = {"__sanitizer_start_switch_fiber", "__sanitizer_finish_switch_fiber",
                                          "__asan_poison_memory_region", "__asan_unpoison_memory_region"};

bool instrumentation(std::string_view name) {
  return std::any_of(std::begin(kInstrumentation), std::end(kInstrumentation),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view text_at(std::string_view image, const Elf64_Shdr& strings, uint64_t offset) {
  if (offset >= strings.sh_size || strings.sh_offset + strings.sh_size > image.size()) return {};
  const char* begin = image.data() + strings.sh_offset + offset;
  return {begin, strnlen(begin, strings.sh_size - offset)};
}

}  // namespace

Result<ElfFacts> read_elf(const std::filesystem::path& file) {
  HONE_TRY(const std::string content, base::read_file(file));
  const std::string_view image = content;
  const auto broken = [&] {
    return fail(ErrorCode::kInternal, file.string() + " is no shared object of this machine");
  };
  Elf64_Ehdr header;
  if (!read_at(image, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return broken();
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i)
    if (!read_at(image, header.e_shoff + i * sizeof(Elf64_Shdr), sections[i])) return broken();
  if (header.e_shstrndx >= sections.size()) return broken();
  ElfFacts facts;
  for (const Elf64_Shdr& section : sections) {
    const std::string_view name = text_at(image, sections[header.e_shstrndx], section.sh_name);
    const auto size = static_cast<int64_t>(section.sh_size);
    if (section.sh_flags & SHF_EXECINSTR) facts.text_bytes += size;
    if (name == ".data" || name == ".bss" || name == ".tdata" || name == ".tbss") facts.data_bytes += size;
    // One entry is the compiler's frame_dummy.
    if (name == ".init_array") facts.constructors += static_cast<int>(size / 8) - 1;
    if (name == ".preinit_array" || name == ".ctors") facts.constructors += static_cast<int>(size / 8);
    if (section.sh_type == SHT_SYMTAB && section.sh_link < sections.size())
      for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        if (!read_at(image, section.sh_offset + at, symbol)) return broken();
        if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx >= sections.size()) continue;
        if (text_at(image, sections[header.e_shstrndx], sections[symbol.st_shndx].sh_name) != ".hone_shared") continue;
        facts.shared.emplace_back(text_at(image, sections[section.sh_link], symbol.st_name), static_cast<int64_t>(symbol.st_size));
      }
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= sections.size()) continue;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read_at(image, section.sh_offset + at, symbol)) return broken();
      const std::string_view text = text_at(image, sections[section.sh_link], symbol.st_name);
      if (symbol.st_shndx == SHN_UNDEF && !text.empty()) facts.undefined.emplace_back(text);
    }
  }
  return facts;
}

std::string refuse(const ElfFacts& facts, bool sanitized, bool emulated) {
  const auto emulators = [&](const std::string& name) {
    return emulated && std::find(std::begin(kEmulator), std::end(kEmulator), name) != std::end(kEmulator);
  };
  for (const std::string& name : facts.undefined)
    if (!allowed().contains(std::string_view(name).substr(0, name.find('@'))) &&
        !(sanitized && (instrumentation(name) || emulators(name))))
      return fmt::format("it calls {}, which a kernel may not: only memory moves and mathematics are linked", name);
  // The rest was looked at in the build without sanitizers, which add both.
  if (sanitized) return {};
  if (facts.constructors > (emulated ? 1 : 0)) return "it has code that runs at load time (a global constructor)";
  if (facts.data_bytes > (1 << 20))
    return fmt::format("it has {} KiB of writable globals; a kernel keeps its state in workspaces",
                       facts.data_bytes >> 10);
  return {};
}

}  // namespace hone::target
