#include "hone/target/toolchain/code_object.h"

#include <algorithm>
#include <array>
#include <sstream>

#include <nlohmann/json.hpp>

#include "hone/base/file.h"
#include "hone/target/toolchain/elf_image.h"

namespace hone::target {
namespace {

using nlohmann::json;

constexpr uint16_t kAmdGpu = 224;          // EM_AMDGPU
constexpr uint32_t kMetadataNote = 32;     // NT_AMDGPU_METADATA

/// Of numbers in the metadata: absent where there is none.
void put(const json& kernel, const char* key, const char* fact, GpuEntry& entry) {
  if (const auto it = kernel.find(key); it != kernel.end() && it->is_number_integer()) entry.facts[fact] = it->get<int64_t>();
}

std::string text_of(const json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

GpuEntry entry_of(const json& kernel) {
  GpuEntry entry;
  entry.symbol = text_of(kernel, ".name");
  put(kernel, ".vgpr_count", "registers", entry);
  put(kernel, ".agpr_count", "agprs", entry);
  put(kernel, ".sgpr_count", "sgprs", entry);
  put(kernel, ".vgpr_spill_count", "spilled_vgprs", entry);
  put(kernel, ".sgpr_spill_count", "spilled_sgprs", entry);
  put(kernel, ".private_segment_fixed_size", "stack_bytes", entry);
  put(kernel, ".group_segment_fixed_size", "static_shared_bytes", entry);
  put(kernel, ".max_flat_workgroup_size", "max_threads", entry);
  int64_t bytes = 0;
  if (const auto args = kernel.find(".args"); args != kernel.end() && args->is_array())
    for (const json& argument : *args) {
      if (!argument.is_object() || text_of(argument, ".value_kind").starts_with("hidden_")) continue;
      const auto size = argument.find(".size");
      entry.parameters.push_back(size != argument.end() && size->is_number_unsigned() ? size->get<int64_t>() : 0);
      add_size(bytes, static_cast<uint64_t>(entry.parameters.back()));
    }
  entry.facts["constant_bytes"] = bytes;
  return entry;
}

/// The metadata among a note section's entries: sizes of name and content, type, then both padded to four bytes.
std::string_view metadata_in(std::string_view notes) {
  const auto padded = [](uint64_t n) { return (n + 3) / 4 * 4; };
  for (uint64_t at = 0; at + 12 <= notes.size();) {
    std::array<uint32_t, 3> head{};
    if (!read_at(notes, at, head)) break;
    const uint64_t content = at + 12 + padded(head[0]);
    if (content > notes.size() || head[1] > notes.size() - content) break;
    if (head[2] == kMetadataNote) return notes.substr(content, head[1]);
    at = content + padded(head[1]);
  }
  return {};
}

}  // namespace

Result<CodeObject> read_code_object(const std::filesystem::path& file) {
  HONE_TRY(const std::string content, base::read_file(file));
  const auto image = ElfImage::open(content, kAmdGpu);
  if (!image) return fail(ErrorCode::kInternal, file.string() + " is no AMD code object");
  CodeObject object;
  for (const Elf64_Shdr& section : image->sections()) {
    if (section.sh_type != SHT_NOTE) continue;
    const std::string_view packed = metadata_in(image->body(section));
    if (packed.empty()) continue;
    const json metadata = json::from_msgpack(packed.begin(), packed.end(), true, false);
    const json kernels = metadata.is_object() ? metadata.value("amdhsa.kernels", json::array()) : json();
    if (!kernels.is_array()) return fail(ErrorCode::kInternal, file.string() + " has metadata that make no sense");
    for (const json& kernel : kernels)
      if (kernel.is_object()) object.entries.push_back(entry_of(kernel));
  }
  image->each_symbol([&](uint32_t, const Elf64_Sym& symbol, std::string_view name) {
    const Elf64_Shdr* const home = image->home(symbol);
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (home && type == STT_OBJECT && home->sh_flags & SHF_WRITE && !name.starts_with("__hip_cuid_"))
      add_size(object.global_bytes, symbol.st_size);
    for (GpuEntry& entry : object.entries)
      if (home && type == STT_FUNC && entry.symbol == name) entry.facts["code_bytes"] = static_cast<int64_t>(symbol.st_size);
  });
  return object;
}

namespace {

/// Bits of one lane's share, by how the mnemonic ends: dwordx4, b128, ubyte, …
std::string mnemonic_width(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kWidths[] = {
      {"dwordx4", "128"}, {"b128", "128"}, {"dwordx3", "96"}, {"b96", "96"}, {"dwordx2", "64"}, {"b64", "64"}, {"short", "16"}, {"16", "16"}, {"byte", "8"}, {"8", "8"}};
  for (const auto& [part, bits] : kWidths)
    if (name.find(part) != std::string_view::npos) return std::string(bits);
  return "32";
}

void count_mnemonic(std::string_view name, std::map<std::string, int64_t>& mix) {
  if (name == "s_nop" || name == "s_code_end") return;
  ++mix["all"];
  for (const std::string_view memory : {"global_load", "global_store", "flat_load", "flat_store", "buffer_load", "buffer_store", "ds_read", "ds_write",
                                        "scratch_load", "scratch_store"})
    if (name.starts_with(memory)) ++mix[std::string(memory) + "." + mnemonic_width(name.substr(memory.size()))];
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"v_mfma_", "mfma"}, {"v_smfmac_", "mfma"}, {"v_fma_f32", "v_fma_f32"}, {"v_fmac_f32", "v_fma_f32"}, {"v_pk_fma_f32", "v_pk_fma_f32"},
      {"v_fma_f64", "v_fma_f64"}, {"v_fmac_f64", "v_fma_f64"}, {"v_pk_fma_f16", "v_pk_fma_f16"}, {"s_load_", "s_load"}, {"s_barrier", "s_barrier"},
      {"s_waitcnt", "s_waitcnt"}, {"ds_bpermute", "ds_bpermute"}, {"ds_swizzle", "ds_swizzle"}, {"global_atomic", "global_atomic"}, {"ds_add", "ds_atomic"},
      {"v_accvgpr_", "accvgpr"}, {"s_cbranch", "s_cbranch"}, {"s_swappc", "call"}};
  for (const auto& [prefix, kind] : kKinds)
    if (name.starts_with(prefix)) ++mix[std::string(kind)];
  constexpr std::string_view kSlow[] = {"v_exp_", "v_log_", "v_rcp_", "v_rsq_", "v_sqrt_", "v_sin_", "v_cos_"};
  if (std::any_of(std::begin(kSlow), std::end(kSlow), [&](std::string_view prefix) { return name.starts_with(prefix); })) ++mix["transcendental"];
}

}  // namespace

std::map<std::string, std::map<std::string, int64_t>> read_amd_assembly(const std::string& text) {
  std::map<std::string, std::map<std::string, int64_t>> all;
  std::map<std::string, int64_t>* mix = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    // "0000000000001c00 <rows>:", then lines that begin with a tab.
    if (const size_t open = line.find(" <"); open == 16 && line.ends_with(">:")) {
      mix = &all[line.substr(open + 2, line.size() - open - 4)];
    } else if (mix && line.starts_with('\t')) {
      std::istringstream words(line);
      std::string word;
      if (words >> word) count_mnemonic(word, *mix);
    }
  }
  return all;
}

}  // namespace hone::target
