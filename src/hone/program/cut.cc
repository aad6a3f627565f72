#include "hone/program/cut.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "hone/program/aten.h"
#include "hone/program/normalise.h"
#include "hone/program/task_text.h"

namespace hone::program {
namespace {

constexpr int kNone = -1;

bool is_heavy(const Node& node) {
  const Row* row = find_row(node.op);
  return row != nullptr && row->heavy;
}

bool is_alone(const Node& node) {
  const Row* row = find_row(node.op);
  return row != nullptr && row->alone;
}

/// What a node hangs on: nothing at all, weights alone, or the arguments of forward().
enum class Depends : uint8_t { kNothing, kWeights, kArguments };

std::vector<Depends> dependence(const Program& program) {
  std::vector<Depends> all(program.nodes.size(), Depends::kNothing);
  for (size_t i = 0; i < all.size(); ++i) {
    const Node& node = program.nodes[i];
    if (node.is_input()) all[i] = node.role == Role::kUser ? Depends::kArguments : Depends::kWeights;
    for (const int operand : operands(node)) all[i] = std::max(all[i], all[static_cast<size_t>(operand)]);
    if (node.whole >= 0 && is_heavy(node)) all[i] = Depends::kArguments;  // a loop's first step is like the others, whatever its state is
  }
  return all;
}

/// Nodes that each region repeats for itself instead of having them handed over: views of tensors, and what is made of
/// numbers alone (a causal mask), but for products and orders: those are computed once.
std::vector<bool> nodes_repeated(const Program& program, const std::vector<Depends>& depends, Words& words) {
  std::vector<bool> all(program.nodes.size(), false);
  for (size_t i = 0; i < all.size(); ++i) {
    const Node& node = program.nodes[i];
    if (node.is_input() || node.several || is_tuple_part(node)) continue;
    all[i] = (is_view(node) || is_creation(node) || (depends[i] == Depends::kNothing && !is_heavy(node) && !is_alone(node))) && words.lacks(static_cast<int>(i)).empty();
  }
  return all;
}

constexpr size_t kManyPieces = 4;

/// Where an argument or a weight is taken apart into many pieces of one shape, as time steps are: for each of them the first of its
/// kind, else kNone. With the position in their text the tasks that read them would all differ; handed over, the steps of a loop are one task.
std::vector<int> pieces_of_inputs(const Program& program) {
  std::map<std::string, std::vector<int>> kinds;
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (node.op != "aten.select.int" && node.op != "aten.slice.Tensor") continue;
    const Argument *from = node.find("self"), *axis = node.find("dim");
    if (from == nullptr || from->ref() == nullptr || !program.nodes[static_cast<size_t>(from->ref()->node)].is_input()) continue;
    kinds[fmt::format("{} {} {} {} {}", node.whole, node.op, from->ref()->node, axis == nullptr ? 0 : axis->integer().value_or(0), node.type().to_string())].push_back(static_cast<int>(i));
  }
  std::vector<int> first(program.nodes.size(), kNone);
  for (const auto& [kind, pieces] : kinds)
    for (const int piece : pieces)
      if (pieces.size() >= kManyPieces) first[static_cast<size_t>(piece)] = pieces.front();
  return first;
}

class Cutter {
 public:
  /// `handed`: by node, as pieces_of_inputs() gives them; more that are handed over.
  Cutter(const Program& program, const CutOptions& options, const std::vector<int>& handed)
      : program_(program), options_(options), words_(program), region_(program.nodes.size(), kNone), users_(users(program)), depends_(dependence(program)),
        repeated_(nodes_repeated(program, depends_, words_)), pieces_(pieces_of_inputs(program)) {
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (i < handed.size() && handed[i] != kNone) pieces_[i] = handed[i];
      if (pieces_[i] != kNone) repeated_[i] = false;
    }
    for (const Output& output : program.outputs) {
      std::vector<int> nodes;
      collect(output.value, nodes);
      given_.insert(nodes.begin(), nodes.end());
    }
    for (const Whole& whole : program.wholes) {
      if (std::all_of(whole.results.begin(), whole.results.end(), [](int result) { return result == kNone; })) continue;
      for (const int operand : operands(whole.node)) behind(operand, of_wholes_);
      of_wholes_.insert(whole.results.begin(), whole.results.end());
    }
  }

