#include "hone/diagnose/profile/ptx_counting.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "hone/diagnose/profile/ptx_text.h"
#include "hone/target/gpu/protocol.h"

namespace hone::diagnose {
namespace {

using target::worker::kCountsName;

constexpr int kBankBytes = 4, kRowBytes = 128;

/// What an instruction moves, and where: the registers behind it are a thread's.
struct Counted {
  std::string_view base;
  int64_t offset = 0;
  int width = 0;
  bool shared = false, load = false;
};

/// cp.async.ca.shared.global [to], [from], 16: a load that no register sees.
std::optional<Counted> copy_of(const PtxStatement& s) {
  if (!s.is_instruction("cp") || !s.has("async") || !s.has_any({"ca", "cg"}) || s.operands.size() < 3) return std::nullopt;
  const auto from = address_of(s.operands[1]);
  int width = 0;
  const std::string_view words = s.operands[2];
  if (const auto end = std::from_chars(words.data(), words.data() + words.size(), width); end.ec != std::errc() || !from) return std::nullopt;
  return Counted{from->first, from->second, width, false, true};
}

std::optional<Counted> counted(const PtxFunction& function, const PtxStatement& s) {
  std::optional<Counted> found = copy_of(s);
  if (const auto a = access_of(s); a && a->space != PtxSpace::kLocal && (a->weak || a->shared())) found = Counted{a->base, a->offset, a->width(), a->shared(), a->load};
  if (!found) return std::nullopt;
  return function.bits_of_address(found->base, found->shared ? PtxSpace::kShared : PtxSpace::kGlobal) > 0 ? found : std::nullopt;
}

/// Rewrites a function. Each thread's counts are in %hone_n0 and on, as in PtxCount; those that nothing adds to are not there.
class Counting {
 public:
  /// `entry`: which one it is, where it is one; `words`: of a record.
  Counting(std::string_view text, const PtxFunction& function, size_t entry, size_t words, PtxEdits& edits)
      : text_(text), function_(function), first_clock_(kPtxCountSums + kPtxCountClocks * entry), words_(words), edits_(edits) {}

  void rewrite() {
    const auto& all = function_.statements;
    const std::string first_block = block(0);
    for (size_t i = 0; i < all.size(); ++i) {
      const PtxStatement& s = all[i];
      if (s.kind == PtxKind::kLabel) {
        // Directives behind a label, such as that a loop is not to be unrolled, are the label's.
        size_t last = i;
        while (last + 1 < all.size() && all[last + 1].kind == PtxKind::kDirective) ++last;
        edits_.insert(all[last].end, block(last + 1));
      } else if (s.kind == PtxKind::kInstruction) {
        instruction(s);
        if (ends_block(s)) edits_.insert(s.end, block(i + 1));
      }
    }
    // Which counts there are is known only now, and returns add up all of them.
    for (const PtxStatement& s : all)
      if (s.leaves()) edits_.replace(s.begin, s.end, guarded(s, sums()));
    edits_.insert(function_.body, prologue() + first_block);
  }

 private:
  static bool ends_block(const PtxStatement& s) { return !s.guard.empty() && (s.is_instruction("bra") || s.is_instruction("brx") || s.leaves()); }

  std::string add(PtxCount count, std::string_view what) {
    used_.insert(count);
    return fmt::format(" add.u64 %hone_n{0}, %hone_n{0}, {1};", static_cast<size_t>(count), what);
  }
  std::string add_if(std::string_view predicate, PtxCount count, std::string_view what) {
    return fmt::format(" @{}{}", predicate, add(count, what));
  }

  /// %hone_q: this lane is the first of those that are here, whose mask is %hone_m.
  static std::string leader() {
    return " .reg .b32 %hone_m, %hone_k; .reg .pred %hone_q; activemask.b32 %hone_m; and.b32 %hone_k, %hone_m, %hone_below;"
           " setp.eq.u32 %hone_q, %hone_k, 0;";
  }

  /// The instruction behind what counts it, which only threads that its guard lets through come to.
  std::string guarded(const PtxStatement& s, std::string_view what) {
    const std::string_view own = text_.substr(s.begin, s.end - s.begin);
    if (s.guard.empty()) return fmt::format("{{{} {} }}", what, own);
    const bool negated = s.guard.front() == '!';
    const std::string label = fmt::format("$hone_past_{}", s.begin);
    return fmt::format("{{ @{}{} bra {}; {{{} }} {}: {} }}", negated ? "" : "!", s.guard.substr(negated), label, what, label, own);
  }

