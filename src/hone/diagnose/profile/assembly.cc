#include "hone/diagnose/profile/assembly.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "hone/diagnose/profile/chains.h"

namespace hone::diagnose {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<uint64_t> hexadecimal(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value) : std::nullopt;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// Bytes of the widest vector register named; 0 without any.
int width_of(std::string_view operands) {
  if (has(operands, "%zmm")) return 64;
  if (has(operands, "%ymm")) return 32;
  return has(operands, "%xmm") ? 16 : 0;
}

/// One element in a vector register: …ss and …sd, but not conversions that only end like it.
bool is_scalar_float(std::string_view name) {
  if (name.ends_with("ss") || name.ends_with("sd") || name.ends_with("sh"))
    return !name.starts_with("vbroadcast") && !name.starts_with("vpbroadcast");
  return has(name, "cvtss2") || has(name, "cvtsd2") || has(name, "cvtsi2") || name == "vmovd" || name == "vmovq";
}

/// Where the memory operand stands, if the instruction has one.
enum class Memory : uint8_t { kNone, kLoad, kStore };
Memory memory_of(const Instruction& i) {
  const size_t open = i.operands.find('(');
  if (open == std::string::npos || i.mnemonic.starts_with("lea") || i.mnemonic.starts_with("nop") || i.mnemonic.starts_with("prefetch"))
    return Memory::kNone;
  // AT&T: the destination comes last, so a store ends with the memory operand (and its mask).
  const size_t close = i.operands.find(')', open);
  const bool last = close != std::string::npos && !has(std::string_view(i.operands).substr(close), ",");
  const bool compares = i.mnemonic.starts_with("cmp") || i.mnemonic.starts_with("test") || i.mnemonic.starts_with("vucomis") ||
                        i.mnemonic.starts_with("vcomis");
  const std::string_view before = std::string_view(i.operands).substr(0, open);
  return last && !compares && (has(before, "%") || has(before, "$")) ? Memory::kStore : Memory::kLoad;
}

bool is_branch(std::string_view name) { return name.starts_with("j") || name.starts_with("loop"); }

std::optional<uint64_t> target_of(const Instruction& i) {
  if (!is_branch(i.mnemonic) || i.operands.empty() || i.operands.front() == '*') return std::nullopt;
  std::string_view text = i.operands;
  text = text.substr(0, text.find_first_of(" <"));
  if (text.starts_with("0x")) text.remove_prefix(2);
  return hexadecimal(text);
}

/// What a shared object has besides the kernel.
bool is_start_up(std::string_view name) {
  static constexpr std::array kNames = {"_init",       "_fini", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
                                        "frame_dummy", ".plt"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view n) { return name == n; }) || name.ends_with("@plt");
}

/// A function's blocks: runs of instructions that are entered at the first and left behind the last, by number.
struct Flow {
  std::vector<size_t> first;                ///< instruction that each begins with; one more than there are blocks would end the last
  std::vector<size_t> end;
  std::vector<std::vector<size_t>> next;    ///< blocks that may come after
};

Flow flow_of(const Function& function) {
  const std::vector<Instruction>& code = function.code;
  std::map<uint64_t, size_t> at;
  for (size_t i = 0; i < code.size(); ++i) at[code[i].address] = i;
  std::set<size_t> begins;
  if (!code.empty()) begins.insert(0);
  const auto leaves = [](const Instruction& i) { return i.mnemonic.starts_with("jmp") || i.mnemonic.starts_with("ret") || i.mnemonic.starts_with("ud2") || i.mnemonic == "hlt"; };
  for (size_t i = 0; i < code.size(); ++i) {
    if (is_branch(code[i].mnemonic) || leaves(code[i]))
      if (i + 1 < code.size()) begins.insert(i + 1);
    if (const auto target = target_of(code[i]); target && at.contains(*target)) begins.insert(at.at(*target));
  }
  Flow flow;
  flow.first.assign(begins.begin(), begins.end());
  std::map<size_t, size_t> number;
  for (size_t b = 0; b < flow.first.size(); ++b) {
    number[flow.first[b]] = b;
    flow.end.push_back(b + 1 < flow.first.size() ? flow.first[b + 1] : code.size());
  }
  flow.next.resize(flow.first.size());
  for (size_t b = 0; b < flow.first.size(); ++b) {
    const Instruction& last = code[flow.end[b] - 1];
    if (const auto target = target_of(last); target && at.contains(*target)) flow.next[b].push_back(number.at(at.at(*target)));
    if (!leaves(last) && b + 1 < flow.first.size()) flow.next[b].push_back(b + 1);
  }
  return flow;
}

