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
constexpr std::string_view kPlain[] = {
    "memcpy", "memmove", "memset", "memcmp", "bcmp", "memchr", "strlen", "__memcpy_chk", "__memmove_chk", "__memset_chk", "abort",
    // A class with virtual functions names these, and never calls them: nothing hands out what could be given back.
    "_ZdlPv", "_ZdlPvm", "__cxa_pure_virtual",
    "__stack_chk_fail", "__tls_get_addr", "__cxa_finalize", "__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"};

/// Of the mathematics library, each also with f and l behind it. Those that keep state between calls are not among them.
constexpr std::string_view kMathematics[] = {
    "exp",   "exp2",  "exp10", "pow10", "expm1", "log",   "log2",  "log10", "log1p", "sqrt",  "cbrt",  "sin",   "cos",
    "tan",   "asin",  "acos",  "atan",  "sinh",  "cosh",  "tanh",  "asinh", "acosh", "atanh", "erf",   "erfc",  "tgamma",
    "lgamma", "j0",   "j1",    "jn",    "y0",    "y1",    "yn",    "floor", "ceil",  "trunc", "round", "roundeven", "rint",
    "nearbyint", "fabs", "pow", "atan2", "fmod", "drem",  "remainder", "remquo", "hypot", "fmax", "fmin", "fdim", "fma",
    "copysign", "nextafter", "nexttoward", "ldexp", "frexp", "modf", "scalb", "scalbn", "scalbln", "significand", "logb",
    "ilogb", "llogb", "lrint", "llrint", "lround", "llround", "sincos", "isnan", "isinf", "finite", "__isnan", "__isinf",
    "__finite", "__signbit", "__fpclassify", "fmaximum", "fminimum", "fmaximum_num", "fminimum_num", "cabs", "carg", "creal",
    "cimag", "conj", "cproj", "cexp", "clog", "clog10", "csqrt", "cpow", "csin", "ccos", "ctan", "casin", "cacos", "catan",
    "csinh", "ccosh", "ctanh", "casinh", "cacosh", "catanh"};

bool is_allowed(std::string_view name) {
  static const std::set<std::string, std::less<>> names = [] {
    std::set<std::string, std::less<>> all(std::begin(kPlain), std::end(kPlain));
    for (const std::string_view function : kMathematics)
      for (const std::string_view type : {"", "f", "l"}) all.insert(std::string(function) + std::string(type));
    return all;
  }();
  return names.contains(name);
}

/// Libraries that the runner has loaded already, so that none of their code runs when a kernel is.
constexpr std::string_view kLibraries[] = {"libm.so.6", "libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2",
                                           "ld-linux-aarch64.so.1"};

/// Sections that compilers make and that are written to or run. Where code or data lies, nobody else has a say.
constexpr std::string_view kWritable[] = {".data", ".bss", ".tdata", ".tbss", ".got", ".got.plt", ".dynamic", ".data.rel.ro",
                                          ".init_array", ".fini_array", ".tm_clone_table", ".hone_shared", "asan_globals"};
constexpr std::string_view kExecutable[] = {".text", ".plt", ".plt.got", ".plt.sec", ".init", ".fini"};

/// What the runner looks for (worker/protocol.h), and the one thing that it finds.
constexpr std::string_view kTable = "hone_entries";

/// A kernel's writable memory is put back before every call: what is more than this belongs into a workspace.
constexpr int64_t kMostData = 1 << 20;
/// Of a segment or section, and of all symbols' names: what says more says what cannot be, and sums stay sums.
constexpr int64_t kMostBytes = int64_t{1} << 40;
constexpr size_t kMostNames = size_t{64} << 20;

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
  if (strings.sh_offset > image.size() || strings.sh_size > image.size() - strings.sh_offset || offset >= strings.sh_size) return {};
  const char* begin = image.data() + strings.sh_offset + offset;
  return {begin, strnlen(begin, strings.sh_size - offset)};
}