  /// Instructions from here to the next place where threads may part or meet.
  std::string block(size_t first) {
    int count = 0;
    for (size_t i = first; i < function_.statements.size(); ++i) {
      const PtxStatement& s = function_.statements[i];
      if (s.kind == PtxKind::kLabel) break;
      count += s.kind == PtxKind::kInstruction;
      if (s.kind == PtxKind::kInstruction && (ends_block(s) || s.leaves() || s.is_instruction("bra"))) break;
    }
    if (count == 0) return {};
    return fmt::format(" {{{}{}{} }}\n\t", leader(), add(kCountThreadInstructions, std::to_string(count)),
                       add_if("%hone_q", kCountWarpInstructions, std::to_string(kPtxLanes * count)));
  }

  void instruction(const PtxStatement& s) {
    const bool barrier = (s.is_instruction("bar") || s.is_instruction("barrier")) && !s.has_any({"warp", "cluster", "arrive"});
    if (barrier) edits_.replace(s.begin, s.end, guarded(s, leader() + add_if("%hone_q", kCountBarriers, "1")));
    else if (const auto access = counted(function_, s)) edits_.replace(s.begin, s.end, guarded(s, access->shared ? shared(*access) : global(*access)));
  }

  /// %hone_a: the address, in 64 bits.
  std::string address(const Counted& c) const {
    const std::string_view type = function_.type_of(c.base);
    const std::string from = bits_of(type) == 32 ? fmt::format("cvt.u64.u32 %hone_a, {};", c.base) : fmt::format("mov.u64 %hone_a, {};", c.base);
    return fmt::format(" .reg .b64 %hone_a; {} add.s64 %hone_a, %hone_a, {};", from, c.offset);
  }

  std::string global(const Counted& c) {
    const auto count = [&](PtxCount load, PtxCount store) { return c.load ? load : store; };
    return address(c) + leader() + add(count(kCountLoadBytes, kCountStoreBytes), std::to_string(c.width)) +
           add_if("%hone_q", count(kCountLoadRequests, kCountStoreRequests), "1") +
           " shr.u64 %hone_a, %hone_a, 5; match.any.sync.b64 %hone_k, %hone_a, %hone_m; and.b32 %hone_k, %hone_k, %hone_below;"
           " setp.eq.u32 %hone_q, %hone_k, 0;" +
           add_if("%hone_q", count(kCountLoadSectors, kCountStoreSectors), "1");
  }

  /// A pass moves at most 128 bytes, so lanes that move 8 or 16 bytes come in halves or quarters of the warp. Of such a part's
  /// words, each counted by its first lane, those of the fullest bank take a pass each.
  std::string shared(const Counted& c) {
    const int unit = std::max(c.width, kBankBytes), lanes = std::min(kPtxLanes, kRowBytes / unit);
    std::string text = address(c) + leader() + add_if("%hone_q", kCountSharedRequests, "1");
    if (lanes < kPtxLanes)
      text += fmt::format(" mov.u32 %hone_k, %laneid; and.b32 %hone_k, %hone_k, {}; .reg .b32 %hone_g; mov.u32 %hone_g, {:#x};"
                          " shl.b32 %hone_g, %hone_g, %hone_k; and.b32 %hone_m, %hone_m, %hone_g;",
                          kPtxLanes - lanes, (1U << lanes) - 1);
    text += fmt::format(" .reg .b32 %hone_w, %hone_d; cvt.u32.u64 %hone_w, %hone_a; div.u32 %hone_w, %hone_w, {};"
                        " match.any.sync.b32 %hone_k, %hone_w, %hone_m; and.b32 %hone_k, %hone_k, %hone_below; setp.eq.u32 %hone_q, %hone_k, 0;"
                        " vote.sync.ballot.b32 %hone_d, %hone_q, %hone_m; and.b32 %hone_w, %hone_w, {};"
                        " match.any.sync.b32 %hone_k, %hone_w, %hone_m; and.b32 %hone_k, %hone_k, %hone_d; popc.b32 %hone_k, %hone_k;"
                        " redux.sync.max.u32 %hone_d, %hone_k, %hone_m; and.b32 %hone_k, %hone_m, %hone_below; setp.eq.u32 %hone_q, %hone_k, 0;"
                        " .reg .b64 %hone_s; cvt.u64.u32 %hone_s, %hone_d;",
                        unit, lanes - 1);
    return text + add_if("%hone_q", kCountSharedPasses, "%hone_s") + add_if("%hone_q", kCountSharedLeast, "1");
  }

  /// %hone_r: this multiprocessor's record.
  [[nodiscard]] std::string record() const {
    return fmt::format(" .reg .b32 %hone_i; .reg .b64 %hone_r, %hone_o, %hone_t; mov.u32 %hone_i, %smid; and.b32 %hone_i, %hone_i, {};"
                       " mul.wide.u32 %hone_o, %hone_i, {}; mov.u64 %hone_r, {}; add.s64 %hone_r, %hone_r, %hone_o; mov.u64 %hone_t, %clock64;",
                       kPtxCountProcessors - 1, words_ * sizeof(uint64_t), kCountsName);
  }
  static std::string reduce(std::string_view how, size_t word, std::string_view value) {
    return fmt::format(" red.global.{}.u64 [%hone_r+{}], {};", how, sizeof(uint64_t) * word, value);
  }