  std::vector<Region> run() {
    assign();
    join();
    return finish();
  }

  /// After run(): pieces of what the program computes that as many tasks read as there are pieces, one each, as the steps of a loop do.
  [[nodiscard]] std::vector<int> pieces_of_steps() const {
    std::map<std::string, std::vector<int>> kinds;
    std::map<std::string, std::set<int>> tasks;
    for (int id = 0; id < static_cast<int>(program_.nodes.size()); ++id) {
      if ((node(id).op != "aten.select.int" && node(id).op != "aten.slice.Tensor") || !is_repeated(id) || is_given(id)) continue;
      const Argument *from = node(id).find("self"), *axis = node(id).find("dim");
      std::set<int> regions, sources;
      readers(id, regions);
      behind(id, sources);
      if (from->ref() == nullptr || regions.size() != 1 || sources.size() != 1 || *regions.begin() == kNone || *regions.begin() == region_of(*sources.begin())) continue;
      const Draft& reader = drafts_[static_cast<size_t>(*regions.begin())];
      if (reader.kind != Region::Kind::kTask) continue;
      const std::string kind = fmt::format("{} {} {} {} {} {}", node(id).whole, node(id).op, from->ref()->node, axis == nullptr ? 0 : axis->integer().value_or(0), node(id).type().to_string(),
                                           reader.nodes.size());
      if (tasks[kind].insert(*regions.begin()).second) kinds[kind].push_back(id);
    }
    std::vector<int> first(program_.nodes.size(), kNone);
    for (const auto& [kind, pieces] : kinds)
      for (const int piece : pieces)
        if (pieces.size() >= kManyPieces) first[static_cast<size_t>(piece)] = pieces.front();
    return first;
  }

 private:
  struct Draft {
    std::vector<int> nodes;
    int heavy = 0;
    Region::Kind kind = Region::Kind::kTask;
    std::string why;
    int whole = kNone;
    bool alone = false;
  };

  [[nodiscard]] bool is_repeated(int id) const { return repeated_[static_cast<size_t>(id)]; }
  [[nodiscard]] const Node& node(int id) const { return program_.nodes[static_cast<size_t>(id)]; }
  [[nodiscard]] int region_of(int id) const { return region_[static_cast<size_t>(id)]; }

  /// Behind views: the nodes whose values are read, inputs among them.
  void sources(int id, std::set<int>& into) const {
    for (const int operand : operands(node(id))) behind(operand, into);
  }
  void behind(int id, std::set<int>& into) const {
    if (is_repeated(id)) sources(id, into);
    else into.insert(id);
  }
  [[nodiscard]] std::set<int> sources(int id) const {
    std::set<int> all;
    sources(id, all);
    return all;
  }

  /// First a heavy operator opens a region, and all else goes where the latest of its operands is.
  void assign() {
    for (int id = 0; id < static_cast<int>(program_.nodes.size()); ++id) {
      const Node& here = node(id);
      if (here.is_input() || is_repeated(id)) continue;
      int latest = kNone;
      std::set<int> from;   // regions
      for (const int source : sources(id))
        if (const int region = region_of(source); region != kNone && !is_fold(region)) from.insert(region);
      if (!from.empty()) latest = *from.rbegin();
      const std::string why = words_.lacks(id);
      if (depends_[static_cast<size_t>(id)] != Depends::kArguments && !is_tuple_part(here)) {
        open(id, Region::Kind::kFold, {});
      } else if (const int first = pieces_[static_cast<size_t>(id)]; first == id) {
        open(id, Region::Kind::kEager, std::string(kView));
      } else if (first != kNone) {
        put(id, region_of(first));
      } else if (!why.empty()) {
        open(id, Region::Kind::kEager, why);
      } else if (is_tuple_part(here)) {
        put(id, region_of(here.find("source")->ref()->node));
      } else if (puts_together(here, from.size())) {
        open(id, Region::Kind::kEager, fmt::format("{} puts pieces together", here.op));
      } else if (latest == kNone || is_heavy(here) || is_alone(here) || drafts_[static_cast<size_t>(latest)].alone || drafts_[static_cast<size_t>(latest)].whole != here.whole || drafts_[static_cast<size_t>(latest)].kind != Region::Kind::kTask ||
                 static_cast<int>(drafts_[static_cast<size_t>(latest)].nodes.size()) >= options_.most_operations) {
        open(id, Region::Kind::kTask, {});
      } else {
        put(id, latest);
      }
    }
  }

