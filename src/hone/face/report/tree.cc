// The candidates as a family: the path that led to the champion, then everybody. A kernel hangs below
// its parent where that was evaluated before it, so that no log, however odd, makes a circle.
#include <algorithm>
#include <cmath>

#include "hone/base/hash.h"
#include "hone/face/report/sections.h"
#include "hone/face/report/svg.h"
#include "hone/face/report/units.h"

namespace hone::face::report {
namespace {

constexpr size_t kNobody = static_cast<size_t>(-1);
constexpr size_t kShownChildren = 6;  ///< the others wait in a fold
/// Deeper generations are listed flat: browsers stop nesting at 512 elements, phones much earlier.
constexpr int kDeepest = 24;

struct Node {
  const Evaluation* evaluation = nullptr;
  size_t parent = kNobody;
  std::vector<size_t> children;        ///< accepted, best first
  std::map<std::string, int> refused;  ///< refused children by verdict
  double best = 0;                     ///< best score of the node and all below
  int below = 0;                       ///< accepted nodes below
  bool on_path = false;
};

/// What changed from `parent` to `child`.
Markup difference(const Evaluation* parent, const Evaluation& child) {
  if (!parent) return config_markup(child.config);
  Html out;
  if (parent->pattern != child.pattern)
    out.add(R"(<span class="pair">{} → {}</span> )", parent->pattern.empty() ? "none" : parent->pattern,
            child.pattern.empty() ? "none" : child.pattern);
  for (const auto& [name, value] : child.config) {
    const auto before = parent->config.find(name);
    if (before == parent->config.end()) {
      out.add(R"(<span class="pair">+{}={}</span> )", name, value);
    } else if (before->second != value) {
      out.add(R"(<span class="pair">{} {}→{}</span> )", name, before->second, value);
    }
  }
  for (const auto& [name, value] : parent->config)
    if (!child.config.contains(name)) out.add(R"(<span class="pair">−{}</span> )", name);
  return std::move(out).markup();
}

Markup gain_over(const Evaluation* parent, const Evaluation& child) {
  if (!parent || !(parent->score > 0)) return {};
  const double gain = child.score / parent->score;
  return markup(R"(<span class="gain {}">×{}</span>)",
                gain > 1.005   ? "up"
                : gain < 0.995 ? "down"
                               : "same",
                fmt::format("{:.{}f}", gain, gain < 10 ? 2 : 1));
}

class Tree {
 public:
  explicit Tree(const RunLog& log);
  void write(Html& out) const;
  void write_path(Html& out) const;
  [[nodiscard]] int refused() const { return refused_; }

 private:
  void write_row(Html& out, const Node& node, bool name_parent) const;
  void write_children(Html& out, const Node& node, int depth) const;
  void write_node(Html& out, size_t index, int depth) const;
  void write_flat(Html& out, const Node& node) const;
  [[nodiscard]] const Evaluation* parent_of(const Node& node) const {
    return node.parent == kNobody ? nullptr : nodes_[node.parent].evaluation;
  }