  std::string sums() const {
    std::string text = record();
    if (function_.entry) text += reduce("max", first_clock_ + 1, "%hone_t");
    text += " .reg .pred %hone_q;";
    for (const PtxCount count : used_)
      text += fmt::format(" setp.ne.u64 %hone_q, %hone_n{0}, 0; @%hone_q{1}", static_cast<size_t>(count), reduce("add", count, fmt::format("%hone_n{}", static_cast<size_t>(count))));
    return text;
  }

  std::string prologue() const {
    std::string text = fmt::format(".reg .b64 %hone_n<{}>; .reg .b32 %hone_below; mov.u32 %hone_below, %lanemask_lt;", static_cast<size_t>(kPtxCountSums));
    for (const PtxCount count : used_) text += fmt::format(" mov.u64 %hone_n{}, 0;", static_cast<size_t>(count));
    if (function_.entry) text += fmt::format(" {{{} not.b64 %hone_t, %hone_t;{} }}", record(), reduce("max", first_clock_, "%hone_t"));
    return text + "\n\t";
  }

  std::string_view text_;
  const PtxFunction& function_;
  size_t first_clock_, words_;
  PtxEdits& edits_;
  std::set<PtxCount> used_;
};

double ratio(double part, double whole) { return whole > 0 ? part / whole : std::numeric_limits<double>::quiet_NaN(); }

}  // namespace

double PtxCounts::lane_share() const { return ratio(sums[kCountThreadInstructions], sums[kCountWarpInstructions]); }
double PtxCounts::sectors_a_load() const { return ratio(sums[kCountLoadSectors], sums[kCountLoadRequests]); }
double PtxCounts::sectors_a_store() const { return ratio(sums[kCountStoreSectors], sums[kCountStoreRequests]); }
double PtxCounts::load_use_share() const { return ratio(sums[kCountLoadBytes], kPtxSectorBytes * sums[kCountLoadSectors]); }
double PtxCounts::store_use_share() const { return ratio(sums[kCountStoreBytes], kPtxSectorBytes * sums[kCountStoreSectors]); }
double PtxCounts::active_share(int processors) const {
  double busy = 0, longest = 0;
  for (const std::vector<double>& entry : busy_cycles) {
    if (entry.empty()) return std::numeric_limits<double>::quiet_NaN();
    busy += std::accumulate(entry.begin(), entry.end(), 0.0);
    longest += *std::max_element(entry.begin(), entry.end());
  }
  return ratio(busy, longest * processors);
}
double PtxCounts::conflict_share() const { return ratio(sums[kCountSharedPasses] - sums[kCountSharedLeast], sums[kCountSharedPasses]); }

PtxCounts ptx_counts(std::span<const uint64_t> words) {
  PtxCounts counts;
  const size_t record = words.size() / kPtxCountProcessors;
  if (record < kPtxCountSums) return counts;
  counts.busy_cycles.resize((record - kPtxCountSums) / kPtxCountClocks);
  for (; words.size() >= record; words = words.subspan(record)) {
    for (size_t i = 0; i < kPtxCountSums; ++i) counts.sums[i] += static_cast<double>(words[i]);
    for (size_t entry = 0; entry < counts.busy_cycles.size(); ++entry) {
      const auto clocks = words.subspan(kPtxCountSums + kPtxCountClocks * entry, kPtxCountClocks);
      if (const uint64_t first = ~clocks[0], last = clocks[1]; clocks[0] != 0 && last > first) counts.busy_cycles[entry].push_back(static_cast<double>(last - first));
    }
  }
  return counts;
}

Result<std::string> ptx_counting(std::string_view ptx) {
  HONE_TRY(const PtxText text, read_ptx(ptx));
  if (ptx.find("%hone_") != std::string_view::npos || ptx.find(kCountsName) != std::string_view::npos)
    return fail(ErrorCode::kInput, "this PTX is a variant already", "give the kernel's own");
  const auto entries = static_cast<size_t>(std::count_if(text.functions.begin(), text.functions.end(), [](const PtxFunction& f) { return f.entry; }));
  const size_t words = kPtxCountSums + kPtxCountClocks * entries;
  PtxEdits edits;
  edits.insert(text.globals, fmt::format(".visible .global .align 8 .u64 {}[{}];\n", kCountsName, words * kPtxCountProcessors));
  size_t entry = 0;
  for (const PtxFunction& function : text.functions) {
    Counting(ptx, function, entry, words, edits).rewrite();
    entry += function.entry;
  }
  return std::move(edits).applied_to(ptx);
}

}  // namespace hone::diagnose
