#include "hone/diagnose/profile/ptx_variant.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "hone/diagnose/profile/ptx_flow.h"
#include "hone/diagnose/profile/ptx_text.h"

namespace hone::diagnose {
namespace {

/// An instruction and what it stands among.
struct Site {
  std::string_view text;
  const PtxFlow& flow;
  size_t index;   ///< of the function
  const PtxFunction& function;
  const PtxStatement& s;

  [[nodiscard]] std::string guard() const { return s.guard.empty() ? "" : fmt::format("@{} ", s.guard); }
  /// The instruction without its guard, one part of it in other words.
  [[nodiscard]] std::string with(std::string_view part, std::string_view other) const {
    const size_t at = s.opcode_at + static_cast<size_t>(part.data() - s.opcode.data());
    return fmt::format("{}{}{}", text.substr(s.opcode_at, at - s.opcode_at), other, text.substr(at + part.size(), s.end - at - part.size()));
  }
  [[nodiscard]] std::string_view unguarded() const { return text.substr(s.opcode_at, s.end - s.opcode_at); }
};

/// What a rule says of an instruction: nothing, that it has to stay, or what stands in for it.
struct Answer {
  enum class Is { kNotConcerned, kKept, kChanged } is = Is::kNotConcerned;
  std::string by{};
};
Answer kept() { return {Answer::Is::kKept, {}}; }
Answer changed(std::string by) { return {Answer::Is::kChanged, std::move(by)}; }

/// What functions begin with, where something in them uses it. The clock's high word is all ones after 2^64 cycles: the
/// assembler cannot know that the word is never so, and no bit of `zero` is known to it.
struct Prologue {
  std::string_view uses, text;
};
constexpr Prologue kPrologues[] = {
    {"%hone_never", ".reg .pred %hone_never; .reg .b32 %hone_clock; mov.u32 %hone_clock, %clock_hi; setp.eq.u32 %hone_never, %hone_clock, 0xFFFFFFFF;"},
    {"%hone_zero", ".reg .b32 %hone_zero; selp.b32 %hone_zero, 0xFFFFFFFF, 0, %hone_never;"},
    {"%hone_lane", ".reg .b32 %hone_lane; mov.u32 %hone_lane, %laneid;"},
};

/// 1 of the type, as bits; 0 for integers.
uint32_t one_of(std::string_view type, int bits) {
  struct One {
    std::string_view type;
    int bits;
    uint32_t high_word;
  };
  constexpr One kOnes[] = {{"f32", 32, 0x3F800000}, {"f64", 64, 0x3FF00000},     {"f16", 16, 0x3C00},
                           {"bf16", 16, 0x3F80},    {"f16x2", 32, 0x3C003C00}, {"bf16x2", 32, 0x3F803F80}};
  for (const One& one : kOnes)
    if (one.type == type && one.bits == bits) return one.high_word;
  return 0;
}

/// The address in a fresh register %hone_a of so many bits.
std::string address_in_a(const PtxAccess& a, const PtxFunction& function, int bits) {
  const bool symbol = function.type_of(a.base).empty();
  if (symbol || a.offset == 0) {
    const std::string move = fmt::format(".reg .b{0} %hone_a; mov.u{0} %hone_a, {1};", bits, a.base);
    return a.offset == 0 ? move : fmt::format("{0} add.s{1} %hone_a, %hone_a, {2};", move, bits, a.offset);
  }
  return fmt::format(".reg .b{0} %hone_a; add.s{0} %hone_a, {1}, {2};", bits, a.base, a.offset);
}

bool any_steers(const Site& site, const PtxAccess& a) {
  return std::any_of(a.values.begin(), a.values.end(), [&](std::string_view value) { return site.flow.steers(site.index, value); });
}

template <PtxSpace space>
Answer without_load(const Site& site) {
  const auto a = access_of(site.s);
  if (!a || !a->load || a->space != space || !a->weak) return {};
  const int address_bits = site.function.bits_of_address(a->base, a->space);
  if (address_bits == 0 || any_steers(site, *a)) return kept();
  // Of the address, so that loops cannot keep it; each component of a place of its own, so that none equals another.
  std::string by = fmt::format("{{ {} .reg .b32 %hone_l, %hone_v, %hone_w; .reg .b16 %hone_h, %hone_g; cvt.u32.u{} %hone_l, %hone_a;",
                               address_in_a(*a, site.function, address_bits), address_bits);
  for (size_t i = 0; i < a->values.size(); ++i) {
    const std::string_view value = a->values[i], declared = site.function.type_of(value);
    if (value == "_") continue;
    const int bits = bits_of(declared);
    const std::string_view used = is_float(site.s.type()) ? site.s.type() : is_float(declared) ? declared : site.flow.float_type(site.index, value);
    by += fmt::format(" add.s32 %hone_v, %hone_l, {}; and.b32 %hone_w, %hone_v, %hone_zero; lop3.b32 %hone_v, %hone_v, %hone_zero, {:#x}, 0xEA;",
                      i * static_cast<size_t>(a->bytes), one_of(used, bits));
    if (bits == 64) by += fmt::format(" {}mov.b64 {}, {{%hone_w, %hone_v}};", site.guard(), value);
    else if (bits == 32) by += fmt::format(" {}mov.b32 {}, %hone_v;", site.guard(), value);
    else if (bits == 16) by += fmt::format(" mov.b32 {{%hone_h, %hone_g}}, %hone_v; {}mov.b16 {}, %hone_h;", site.guard(), value);
    else return kept();
  }
  return changed(by + " }");
}

std::string never(const Site& site) {
  if (site.s.guard.empty()) return fmt::format("@%hone_never {}", site.unguarded());
  const bool negated = site.s.guard.front() == '!';
  const std::string wanted = negated ? fmt::format("not.pred %hone_p, {}; and.pred %hone_p, %hone_p", site.s.guard.substr(1))
                                     : fmt::format("and.pred %hone_p, {}", site.s.guard);
  return fmt::format("{{ .reg .pred %hone_p; {}, %hone_never; @%hone_p {} }}", wanted, site.unguarded());
}

/// Where blocks wait for each other, a word that no arithmetic on floating-point numbers knows may be what they wait for.
bool may_be_awaited(const Site& site, std::string_view value) {
  return site.flow.waits(site.index) && site.flow.float_type(site.index, value).empty();
}

template <PtxSpace space>
Answer without_store(const Site& site) {
  const auto a = access_of(site.s);
  if (!a || a->load || a->space != space || !a->weak) return {};
  if (space == PtxSpace::kLocal && site.flow.local_steers(site.index)) return kept();
  if (a->elements == 1 && !is_float(site.s.type()) && may_be_awaited(site, a->values[0])) return kept();
  return changed(never(site));
}

Answer without_atomic(const Site& site) {
  const PtxStatement& s = site.s;
  if ((!s.is_instruction("red") && !s.is_instruction("atom")) || s.has("async")) return {};
  if (s.has_any({"release", "acquire", "acq_rel", "shared::cluster"}) || s.operands.size() < 2) return kept();
  const bool taken = s.is_instruction("atom") && s.operands[0] != "_" && site.flow.is_read(site.index, s.operands[0]);
  const bool awaited = site.flow.waits(site.index) && !is_float(s.type());
  const bool steers = !s.has("global") && site.flow.shared_steers(site.index);
  return taken || awaited || steers || s.operands[0].front() == '{' ? kept() : changed(never(site));
}

Answer without_barrier(const Site& site) {
  const PtxStatement& s = site.s;
  if ((!s.is_instruction("bar") && !s.is_instruction("barrier")) || s.has_any({"warp", "cluster", "red"})) return {};
  if (!s.has("sync") && !s.has("arrive")) return {};
  // Without it a thread may read what steers it before it is there: an mbarrier that nobody has set up never opens.
  return site.flow.shared_steers(site.index) ? kept() : changed("");
}

Answer without_conflicts(const Site& site) {
  const auto a = access_of(site.s);
  // Volatile ones too: what threads wait for steers.
  if (!a || !a->shared() || (!a->weak && !site.s.has("volatile"))) return {};
  const int bits = site.function.bits_of_address(a->base, a->space), row = kPtxLanes * a->width();
  if (bits == 0 || a->width() > 16 || (a->load ? any_steers(site, *a) : site.flow.shared_steers(site.index))) return kept();
  // An offset of whole rows may stay where it is, so that neighbouring accesses share the reckoning.
  PtxAccess own = *a;
  const int64_t rows = a->offset % row == 0 ? a->offset : 0;
  own.offset -= rows;
  std::string by = fmt::format("{{ {} .reg .b32 %hone_l; mul.lo.u32 %hone_l, %hone_lane, {};", address_in_a(own, site.function, bits), a->width());
  if (bits == 32) by += fmt::format(" lop3.b32 %hone_a, %hone_a, {}, %hone_l, 0xEA;", -row);
  else by += fmt::format(" .reg .b64 %hone_w; cvt.u64.u32 %hone_w, %hone_l; and.b64 %hone_a, %hone_a, {}; or.b64 %hone_a, %hone_a, %hone_w;", -row);
  return changed(fmt::format("{} {}{} }}", by, site.guard(), site.with(a->address, fmt::format("[%hone_a+{}]", rows))));
}

Answer without_spread(const Site& site) {
  const auto a = access_of(site.s);
  if (!a || !a->global() || !a->weak) return {};
  if (site.function.bits_of_address(a->base, a->space) != 64 || a->width() > kPtxLanes) return kept();
  if (a->load && any_steers(site, *a)) return kept();
  // All lanes that are here take part in the exchange; the leader is the first of those whose guard lets them through.
  std::string by = fmt::format("{{ {} .reg .b32 %hone_m, %hone_f, %hone_l, %hone_h; .reg .b64 %hone_w; activemask.b32 %hone_m;",
                               address_in_a(*a, site.function, 64));
  if (site.s.guard.empty()) by += " brev.b32 %hone_f, %hone_m;";
  else by += fmt::format(" vote.sync.ballot.b32 %hone_f, {}, %hone_m; brev.b32 %hone_f, %hone_f;", site.s.guard);
  by += " bfind.shiftamt.u32 %hone_f, %hone_f; mov.b64 {%hone_l, %hone_h}, %hone_a;"
        " shfl.sync.idx.b32 %hone_l, %hone_l, %hone_f, 31, %hone_m; shfl.sync.idx.b32 %hone_h, %hone_h, %hone_f, 31, %hone_m;"
        " and.b32 %hone_l, %hone_l, -32; mov.b64 %hone_a, {%hone_l, %hone_h}; sub.s32 %hone_f, %hone_lane, %hone_f;";
  by += fmt::format(" mul.wide.s32 %hone_w, %hone_f, {}; add.s64 %hone_a, %hone_a, %hone_w;", a->width());
  return changed(fmt::format("{} {}{} }}", by, site.guard(), site.with(a->address, "[%hone_a]")));
}

Answer nothing(const Site&) { return {}; }

/// What each variant does with an instruction: the first rule that is concerned.
struct Rule {
  Without what;
  Answer (*first)(const Site& site);
  Answer (*second)(const Site& site) = nothing;
  std::string_view at_entry{};   ///< put first into every entry
};
constexpr Rule kRules[] = {
    {Without::kGlobalLoads, without_load<PtxSpace::kGlobal>},
    {Without::kGlobalStores, without_store<PtxSpace::kGlobal>},
    {Without::kGlobalMemory, without_load<PtxSpace::kGlobal>, without_store<PtxSpace::kGlobal>},
    {Without::kLocalMemory, without_load<PtxSpace::kLocal>, without_store<PtxSpace::kLocal>},
    {Without::kAtomicUpdates, without_atomic},
    {Without::kBlockBarriers, without_barrier},
    {Without::kBankConflicts, without_conflicts},
    {Without::kSpread, without_spread},
    {Without::kWork, nothing, nothing, "ret;"},
};

std::string prologue_of(std::string_view uses) {
  // The zero is made of the never.
  const bool zero = uses.find("%hone_zero") != std::string_view::npos;
  std::string text;
  for (const Prologue& p : kPrologues)
    if (uses.find(p.uses) != std::string_view::npos || (zero && p.uses == "%hone_never")) text += fmt::format("{}\n\t", p.text);
  return text;
}

}  // namespace

Result<PtxVariant> ptx_without(std::string_view ptx, Without what) {
  HONE_TRY(const PtxText text, read_ptx(ptx));
  if (ptx.find("%hone_") != std::string_view::npos) return fail(ErrorCode::kInput, "this PTX is a variant already", "give the kernel's own");
  const Rule& rule = *std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.what == what; });
  const PtxFlow flow(text);
  PtxVariant variant;
  PtxEdits edits;
  for (size_t index = 0; index < text.functions.size(); ++index) {
    const PtxFunction& function = text.functions[index];
    std::string uses;
    if (function.entry && !rule.at_entry.empty()) edits.insert(function.body, fmt::format("{}\n\t", rule.at_entry)), ++variant.changed;
    for (const PtxStatement& s : function.statements) {
      if (s.kind != PtxKind::kInstruction) continue;
      const Site site{ptx, flow, index, function, s};
      Answer answer = rule.first(site);
      if (answer.is == Answer::Is::kNotConcerned) answer = rule.second(site);
      variant.kept += answer.is == Answer::Is::kKept;
      if (answer.is != Answer::Is::kChanged) continue;
      ++variant.changed;
      uses += answer.by;
      edits.replace(s.begin, s.end, std::move(answer.by));
    }
    if (const std::string prologue = prologue_of(uses); !prologue.empty()) edits.insert(function.body, prologue);
  }
  variant.text = std::move(edits).applied_to(ptx);
  return variant;
}

}  // namespace hone::diagnose