  const RunLog& log_;
  std::vector<Node> nodes_;  ///< in the order of evaluation: parents before children
  std::vector<size_t> roots_;
  std::vector<size_t> path_;  ///< from the root to the champion, or to the best
  int refused_ = 0;
};

Tree::Tree(const RunLog& log) : log_(log) {
  std::unordered_map<std::string, size_t> index;
  for (const Evaluation& e : log.evaluations) {
    const auto parent = index.find(e.parent);
    const size_t under = parent == index.end() ? kNobody : parent->second;
    if (!e.accepted()) {
      ++refused_;
      if (under != kNobody) ++nodes_[under].refused[e.verdict_name()];
      continue;
    }
    if (!index.try_emplace(e.kernel, nodes_.size()).second) continue;  // looked at again
    nodes_.push_back({&e, under, {}, {}, e.score, 0, false});
    (under == kNobody ? roots_ : nodes_[under].children).push_back(nodes_.size() - 1);
  }
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (nodes_[i].parent == kNobody) continue;
    Node& parent = nodes_[nodes_[i].parent];
    parent.best = std::max(parent.best, nodes_[i].best);
    parent.below += 1 + nodes_[i].below;
  }
  const Evaluation* best = log.best();
  const auto last = index.find(log.champion);
  size_t at = last != index.end() ? last->second : best ? index.at(best->kernel) : kNobody;
  for (; at != kNobody; at = nodes_[at].parent) {
    nodes_[at].on_path = true;
    path_.insert(path_.begin(), at);
  }
  const auto better = [&](size_t a, size_t b) {
    return nodes_[a].on_path != nodes_[b].on_path ? nodes_[a].on_path : nodes_[a].best > nodes_[b].best;
  };
  std::stable_sort(roots_.begin(), roots_.end(), better);
  for (Node& node : nodes_) std::stable_sort(node.children.begin(), node.children.end(), better);
}

void Tree::write_row(Html& out, const Node& node, bool name_parent) const {
  const Evaluation& e = *node.evaluation;
  const Evaluation* parent = parent_of(node);
  const std::string name = base::short_hash(e.kernel);
  out.add(
      R"(<span class="row{}" id="k-{}"><span class="what"><span class="dim">#{}</span> <code>{}</code> <b>{}</b> )",
      e.kernel == log_.champion ? " champion" : "", name, e.n, name,
      !e.action.empty()    ? e.action
      : !e.pattern.empty() ? e.pattern
                           : e.author);
  if (name_parent && parent)
    out.add(R"(<span class="dim">from {}</span> )", base::short_hash(parent->kernel));
  if (!parent && !e.action.empty() && !e.pattern.empty()) out.add("<span>{}</span> ", e.pattern);
  if (e.card) out.add(R"(<span class="dim">on {}</span> )", *e.card);
  out.add(R"(<span class="changed">{}</span></span><span class="score">{}{}</span></span>)",
          difference(parent, e), gain_over(parent, e), times(e.score));
}

/// Descendants in depth-first order, each naming its parent.
void Tree::write_flat(Html& out, const Node& node) const {
  std::vector<size_t> open(node.children.rbegin(), node.children.rend());
  while (!open.empty()) {
    const Node& next = nodes_[open.back()];
    open.pop_back();
    out.raw(next.on_path ? "<li class=\"leaf on\">" : "<li class=\"leaf\">");
    write_row(out, next, true);
    out.raw("</li>\n");
    open.insert(open.end(), next.children.rbegin(), next.children.rend());
  }
}

void Tree::write_children(Html& out, const Node& node, int depth) const {
  out.raw("<ul>");
  if (depth >= kDeepest) {
    write_flat(out, node);
  } else {
    for (size_t i = 0; i < node.children.size(); ++i) {
      if (i == kShownChildren && node.children.size() > kShownChildren + 2) {
        out.add("<li><details><summary class=\"more\">{} more, the best {}</summary><ul>",
                node.children.size() - i, times(nodes_[node.children[i]].best));
        for (; i < node.children.size(); ++i) write_node(out, node.children[i], depth + 2);
        out.raw("</ul></details></li>\n");
        break;
      }
      write_node(out, node.children[i], depth + 1);
    }
  }
  if (!node.refused.empty()) {
    std::string list;
    int all = 0;
    for (const auto& [verdict, count] : node.refused) {
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", count, verdict);
      all += count;
    }
    out.add(R"(<li class="leaf dim">{} refused: {}</li>)", all, list);
  }
  out.raw("</ul>");
}

void Tree::write_node(Html& out, size_t index, int depth) const {
  const Node& node = nodes_[index];
  const char* on = node.on_path ? " on" : "";
  if (node.children.empty() && node.refused.empty()) {
    out.add(R"(<li class="leaf{}">)", on);
    write_row(out, node, false);
  } else {
    out.add(R"(<li class="branch{}"><details{}><summary>)", on,
            Markup{node.on_path || depth == 0 ? " open=\"\"" : ""});
    write_row(out, node, false);
    out.raw("</summary>");
    write_children(out, node, depth);
    out.raw("</details>");
  }
  out.raw("</li>\n");
}

void Tree::write(Html& out) const {
  out.raw("<ul class=\"tree\">");
  for (const size_t root : roots_) write_node(out, root, 0);
  out.raw("</ul>\n");
}

void Tree::write_path(Html& out) const {
  if (path_.empty()) return;
  double most = 0;
  for (const size_t i : path_) most = std::max(most, nodes_[i].evaluation->score);
  out.add("<h3>Path to the {}</h3>",
          nodes_[path_.back()].evaluation->kernel == log_.champion ? "champion" : "best");
  out.raw(
      R"(<div class="scroll"><table class="grid path"><thead><tr><th class="num">#</th><th>kernel</th><th>action</th>)"
      R"(<th>changed</th><th class="num">gain</th><th class="num">score</th><th class="bar"></th></tr></thead><tbody>)");
  for (const size_t i : path_) {
    const Node& node = nodes_[i];
    const Evaluation& e = *node.evaluation;
    out.add(
        R"(<tr><td class="num dim">{}</td><td>{}</td><td>{}</td><td><span class="changed">{}</span>{}</td>)",
        e.n, kernel_link(e.kernel), e.action.empty() ? e.author : e.action,
        difference(parent_of(node), e),
        e.reason.empty() ? Markup{} : markup(R"(<div class="why">{}</div>)", e.reason));
    out.add(
        R"(<td class="num">{}</td><td class="num">{}</td><td class="bar"><i style="width:{}"></i></td></tr>)",
        gain_over(parent_of(node), e), times(e.score), svg::pc(most > 0 ? 100 * e.score / most : 0));
    out.raw("\n");
  }
  out.raw("</tbody></table></div>\n");
}

}  // namespace

namespace {

/// Scores were taken at different times; the finalists met once more.
void write_race(Html& out, const RunLog& log) {
  if (log.races.empty()) return;
  out.raw(
      R"(<h3>Race of the finalists</h3><p class="dim">Speed against the yardstick of the moment, timed in turn.</p>)"
      R"(<table class="grid narrow"><tbody>)");
  for (const Mark& mark : log.races)
    out.add(R"(<tr><td>{}</td><td class="num">{}</td></tr>)", kernel_link(mark.kernel),
            mark.score > 0 ? times(mark.score) : "refused");
  out.raw("</tbody></table>\n");
}

}  // namespace

void write_tree(Html& out, const Material& from) {
  const RunLog& log = from.log;
  if (log.accepted() == 0) return;
  const Tree tree(log);
  open_section(
      out, "candidates", "Candidates",
      Markup{"What each kernel changed against its parent, what that gained, and its score: speed in "
             "screening over the first correct kernel."});
  tree.write_path(out);
  write_race(out, log);
  out.add("<h3>All {} accepted kernels</h3>", log.accepted());
  tree.write(out);
  out.raw("</section>\n");
}

}  // namespace hone::face::report