  /// What many regions made, or the steps of a loop: with the last of them it would be a task unlike the others'.
  static bool puts_together(const Node& node, size_t regions) {
    return (node.op == "aten.stack.default" && (regions >= kManyPieces || node.whole != kNone)) || (node.op == "aten.cat.default" && node.whole != kNone);
  }

  [[nodiscard]] bool is_fold(int region) const { return drafts_[static_cast<size_t>(region)].kind == Region::Kind::kFold; }

  void open(int id, Region::Kind kind, const std::string& why) {
    drafts_.push_back({{}, 0, kind, why, node(id).whole});
    put(id, static_cast<int>(drafts_.size()) - 1);
  }

  void put(int id, int region) {
    region_[static_cast<size_t>(id)] = region;
    Draft& draft = drafts_[static_cast<size_t>(region)];
    draft.nodes.push_back(id);
    draft.heavy += is_heavy(node(id));
    draft.alone = draft.alone || is_alone(node(id));
  }

  /// What a region reads and writes, and who reads it.
  struct Border {
    std::set<int> inputs;                   ///< nodes
    std::map<int, std::set<int>> readers;   ///< result -> regions; kNone: the program itself
    [[nodiscard]] std::set<int> consumers() const {
      std::set<int> all;
      for (const auto& [result, regions] : readers) all.insert(regions.begin(), regions.end());
      return all;
    }
  };

  /// The regions that read a node, through views.
  void readers(int id, std::set<int>& into) const {
    for (const int user : users_[static_cast<size_t>(id)]) {
      if (is_repeated(user)) readers(user, into);
      else into.insert(region_of(user));
    }
    if (is_given(id) || of_wholes_.count(id) > 0) into.insert(kNone);
  }

  [[nodiscard]] bool is_given(int id) const { return given_.count(id) > 0; }

  [[nodiscard]] Border border(int region) const {
    Border border;
    for (const int id : drafts_[static_cast<size_t>(region)].nodes) {
      for (const int source : sources(id))
        if (region_of(source) != region) border.inputs.insert(source);
      std::set<int> regions;
      readers(id, regions);
      regions.erase(region);
      if (!regions.empty()) border.readers[id] = regions;
    }
    return border;
  }

  [[nodiscard]] int64_t bytes_of(int id) const {
    int64_t bytes = 0;
    for (const ValueType& type : node(id).types) bytes += type.bytes();
    return bytes;
  }

  /// Bytes that are neither written nor read again once two regions are one.
  [[nodiscard]] int64_t saved(const Border& from, int into) const {
    int64_t bytes = 0;
    for (const auto& [result, regions] : from.readers)
      if (regions.count(into) > 0) bytes += bytes_of(result) * (regions.size() == 1 ? 2 : 1);
    return bytes;
  }

  /// Whether both operands of every heavy node are of the data, no weights: a product of what was computed.
  [[nodiscard]] bool multiplies_data(int region) const {
    for (const int id : drafts_[static_cast<size_t>(region)].nodes)
      if (is_heavy(node(id)))
        for (const int operand : operands(node(id)))
          if (depends_[static_cast<size_t>(operand)] != Depends::kArguments) return false;
    return true;
  }

  [[nodiscard]] bool may_join(int from, int into, const Border& a, const Border& b) const {
    const Draft &first = drafts_[static_cast<size_t>(from)], &second = drafts_[static_cast<size_t>(into)];
    if (first.kind != Region::Kind::kTask || second.kind != Region::Kind::kTask || first.whole != second.whole || first.alone || second.alone) return false;
    if (static_cast<int>(first.nodes.size() + second.nodes.size()) > options_.most_operations) return false;
    if (static_cast<int>(a.inputs.size() + b.inputs.size()) > options_.most_inputs) return false;
    if (first.heavy + second.heavy <= 1) return true;
    if (first.heavy + second.heavy > 2) return false;
    if (shares_factor(from, into)) return true;
    if (!multiplies_data(from) || !multiplies_data(into)) return false;
    const int64_t between = saved(a, into);
    int64_t else_moved = 0;
    std::set<int> read = a.inputs;
    read.insert(b.inputs.begin(), b.inputs.end());
    for (const int id : read)
      if (region_of(id) != from) else_moved += bytes_of(id);
    for (const auto& [result, regions] : b.readers) else_moved += bytes_of(result);
    return between > else_moved;
  }