template <class Names>
bool among(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

#if defined(__aarch64__)
constexpr uint32_t kIndirect = R_AARCH64_IRELATIVE;
#else
constexpr uint32_t kIndirect = R_X86_64_IRELATIVE;
#endif

/// Reads one file; false anywhere: it is cut off or says things that cannot be.
class Reader {
 public:
  Reader(std::string_view image, ElfFacts& facts) : image_(image), facts_(facts) {}

  bool read() {
    Elf64_Ehdr header;
    if (!read_at(image_, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN)
      return false;
    return table(header.e_phoff, header.e_phnum, segments_) && table(header.e_shoff, header.e_shnum, sections_) &&
           header.e_shstrndx < sections_.size() && read_segments() && read_sections(sections_[header.e_shstrndx]);
  }

 private:
  template <class Row>
  bool table(uint64_t at, size_t count, std::vector<Row>& rows) {
    rows.resize(count);
    for (size_t i = 0; i < count; ++i)
      if (!read_at(image_, at + i * sizeof(Row), rows[i])) return false;
    return true;
  }
  /// The first reason stays.
  void forbid(std::string why) {
    if (facts_.forbidden.empty()) facts_.forbidden = std::move(why);
  }

  /// By what the loader goes by, whatever sections are called.
  bool read_segments() {
    bool stack = false;
    int64_t shared = 0;  // by all threads, once what is sealed after loading is off
    for (const Elf64_Phdr& segment : segments_) {
      const auto bytes = static_cast<int64_t>(segment.p_memsz);
      if (bytes < 0 || bytes > kMostBytes) return false;
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W)) {
        shared += bytes;
        if (segment.p_flags & PF_X) forbid("has memory that is both writable and executable");
      }
      if (segment.p_type == PT_GNU_RELRO) shared -= bytes;
      if (segment.p_type == PT_TLS) facts_.data_bytes += bytes;
      if (segment.p_type == PT_GNU_STACK) stack = true;
      if (segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X)) forbid("wants an executable stack");
      if (segment.p_type == PT_INTERP) forbid("names a loader of its own");
      if (segment.p_type == PT_DYNAMIC && !read_dynamic(segment)) return false;
    }
    if (!stack) forbid("wants an executable stack");
    facts_.data_bytes += std::max<int64_t>(0, shared);  // a page's rest may count as sealed
    return true;
  }

  bool read_dynamic(const Elf64_Phdr& segment) {
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!read_at(image_, segment.p_offset + at, entry)) return false;
      if (entry.d_tag == DT_NULL) return true;
      if (entry.d_tag == DT_TEXTREL || (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_TEXTREL))) forbid("has its code changed when it is loaded");
      if (entry.d_tag == DT_AUDIT || entry.d_tag == DT_DEPAUDIT || entry.d_tag == DT_FILTER || entry.d_tag == DT_AUXILIARY ||
          entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
        forbid("says where libraries are to be looked for");
      if (entry.d_tag == DT_INIT || entry.d_tag == DT_FINI) has_init_ = true;
    }
    return true;
  }

  bool read_sections(const Elf64_Shdr& names) {
    for (const Elf64_Shdr& section : sections_) {
      const std::string_view name = text_at(image_, names, section.sh_name);
      const auto size = static_cast<int64_t>(section.sh_size);
      if (size < 0 || size > kMostBytes) return false;
      if (section.sh_flags & SHF_EXECINSTR) {
        facts_.text_bytes += size;
        if (!among(kExecutable, name)) forbid(fmt::format("has code in a section of its own ({})", name));
      }
      if ((section.sh_flags & SHF_ALLOC) && (section.sh_flags & SHF_WRITE) && !among(kWritable, name))
        forbid(fmt::format("has globals in a section of its own ({})", name));
      count_constructors(section, name, size);
      if (section.sh_type == SHT_DYNAMIC && !read_libraries(section)) return false;
      if ((section.sh_type == SHT_RELA || section.sh_type == SHT_REL) && !read_relocations(section)) return false;
      if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
      // There is one of each.
      if (!tables_.insert(section.sh_type).second || section.sh_link >= sections_.size() || !read_symbols(section, sections_[section.sh_link], names)) return false;
    }
    return true;
  }

  void count_constructors(const Elf64_Shdr& section, std::string_view name, int64_t size) {
    const int entries = static_cast<int>(std::min<int64_t>(size / 8, 1 << 20));
    // One entry is the compiler's frame_dummy, where the compiler's own start files are linked.
    if (section.sh_type == SHT_INIT_ARRAY || name == ".init_array")
      facts_.constructors += entries - (has_init_ ? 1 : 0);
    else if (section.sh_type == SHT_PREINIT_ARRAY || name == ".preinit_array" || name == ".ctors" || name == ".dtors")
      facts_.constructors += entries + 1;
    else if ((section.sh_type == SHT_FINI_ARRAY || name == ".fini_array") && !has_init_)
      ++facts_.constructors;
    else if ((name == ".init" || name == ".fini") && !has_init_)
      ++facts_.constructors;
  }

  bool read_libraries(const Elf64_Shdr& section) {
    if (section.sh_link >= sections_.size()) return false;
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!read_at(image_, section.sh_offset + at, entry)) return false;
      if (entry.d_tag != DT_NEEDED) continue;
      const std::string_view library = text_at(image_, sections_[section.sh_link], entry.d_un.d_val);
      if (!among(kLibraries, library)) facts_.libraries.emplace_back(library);
    }
    return true;
  }

  /// The loader writes where a relocation says, without asking.
  bool read_relocations(const Elf64_Shdr& section) {
    if (!(section.sh_flags & SHF_ALLOC)) return true;
    if (section.sh_type == SHT_REL) forbid("has relocations of another processor");
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= section.sh_size; at += sizeof(Elf64_Rela)) {
      Elf64_Rela entry;
      if (!read_at(image_, section.sh_offset + at, entry)) return false;
      if (ELF64_R_TYPE(entry.r_info) == kIndirect) forbid("has an indirect function, whose resolver runs when it is loaded");
      const bool inside = std::any_of(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& s) {
        return s.p_type == PT_LOAD && (s.p_flags & PF_W) && entry.r_offset >= s.p_vaddr && s.p_memsz >= 8 && entry.r_offset - s.p_vaddr <= s.p_memsz - 8;
      });
      if (!inside) forbid("has its code changed when it is loaded");
    }
    return true;
  }

  bool read_symbols(const Elf64_Shdr& section, const Elf64_Shdr& strings, const Elf64_Shdr& names) {
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      if (!read_at(image_, section.sh_offset + at, symbol)) return false;
      const std::string_view text = text_at(image_, strings, symbol.st_name);
      if ((names_ += text.size()) > kMostNames) return false;
      if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC)
        forbid(fmt::format("has an indirect function ({}), whose resolver runs when it is loaded", text));
      if (section.sh_type == SHT_DYNSYM) {
        if (symbol.st_shndx == SHN_UNDEF && !text.empty()) facts_.undefined.emplace_back(text);
        // Templates of the standard library come weak.
        if (symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < SHN_LORESERVE && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL) facts_.exported.emplace_back(text);
      } else if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_shndx < sections_.size()) {
        const std::string_view home = text_at(image_, names, sections_[symbol.st_shndx].sh_name);
        if (sections_[symbol.st_shndx].sh_flags & SHF_EXECINSTR) forbid(fmt::format("has data among its code ({}), which nobody has looked into", text));
        if (home == ".hone_shared") facts_.shared.emplace_back(text, static_cast<int64_t>(symbol.st_size));
      }
    }
    return true;
  }

  std::string_view image_;
  ElfFacts& facts_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::set<uint32_t> tables_;  ///< of symbols, by type, that were read
  size_t names_ = 0;           ///< bytes of symbols' names
  bool has_init_ = false;
};

}  // namespace

