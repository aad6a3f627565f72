#include "hone/pattern/gpu_patterns.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "hone/pattern/cpp_writer.h"
#include "hone/pattern/gpu_writer.h"
#include "hone/pattern/template.h"

namespace hone::pattern::gpu {
namespace {

using task::IntExpr;

/// Bytes of a block that are not for tiles: what a block takes besides (1 KiB on NVIDIA), and running results.
constexpr int64_t kOwnBytes = 3072;
/// Blocks of a large device, and what each keeps: three tiles of 32 KiB.
constexpr int64_t kBlocks = 264, kBlockBytes = 96 * 1024;
/// Warp-specialised rows, on a large device: what a block has of a row.
constexpr int64_t kMultiprocessors = 132, kOfRow = 112 * 1024;
/// Bytes of a thread's part of a tile: with 128 all were fastest (docs/patterns/specialised_rows.md), but with weights those without clusters
/// would spill.
constexpr int64_t kMostSent = 128, kMostSentWithWeights = 64;
/// A row that one block with a multiprocessor to itself holds, but for a little that it reads again: nobody tells anybody anything.
constexpr int64_t kLeastAlone = 192 * 1024, kMostAlone = 288 * 1024;
/// As hone/gpu/specialised_rows.h has them: in blocks that tell each other through global memory, and in clusters.
constexpr int64_t kRowsUnderWay = 16, kRowsInCluster = 8;
/// Of a row at least so many bytes to a block of a cluster, where there is a choice: half as many were not measured.
constexpr int64_t kOfClusterBlock = 48 * 1024;
/// Runs of waves that have a barrier: with the rows' barriers no more than the emulator has room for.
constexpr int64_t kMostRuns = 448;

struct Reads {
  std::vector<int> again;        ///< leaves that the first round reads and a later one reads again
  std::vector<size_t> tensors;   ///< of each round: how many it reads and writes along the segment
};

Reads reads_of(const Program& program, const Segment& segment, const std::vector<Round>& rounds) {
  GpuWriter draft(program, segment);
  std::set<int> first, again;
  Reads reads;
  for (size_t r = 0; r < rounds.size(); ++r) {
    (void)draft.round_loop(rounds[r], "0", "1", "");
    (void)draft.merged(rounds[r], "");
    for (const int id : draft.taken())
      if (r == 0) first.insert(id);
      else if (first.contains(id)) again.insert(id);
    reads.tensors.push_back(draft.taken().size());
    for (const size_t pass : rounds[r].passes) reads.tensors.back() += program.passes[pass].stores.size();
  }
  reads.again.assign(again.begin(), again.end());
  return reads;
}

/// Words that a lane takes at a time where it needs registers for so many tensors, and for as many as `most` in another
/// round, whose addresses stay in registers meanwhile.
std::string words_of(size_t tensors, size_t most, const std::string& unroll = "UNROLL") {
  if (tensors < 2 && most < 3) return unroll;
  return fmt::format("({0} > {1} ? {0} / {1} : 1)", unroll, tensors <= 2 ? 2 : 4);
}

/// Pointers to where tiles of `leaves` stay, `places` of them each, and the bytes of an element of all.
std::pair<std::string, int64_t> places_of(const Program& program, const GpuWriter& writer, const std::vector<int>& leaves) {
  std::string kept;
  int64_t bytes = 0;
  for (const int id : leaves) {
    const std::string type = storage_type(program.node(id).type.dtype), name = writer.leaf_name(id);
    kept += fmt::format("  {0}* const {1}_kept = reinterpret_cast<{0}*>(kept_tiles", type, name);
    kept += bytes == 0 ? ");\n" : fmt::format(" + places * (THREADS * VEC * UNROLL * {}));\n", bytes);
    bytes += task::size_of(program.node(id).type.dtype);
  }
  return {kept, bytes};
}

/// Whether a block to a multiprocessor, each with a row of its own, comes first: on an H200 rows of 262,140 bytes took 0.92 of the time
/// of groups of three blocks (docs/patterns/shared_rows.md).
bool alone(int64_t row_bytes, int64_t rows) { return row_bytes > kLeastAlone && row_bytes <= kMostAlone && rows >= kMultiprocessors; }

/// Threads, and the words of a tile that each has: `threads` and no more than `most` bytes a thread, and fewer where a row has pieces that
/// would fill less than half of such a tile.
struct TileSize { int64_t threads, unroll; };
TileSize tile_size(int64_t piece, int64_t threads, int64_t vec, int64_t bytes, int64_t most) {
  constexpr int64_t kFewestThreads = 64;
  TileSize size{threads, 8};
  while (size.unroll > 1 && vec * size.unroll * bytes > most) size.unroll /= 2;
  while (size.unroll > 1 && size.threads * vec * size.unroll >= 2 * piece) size.unroll /= 2;
  while (size.threads > kFewestThreads && size.threads * vec * size.unroll >= 2 * piece) size.threads /= 2;
  return size;
}

/// Why `leaves` cannot be sent for before their row's turn; empty where they can.
std::string unknown_before(const Program& program, const std::vector<int>& leaves) {
  if (leaves.empty()) return "nothing is read twice";
  for (const int id : leaves)
    if (const auto access = program.nest.access.find(id); access != program.nest.access.end() && access->second.index >= 0)
      return "which row comes next is known only when its index is read";
  return "";
}

}  // namespace

Result<kernel::Kernel> shared_rows(const Program& program, kernel::Language language) {
  const std::vector<Round> rounds = rounds_of(program, true);
  if (rounds.size() < 2) return fail(ErrorCode::kUnavailable, "one pass needs no row to stay");
  const Segment segment = GpuWriter::choose(program, program.inner_axes);
  GpuWriter writer(program, segment);
  if (std::string why = writer.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const Reads reads = reads_of(program, segment, rounds);
  const std::vector<int>& leaves = reads.again;
  if (std::string why = unknown_before(program, leaves); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  writer.keep(leaves);
  const auto [kept, bytes] = places_of(program, writer, leaves);
  const std::string rows = program.rows().to_string(), tile = "THREADS * VEC * UNROLL";
  const std::string tiles = fmt::format("{}ceil_div({} + {}, {})", factor(writer.pieces()), writer.length().to_string(),
                                        writer.most_lead(), tile);
  const std::string groups = is_one(program.rows()) ? "1" : fmt::format("max(1, min(GROUPS, {}))", rows);
  const std::string blocks = fmt::format("max(1, min(SMS * RESIDENT // {}, ceil_div({}, {} * LEAST)))", groups,
                                         program.row_length().to_string(), tile);
  // A kept tile, and a barrier for each wave.
  const std::string place = fmt::format("({} * {} + THREADS // WAVE * 8)", tile, bytes);
  const std::string room = fmt::format("(SHARED_MAX // RESIDENT - {}) // {}", kOwnBytes, place);
  const std::string keeps = fmt::format("min(KEEP, {}, ceil_div({}, {}))", room, tiles, blocks);
  const std::string places = fmt::format("min({}, {} + AHEAD)", room, keeps);
  const std::string grid = is_one(program.rows()) ? blocks : fmt::format("{} * {}", groups, blocks);
  size_t messages = 0;
  for (const Round& round : rounds) messages += round.results.size();

  const size_t most = *std::max_element(reads.tensors.begin(), reads.tensors.end());
  const std::string alignment = writer.alignment(), prologue = writer.row_prologue("row", "    ");
  std::string body;
  for (size_t r = 0, message = 0; r < rounds.size(); ++r) {
    const std::string turn = fmt::format("hone::gpu::Turn<{}, {}, {}>{{}}", r, words_of(reads.tensors[r], most), r + 1 == rounds.size());
    body += writer.round_loop(rounds[r], "share, ahead", turn, "    ");
    if (rounds[r].results.empty()) continue;
    std::string tells, hears;
    for (const Running& result : rounds[r].results) {
      const std::string slots = message == 0 ? "slots" : fmt::format("slots + {} * hone::gpu::kSlotWords * blocks", message);
      tells += fmt::format("        hone::gpu::tell({} + share.rank, blocks, r{}, turn);\n", slots, result.first);
      hears += fmt::format("      r{0} = {{}};\n      for (int c = thread; c < blocks; c += THREADS)\n"
                           "        r{0}.merge(hone::gpu::hear<decltype(r{0})>({1} + c, blocks, turn));\n", result.first, slots);
      ++message;
    }
    std::string merges;
    for (const Running& result : rounds[r].results) merges += fmt::format("    thread_group.merge(r{});\n", result.first);
    body += merges + "    if (blocks > 1) {\n      if (thread == 0) {\n" + tells + "      }\n" + hears;
    for (const Running& result : rounds[r].results) body += fmt::format("      thread_group.merge(r{});\n", result.first);
    body += "    }\n" + writer.merged(rounds[r], "    ", false);
  }

  const int64_t vec = writer.widest_vector();
  const TileSize size = tile_size(GpuWriter::largest(program, writer.length()), 256, vec, bytes, kMostHeld * 4);
  const int64_t row_bytes = std::max<int64_t>(1, GpuWriter::largest(program, program.row_length()) * bytes);
  const int64_t count = std::max<int64_t>(1, GpuWriter::largest(program, program.rows()));
  // Two groups that each read a part of their row again still beat one, whose blocks all wait at the same time.
  const int64_t fit = kBlocks / ((row_bytes + kBlockBytes - 1) / kBlockBytes);
  const int64_t nearly = (kBlocks * kBlockBytes + row_bytes / 2) / row_bytes;
  // What all rows read, groups in step read at the same time, and it comes from memory once for all of them: all rows at a time.
  const bool in_step = reads.tensors.back() > leaves.size() + program.passes.back().stores.size();
  const bool by_itself = language == kernel::Language::kCuda && alone(row_bytes, count);
  const int64_t wanted = by_itself ? kMultiprocessors : in_step ? count : fit < 2 ? nearly : fit;
  const int64_t at_once = std::clamp<int64_t>(wanted, 1, std::min<int64_t>(count, kBlocks / 2));
  Slots slots;
  slots["language"] = kernel::name_of(language);
  slots["note"] = "groups of blocks keep rows: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["tunables"] = fmt::format("THREADS = [{}], VEC = [{}], UNROLL = [{}], GROUPS = [{}], "
                                  "RESIDENT = [{}], KEEP = [64, 1], LEAST = [1, 2, 4], AHEAD = [4, 0], SPREAD = [{}]",
                                  choices(size.threads, {256, 512, 128, 64}), choices(vec, {4, 2, 1}), choices(size.unroll, {8, 4, 2, 1}), choices(at_once, {1, 2, 4, 8, 16, 33, 66, 132}),
                                  choices(by_itself ? 1 : 2, {2, 1, 4}), choices(in_step ? 0 : 12, {12, 0, 6, 24}));
  slots["workspaces"] = fmt::format("mail = \"zero i64[8 + {} * {}]\"", grid, 2 * 8 * messages);
  slots["bytes"] = fmt::format("{}", bytes);
  slots["grid"] = grid;
  slots["shared"] = fmt::format("{} * {}", places, place);
  slots["args"] = arguments_with(*program.task, {"mail", "i32:" + blocks, "i32:" + keeps, "i32:" + places});
  slots["parameters"] = gpu_parameters_of(*program.task) + ", int64_t* __restrict__ mail, int32_t blocks, int32_t kept, int32_t places";
  slots["kept"] = kept;
  slots["rows_cpp"] = bracketed(program.rows());
  slots["stands"] = writer.row_prologue("row", "    ") + "    return " + alignment + ";\n";
  slots["fetches"] = writer.row_prologue("row", "    ") + writer.fetches("    ");
  slots["tensors"] = fmt::format("{}", leaves.size());
  slots["messages"] = fmt::format("{}", messages);
  slots["pieces"] = writer.pieces().to_cpp(), slots["length"] = writer.length().to_cpp();
  slots["prologue"] = prologue;
  slots["body"] = body + writer.row_stores("    ", "share.rank == 0 && thread == 0");
  return finished(fill_pattern("patterns/gpu/shared_rows.cu", slots), "shared_rows");
}

namespace {

/// Words in which a block tells another one a running result of this type.
int64_t words_of_result(const std::string& accumulator) {
  if (accumulator.find("Arg") != std::string::npos) return 4;
  const int64_t each = accumulator.find("double") != std::string::npos || accumulator.find("int64_t") != std::string::npos ? 2 : 1;
  return each * (accumulator.find("ExpSum") != std::string::npos ? 2 : accumulator.find("Moments") != std::string::npos ? 3 : 1);
}

/// What warp-specialised rows have in common, whoever the blocks are that share a row.
struct Specialised {
  Slots slots;
  std::string tile;            ///< elements
  std::string place;           ///< bytes: a tile's, and a barrier for each wave's run
  std::string tiles;           ///< of a row
  int64_t bytes = 0;           ///< of an element of all that is kept
  int64_t vec = 1;             ///< the widest word
  size_t messages = 0;
  int64_t words = 0;           ///< of all messages
  int64_t row_bytes = 1, piece = 1;   ///< bytes of a row, elements of one of its pieces
  size_t tensors = 0;          ///< that one round reads and writes at most
};

/// `unroll`: what the plan calls words that a thread takes at a time.
Result<Specialised> specialised(const Program& program, kernel::Language language, const std::string& unroll) {
  if (language != kernel::Language::kCuda) return fail(ErrorCode::kUnavailable, "no copies that go on by themselves");
  const std::vector<Round> rounds = rounds_of(program, true);
  if (rounds.size() != 2 || !rounds[1].results.empty()) return fail(ErrorCode::kUnavailable, "not one round that finds and one that writes");
  if (!program.passes[rounds[0].passes.back()].stores.empty()) return fail(ErrorCode::kUnavailable, "the round that finds writes, too");
  const Segment segment = GpuWriter::choose(program, program.inner_axes);
  GpuWriter reader(program, segment), writer(program, segment), facts(program, segment);
  if (std::string why = reader.obstacle(); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  const Reads reads = reads_of(program, segment, rounds);
  const std::vector<int>& leaves = reads.again;
  if (std::string why = unknown_before(program, leaves); !why.empty()) return fail(ErrorCode::kUnavailable, why);
  reader.keep(leaves), writer.keep(leaves), facts.keep(leaves);
  Specialised all;
  Slots& slots = all.slots;
  std::tie(slots["kept"], all.bytes) = places_of(program, writer, leaves);
  all.messages = rounds[0].results.size();
  all.tile = "THREADS * VEC * UNROLL";
  all.place = fmt::format("({} * {} + THREADS // WAVE * 8)", all.tile, all.bytes);
  all.tiles = fmt::format("{}ceil_div({} + {}, {})", factor(reader.pieces()), reader.length().to_string(), reader.most_lead(), all.tile);
  all.vec = writer.widest_vector();
  all.piece = GpuWriter::largest(program, writer.length());
  all.row_bytes = std::max<int64_t>(1, GpuWriter::largest(program, program.row_length()) * all.bytes);

  all.tensors = *std::max_element(reads.tensors.begin(), reads.tensors.end());
  const auto turn = [&](size_t r) { return fmt::format("hone::gpu::Turn<{}, {}, {}>{{}}", r, words_of(reads.tensors[r], all.tensors, unroll), r == 1); };
  (void)reader.alignment(), (void)writer.alignment();
  slots["read"] = reader.row_prologue("row", "    ");
  slots["read"] += reader.round_loop(rounds[0], "share, ring", turn(0), "    ");
  slots["write"] = writer.row_prologue("row", "    ");
  std::vector<std::string> results;
  for (const Running& result : rounds[0].results) {
    const std::string type = writer.accumulator(result);
    slots["read"] += fmt::format("    roles.template leave<{}>(r{});\n", results.size(), result.first);
    slots["write"] += fmt::format("    const auto r{0} = roles.template known<{1}, {2}>();\n", result.first, results.size(), type);
    results.push_back(type);
    all.words += words_of_result(type);
  }
  // One after the other: each goes by the names that the one before it gave.
  slots["write"] += writer.merged(rounds[0], "    ", false);
  slots["write"] += writer.round_loop(rounds[1], "share, ring", turn(1), "    ");
  slots["write"] += writer.row_stores("    ", "share.rank == 0 && thread == 0");

  slots["language"] = kernel::name_of(language);
  slots["note"] = "some waves read rows, others write them: " + writer.outline();
  slots["requires"] = writer.requirements();
  slots["bytes"] = fmt::format("{}", all.bytes);
  slots["rows_cpp"] = bracketed(program.rows());
  const std::string alignment = facts.alignment();
  slots["stands"] = facts.row_prologue("row", "    ") + "    return " + alignment + ";\n";
  slots["fetches"] = facts.row_prologue("row", "    ") + facts.fetches("    ");
  slots["tensors"] = fmt::format("{}", leaves.size());
  slots["messages"] = fmt::format("{}", all.messages);
  slots["results"] = fmt::format("{}", fmt::join(results, ", "));
  slots["pieces"] = writer.pieces().to_cpp(), slots["length"] = writer.length().to_cpp();
  return all;
}

}  // namespace

Result<kernel::Kernel> specialised_rows(const Program& program, kernel::Language language) {
  HONE_TRY(Specialised all, specialised(program, language, "UNROLL"));
  const std::string rows = program.rows().to_string();
  const std::string groups = is_one(program.rows()) ? "1" : fmt::format("max(1, min(GROUPS, {}))", rows);
  const std::string blocks = fmt::format("max(1, min(SMS * RESIDENT // {}, ceil_div({}, {} * LEAST)))", groups, program.row_length().to_string(), all.tile);
  // What rows are found to be, as RowRoom has it, and what a block takes besides.
  const std::string own = fmt::format("(1536 + {} * (THREADS // WAVE + 1))", 512 * all.messages);
  const std::string room = fmt::format("min({} // (THREADS // WAVE), (SHARED_MAX // RESIDENT - {}) // {})", kMostRuns, own, all.place);
  const std::string keeps = fmt::format("min(KEEP, {}, ceil_div({}, {}))", room, all.tiles, blocks);
  const std::string places = fmt::format("min({}, {} + min(AHEAD, {} * {}))", room, keeps, kRowsUnderWay - 3, keeps);
  const std::string grid = is_one(program.rows()) ? blocks : fmt::format("{} * {}", groups, blocks);
  const int64_t count = std::max<int64_t>(1, GpuWriter::largest(program, program.rows()));
  int64_t at_once = 1;
  while (2 * at_once <= std::min(count, kMultiprocessors) && 2 * at_once * all.row_bytes <= kOfRow * kMultiprocessors) at_once *= 2;
  if (alone(all.row_bytes, count)) at_once = kMultiprocessors;
  const TileSize size = tile_size(all.piece, 256, all.vec, all.bytes, all.tensors > 2 ? kMostSentWithWeights : kMostSent);
  Slots& slots = all.slots;
  slots["tunables"] = fmt::format("THREADS = [{}], VEC = [{}], UNROLL = [{}], GROUPS = [{}], RESIDENT = [1, 2], KEEP = [64, 1], "
                                  "LEAST = [1, 2, 4], AHEAD = [64, 4], EXCHANGERS = [4, 2, 8]",
                                  choices(size.threads, {256, 128, 64}), choices(all.vec, {4, 2, 1}), choices(size.unroll, {8, 4, 2, 1}),
                                  choices(at_once, {1, 2, 4, 8, 16, 33, 66, 132}));
  slots["workspaces"] = fmt::format("mail = \"zero i64[8 + {} * {}]\"", grid, 2 * kRowsUnderWay * all.words);
  slots["least"] = fmt::format("SHARED_MAX // RESIDENT >= {} + {}", own, all.place);
  slots["grid"] = grid;
  slots["shared"] = fmt::format("{} * {}", places, all.place);
  slots["args"] = arguments_with(*program.task, {"mail", "i32:" + blocks, "i32:" + keeps, "i32:" + places});
  slots["parameters"] = gpu_parameters_of(*program.task) + ", int64_t* __restrict__ mail, int32_t blocks, int32_t kept, int32_t places";
  slots["words"] = fmt::format("{}", all.words);
  return finished(fill_pattern("patterns/gpu/specialised_rows.cu", slots), "specialised_rows");
}

Result<kernel::Kernel> specialised_cluster(const Program& program, kernel::Language language) {
  HONE_TRY(Specialised all, specialised(program, language, "HELD"));
  // What rows are found to be, as RowRoom has it, and the cluster's words, of twice as many rows.
  const int64_t found = 32 * kRowsInCluster * static_cast<int64_t>(all.messages), told = 8 * 2 * kRowsInCluster * all.words;
  const auto own = [&](const char* waves) { return fmt::format("{} + {} * ({} + 1) + {} * CLUSTER", 16 * kRowsInCluster, found, waves, told); };
  const std::string in_plan = own("THREADS // WAVE");
  const std::string room = fmt::format("min({} // (THREADS // WAVE), (SHARED_MAX - ({})) // {})", kMostRuns, in_plan, all.place);
  const std::string blocks = fmt::format("select({} > {}, CLUSTER, 1)", program.row_length().to_string(), all.tile);
  const std::string keeps = fmt::format("min(KEEP, {}, ceil_div({}, {}))", room, all.tiles, blocks);
  const std::string places = fmt::format("min({}, {} + min(AHEAD, {} * {}))", room, keeps, kRowsInCluster - 3, keeps);
  int64_t cluster = 16;
  while (cluster > 2 && all.row_bytes < cluster * kOfClusterBlock) cluster /= 2;
  // Weights take registers: half as many threads.
  const TileSize size = tile_size(all.piece, all.tensors > 2 ? 128 : 256, all.vec, all.bytes, kMostSent);
  Slots& slots = all.slots;
  slots["tunables"] = fmt::format("CLUSTER = [{}], SPARE = [1, 0, 2], THREADS = [{}], VEC = [{}], UNROLL = [{}], KEEP = [64, 1], "
                                  "AHEAD = [64, 4], EXCHANGERS = [4, 2, 8]",
                                  choices(cluster, {16, 8, 4, 2}), choices(size.threads, {256, 128, 64}), choices(all.vec, {4, 2, 1}),
                                  choices(size.unroll, {8, 16, 4, 2, 1}));
  slots["least"] = fmt::format("SHARED_MAX >= {} + {}", in_plan, all.place);
  slots["blocks"] = blocks;
  slots["grid"] = is_one(program.rows()) ? blocks : fmt::format("{0} * max(1, min(SMS // {0} - SPARE, {1}))", blocks, program.rows().to_string());
  slots["shared"] = fmt::format("{} * {}", places, all.place);
  slots["args"] = arguments_with(*program.task, {"i32:" + keeps, "i32:" + places});
  slots["parameters"] = gpu_parameters_of(*program.task) + ", int32_t kept, int32_t places";
  slots["own_cpp"] = own("THREADS / hone::kWave");
  return finished(fill_pattern("patterns/gpu/specialised_cluster.cu", slots), "specialised_cluster");
}

}  // namespace hone::pattern::gpu