  /// Two products of one and the same tensor with weights of one shape, such as a gate and what it gates.
  [[nodiscard]] bool shares_factor(int from, int into) const {
    const Node *a = heavy_of(from), *b = heavy_of(into);
    if (a == nullptr || b == nullptr || a->op != b->op || a->types != b->types || a->arguments.size() < 2 || b->arguments.size() < 2) return false;
    return a->arguments.front().second == b->arguments.front().second && a->arguments.front().second.ref() != nullptr;
  }
  [[nodiscard]] const Node* heavy_of(int region) const {
    const Node* found = nullptr;
    for (const int id : drafts_[static_cast<size_t>(region)].nodes)
      if (is_heavy(node(id))) {
        if (found != nullptr) return nullptr;
        found = &node(id);
      }
    return found;
  }

  /// Joins pairs while any saves bytes, first the one that saves most: a region and the only one that reads it, at the latter's place in the order.
  void join() {
    for (size_t i = 0; i < drafts_.size(); ++i) borders_.push_back(border(static_cast<int>(i)));
    offers_.resize(drafts_.size());
    for (size_t i = 0; i < drafts_.size(); ++i) offer(static_cast<int>(i));
    while (!best_.empty()) {
      const int from = best_.begin()->second;
      join(from, offers_[static_cast<size_t>(from)].into);
    }
  }

  /// What joining a region with its reader saves, where it may be.
  void offer(int region) {
    const auto at = static_cast<size_t>(region);
    best_.erase({-offers_[at].bytes, region});
    offers_[at] = {};
    if (drafts_[at].nodes.empty()) return;
    const std::set<int> consumers = borders_[at].consumers();
    if (consumers.size() != 1 || *consumers.begin() == kNone) return;
    const int into = *consumers.begin();
    if (!may_join(region, into, borders_[at], borders_[static_cast<size_t>(into)])) return;
    const int64_t bytes = saved(borders_[at], into);
    if (bytes <= 0) return;
    offers_[at] = {into, bytes};
    best_.insert({-bytes, region});
  }

  void join(int best, int target) {
    Draft& into = drafts_[static_cast<size_t>(target)];
    Draft& from = drafts_[static_cast<size_t>(best)];
    for (const int id : from.nodes) region_[static_cast<size_t>(id)] = target;
    into.nodes.insert(into.nodes.end(), from.nodes.begin(), from.nodes.end());
    std::sort(into.nodes.begin(), into.nodes.end());
    into.heavy += from.heavy;
    from = {};
    // What either read has another reader now, and what may join the target is another question.
    std::set<int> touched{best, target};
    for (const int region : {best, target})
      for (const int input : borders_[static_cast<size_t>(region)].inputs)
        if (region_of(input) != kNone) touched.insert(region_of(input));
    for (const int region : touched) borders_[static_cast<size_t>(region)] = border(region);
    for (const int region : touched) offer(region);
  }

  /// Views that the program gives: of the region whose result they look at, or steps of their own.
  void add_given_views(std::vector<Region>& regions, const std::vector<int>& place) const {
    for (const int id : given_) {
      if (!is_repeated(id)) continue;
      std::set<int> from;
      sources(id, from);
      const int region = from.size() == 1 ? region_of(*from.begin()) : kNone;
      if (region != kNone && drafts_[static_cast<size_t>(region)].kind == Region::Kind::kTask && drafts_[static_cast<size_t>(region)].whole == node(id).whole) {
        Region& owner = regions[static_cast<size_t>(place[static_cast<size_t>(region)])];
        owner.results.push_back(id);
        continue;
      }
      Region own;
      own.kind = Region::Kind::kEager;
      own.why = kView;
      own.nodes = {id};
      own.inputs.assign(from.begin(), from.end());
      own.results = {id};
      for (const int source : from) {
        if (region_of(source) == kNone) continue;
        std::vector<int>& results = regions[static_cast<size_t>(place[static_cast<size_t>(region_of(source))])].results;
        if (std::find(results.begin(), results.end(), source) == results.end()) results.push_back(source);
      }
      regions.push_back(std::move(own));
    }
  }