Result<ElfFacts> read_elf(const std::filesystem::path& file) {
  HONE_TRY(const std::string content, base::read_file(file));
  ElfFacts facts;
  if (!Reader(content, facts).read()) return fail(ErrorCode::kInternal, file.string() + " is no shared object of this machine");
  return facts;
}

std::string refuse(const ElfFacts& facts, bool sanitized, bool emulated) {
  if (!facts.forbidden.empty()) return "it " + facts.forbidden;
  for (const std::string& name : facts.undefined) {
    const std::string_view plain = std::string_view(name).substr(0, name.find('@'));
    if (!is_allowed(plain) && !(sanitized && (instrumentation(name) || (emulated && among(kEmulator, name)))))
      return fmt::format("it calls {}, which a kernel may not: only memory moves and mathematics are linked", name);
  }
  // The rest was looked at in the build without sanitizers, which add all of it.
  if (sanitized) return {};
  for (const std::string& name : facts.exported)
    if (name != kTable && !emulated) return fmt::format("it exports {}, which somebody else may call", name);
  if (!facts.libraries.empty()) return fmt::format("it asks for the library {}", facts.libraries.front());
  if (facts.constructors > (emulated ? 1 : 0)) return "it has code that runs at load time (a global constructor)";
  if (facts.data_bytes > kMostData)
    return fmt::format("it has {} KiB of writable globals, those of a thread included; a kernel keeps its state in workspaces",
                       facts.data_bytes >> 10);
  return {};
}

}  // namespace hone::target