/// Among some blocks, those that can be reached from each other: cycles that do not go through `without`.
std::vector<std::vector<size_t>> cycles_among(const Flow& flow, const std::vector<size_t>& blocks, std::optional<size_t> without) {
  std::map<size_t, int> seen;   // 0: not yet, 1: on the way, 2: done
  for (const size_t block : blocks)
    if (block != without) seen[block] = 0;
  // The order in which a walk is done with them, then the same backwards over reversed edges (Kosaraju).
  std::vector<size_t> done;
  for (auto& [start, state] : seen) {
    if (state != 0) continue;
    std::vector<std::pair<size_t, size_t>> path = {{start, 0}};
    state = 1;
    while (!path.empty()) {
      auto& [block, edge] = path.back();
      if (edge == flow.next[block].size()) {
        done.push_back(block);
        path.pop_back();
        continue;
      }
      const size_t to = flow.next[block][edge++];
      const auto found = seen.find(to);
      if (found == seen.end() || found->second != 0) continue;
      found->second = 1;
      path.emplace_back(to, 0);
    }
  }
  std::map<size_t, std::vector<size_t>> before;
  for (const auto& [block, state] : seen)
    for (const size_t to : flow.next[block])
      if (seen.contains(to)) before[to].push_back(block);
  std::vector<std::vector<size_t>> cycles;
  for (auto from = done.rbegin(); from != done.rend(); ++from) {
    if (seen.at(*from) == 2) continue;
    std::vector<size_t> cycle, path = {*from};
    seen[*from] = 2;
    while (!path.empty()) {
      const size_t block = path.back();
      path.pop_back();
      cycle.push_back(block);
      for (const size_t earlier : before[block])
        if (seen.at(earlier) != 2) seen[earlier] = 2, path.push_back(earlier);
    }
    const bool itself = std::find(flow.next[*from].begin(), flow.next[*from].end(), *from) != flow.next[*from].end();
    std::sort(cycle.begin(), cycle.end());
    if (cycle.size() > 1 || itself) cycles.push_back(std::move(cycle));
  }
  return cycles;
}

/// The block at which a cycle is entered from outside: of several the first in the code.
size_t head_of(const Flow& flow, const std::vector<size_t>& cycle) {
  for (const size_t block : cycle)
    for (size_t from = 0; from < flow.next.size(); ++from)
      if (!std::binary_search(cycle.begin(), cycle.end(), from) && std::find(flow.next[from].begin(), flow.next[from].end(), block) != flow.next[from].end()) return block;
  return cycle.front();
}

/// Instructions of a cycle without what was moved out of line: of the segments that it is made of, the heaviest.
std::vector<Instruction> code_of(const Function& function, const Flow& flow, const std::vector<size_t>& cycle) {
  std::vector<Instruction> best, segment;
  const auto take = [&] {
    if (best.empty() || mix_of(segment).weight() > mix_of(best).weight()) best = std::move(segment);
    segment.clear();
  };
  for (size_t i = 0; i < cycle.size(); ++i) {
    if (i > 0 && cycle[i] != cycle[i - 1] + 1) take();
    for (size_t at = flow.first[cycle[i]]; at < flow.end[cycle[i]]; ++at) segment.push_back(function.code[at]);
  }
  take();
  return best;
}

/// A call of mathematics costs so many bytes of what vectors handle: tens of cycles.
constexpr int kCallWeight = 4096;
/// Packed multiplications of the shortest polynomial that stands for a function.
constexpr int kPolynomial = 4;

/// Sets the weights of one function's loops.
void weigh(std::vector<Loop>& loops) {
  const bool has_vector_form = std::any_of(loops.begin(), loops.end(), [](const Loop& loop) {
    const bool calls_packed = std::any_of(loop.code.begin(), loop.code.end(),
                                          [](const Instruction& i) { return i.mnemonic.starts_with("call") && has(i.operands, "_ZGV"); });
    return loop.mix.library_call == 0 && (calls_packed || loop.mix.multiply >= kPolynomial);
  });
  for (Loop& loop : loops) loop.weight = loop.mix.weight() + (has_vector_form ? 0 : kCallWeight * loop.mix.library_call);
}

}  // namespace