  std::vector<Region> finish() {
    std::vector<Region> regions;
    std::vector<int> place(drafts_.size(), kNone);
    std::vector<size_t> order;  // folds hang on folds only, and come first
    for (const bool folds : {true, false})
      for (size_t i = 0; i < drafts_.size(); ++i)
        if (!drafts_[i].nodes.empty() && (drafts_[i].kind == Region::Kind::kFold) == folds) order.push_back(i);
    for (const size_t i : order) {
      const Border here = border(static_cast<int>(i));
      Region region;
      region.kind = drafts_[i].kind;
      region.why = drafts_[i].why;
      region.whole = region.kind == Region::Kind::kFold ? kNone : drafts_[i].whole;
      region.nodes = drafts_[i].nodes;
      region.inputs.assign(here.inputs.begin(), here.inputs.end());
      for (const auto& [result, readers] : here.readers)
        if (readers.size() > 1 || *readers.begin() != kNone || is_given(result) || of_wholes_.count(result) > 0) region.results.push_back(result);
      place[i] = static_cast<int>(regions.size());
      regions.push_back(std::move(region));
    }
    add_given_views(regions, place);
    for (Region& region : regions) std::sort(region.results.begin(), region.results.end());
    return regions;
  }

  const Program& program_;
  const CutOptions& options_;
  Words words_;
  std::vector<int> region_;
  std::vector<std::vector<int>> users_;
  std::vector<Depends> depends_;
  std::vector<bool> repeated_;
  std::vector<int> pieces_;
  std::set<int> given_;
  std::set<int> of_wholes_;   ///< what operators that were written out read and give
  std::vector<Draft> drafts_;
  struct Offer {
    int into = kNone;
    int64_t bytes = 0;
  };
  std::vector<Border> borders_;              ///< of drafts_
  std::vector<Offer> offers_;
  std::set<std::pair<int64_t, int>> best_;   ///< bytes saved, from the most; region
};

}  // namespace

std::vector<int> body(const Program& program, const Region& region) {
  const std::set<int> inputs(region.inputs.begin(), region.inputs.end());
  std::set<int> needed;
  std::vector<int> open = region.results;
  while (!open.empty()) {
    const int id = open.back();
    open.pop_back();
    if (inputs.count(id) > 0 || !needed.insert(id).second) continue;
    for (const int operand : operands(program.nodes[static_cast<size_t>(id)])) open.push_back(operand);
  }
  return {needed.begin(), needed.end()};
}

std::set<std::string> without_words(const Program& program) {
  std::set<std::string> names;
  Words words(program);
  const auto depends = dependence(program);
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    if (depends[i] == Depends::kArguments && node.whole < 0 && !is_taking_apart(node) && !words.lacks(static_cast<int>(i)).empty()) names.insert(node.name);
  }
  return names;
}

std::map<std::string, std::string> apart_for_nothing(const Program& program, const std::vector<Region>& regions) {
  std::vector<std::set<size_t>> within(program.origins.size());
  std::vector<size_t> heavy(program.origins.size(), 0);
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < regions.size(); ++i)
    for (const int id : regions[i].nodes) {
      const Node& node = program.nodes[static_cast<size_t>(id)];
      if (node.origin < 0 || regions[i].kind == Region::Kind::kFold) continue;
      const auto origin = static_cast<size_t>(node.origin);
      within[origin].insert(i);
      heavy[origin] += is_heavy(node) ? 1 : 0;
      const bool moves_nothing = program.origins[origin].composite && is_view(node);   // PyTorch's as before
      if (regions[i].kind == Region::Kind::kEager && !moves_nothing) names.emplace(program.origins[origin].node.name, fmt::format("one of its pieces would be PyTorch's: {}", regions[i].why));
    }
  for (size_t i = 0; i < within.size(); ++i)
    if (!program.origins[i].composite && within[i].size() > std::max<size_t>(heavy[i], 1))
      names.emplace(program.origins[i].node.name, fmt::format("its pieces would be {} tasks, and PyTorch has one kernel for it", within[i].size()));
  return names;
}

std::vector<Region> cut(const Program& program, const CutOptions& options) {
  Cutter once(program, options, {});
  std::vector<Region> regions = once.run();
  const std::vector<int> handed = once.pieces_of_steps();
  if (std::all_of(handed.begin(), handed.end(), [](int piece) { return piece == kNone; })) return regions;
  return Cutter(program, options, handed).run();
}

}  // namespace hone::program