std::vector<Function> read_assembly(std::string_view listing) {
  std::vector<Function> functions;
  while (!listing.empty()) {
    const size_t end = std::min(listing.find('\n'), listing.size());
    std::string_view line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    if (const size_t open = line.find(" <"); open != std::string_view::npos && line.ends_with(">:") && hexadecimal(line.substr(0, open))) {
      functions.push_back({std::string(line.substr(open + 2, line.size() - open - 4)), {}});
      continue;
    }
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || functions.empty()) continue;
    const auto address = hexadecimal(trimmed(line.substr(0, colon)));
    if (!address) continue;
    line = trimmed(line.substr(colon + 1));
    line = trimmed(line.substr(0, line.find('#')));
    Instruction instruction{*address, {}, {}, false};
    // Prefixes belong to the instruction that follows them.
    for (std::string_view word : {"rep ", "repz ", "repnz ", "lock ", "notrack ", "bnd ", "{evex} ", "{vex} "})
      if (line.starts_with(word)) line = trimmed(line.substr(word.size()));
    const size_t gap = std::min(line.find_first_of(" \t"), line.size());
    instruction.mnemonic = line.substr(0, gap);
    instruction.operands = trimmed(line.substr(gap));
    if (!instruction.mnemonic.empty()) functions.back().code.push_back(std::move(instruction));
  }
  std::erase_if(functions, [](const Function& f) { return is_start_up(f.name); });
  for (Function& function : functions) {
    // rbp is a register like any other, and often a pointer to data, where no frame begins at it.
    const bool framed = std::any_of(function.code.begin(), function.code.end(), [](const Instruction& i) { return i.mnemonic.starts_with("mov") && i.operands == "%rsp,%rbp"; });
    for (Instruction& i : function.code) i.on_stack = has(i.operands, "(%rsp") || (framed && has(i.operands, "(%rbp"));
  }
  return functions;
}

Mix mix_of(const std::vector<Instruction>& code) {
  Mix mix;
  for (const Instruction& i : code) {
    const std::string_view name = i.mnemonic;
    if (name.starts_with("nop") || name == "endbr64") continue;
    ++mix.all;
    const int width = width_of(i.operands);
    const bool single = width > 0 && is_scalar_float(name);
    if (single)
      ++mix.scalar_float;
    else if (width > 0)
      ++mix.vector, mix.vector_bytes += width;
    if (has(name, "fma") || has(name, "fnma") || has(name, "fms") || has(name, "dpbf16") || has(name, "dpbusd")) ++mix.fma;
    if (width > 0 && (has(name, "div") || has(name, "sqrt"))) ++mix.divide;
    if (width == 0 && (name.starts_with("div") || name.starts_with("idiv"))) ++mix.divide;
    if (has(name, "gather") || has(name, "scatter")) ++mix.gather;
    if (width > 0 && !single && (has(name, "mul") || has(name, "fma") || has(name, "fnma") || has(name, "fms"))) ++mix.multiply;
    if (name.starts_with("call")) ++mix.call;
    if (!library_function(i).empty()) ++mix.library_call;
    const Memory memory = memory_of(i);
    if (memory == Memory::kLoad) ++mix.load;
    if (memory == Memory::kStore) ++mix.store;
    if (has(name, "movnt") && memory == Memory::kStore) ++mix.stream_store;
    if (memory != Memory::kNone && width > 0 && i.on_stack) ++mix.spill;
  }
  return mix;
}

std::vector<Loop> innermost_loops(const std::vector<Function>& functions) {
  std::vector<Loop> all;
  for (const Function& function : functions) {
    const Flow flow = flow_of(function);
    std::vector<size_t> blocks(flow.first.size());
    std::iota(blocks.begin(), blocks.end(), size_t{0});
    std::vector<std::vector<size_t>> open = cycles_among(flow, blocks, {});
    std::vector<Loop> own;
    while (!open.empty()) {
      const std::vector<size_t> cycle = std::move(open.back());
      open.pop_back();
      // Without its head, what still goes round is inside of it.
      std::vector<std::vector<size_t>> inner = cycles_among(flow, cycle, head_of(flow, cycle));
      if (!inner.empty()) {
        open.insert(open.end(), inner.begin(), inner.end());
        continue;
      }
      Loop loop{function.name, code_of(function, flow, cycle), {}};
      loop.mix = mix_of(loop.code);
      own.push_back(std::move(loop));
    }
    weigh(own);
    all.insert(all.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  }
  std::stable_sort(all.begin(), all.end(), [](const Loop& a, const Loop& b) { return a.weight > b.weight; });
  return all;
}

std::string body_text(const Loop& loop) {
  std::string text;
  for (const Instruction& i : loop.code) {
    if (is_branch(i.mnemonic) || i.mnemonic.starts_with("call") || i.mnemonic.starts_with("ret") || has(i.operands, "<")) continue;
    text += i.mnemonic + " " + i.operands + "\n";
  }
  return text;
}

}  // namespace hone::diagnose
