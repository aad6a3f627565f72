#include "hone/face/export/composition.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "hone/evaluate/baseline/pytorch.h"
#include "hone/face/export/python_names.h"
#include "hone/task/language/int_expr_python.h"

namespace hone::face {
namespace {

using task::Bindings;
using task::IntExpr;

constexpr size_t kProbes = 3;

struct PythonPiece {
  std::string text;
  bool number = false;
  bool word = false;
};

bool in_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The pieces' texts, joined, are `text`. Numbers are whole: "1e-05", "3".
std::vector<PythonPiece> tokenize(const std::string& text) {
  std::vector<PythonPiece> pieces;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    PythonPiece piece;
    if (text[at] == '\'' || text[at] == '"') {
      const char quote = text[at++];
      while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
      at = std::min(at + 1, text.size());
    } else if (std::isdigit(static_cast<unsigned char>(text[at])) != 0) {
      while (at < text.size() && (in_identifier(text[at]) || text[at] == '.' ||
                                  ((text[at] == '-' || text[at] == '+') && text[at - 1] == 'e')))
        ++at;
      piece.number = true;
    } else if (in_identifier(text[at])) {
      while (at < text.size() && in_identifier(text[at])) ++at;
      piece.word = true;
    } else {
      ++at;
    }
    piece.text = text.substr(begin, at - begin);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::optional<int64_t> whole(const std::string& text) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(text);
}

/// Every expression that the emitter could make a number of, simplest first.
class Candidates {
 public:
  explicit Candidates(const task::Task& task) {
    for (const std::string& symbol : task.symbols()) add(IntExpr::symbol(symbol));
    for (const task::Node& node : task.surface.nodes) {
      dims(node.type.dims);
      for (const auto& [key, value] : node.attrs) {
        if (const auto* one = std::get_if<IntExpr>(&value)) add(*one);
        if (const auto* many = std::get_if<task::Dims>(&value)) dims(*many);
      }
    }
    // A slice's end, a pad's width: the emitter adds and subtracts what the node has.
    const size_t plain = all_.size();
    for (size_t i = 0; i < plain && plain <= kMostPairs; ++i)
      for (size_t j = 0; j < plain; ++j) {
        add(all_[i] + all_[j]);
        add(all_[i] - all_[j]);
      }
    for (size_t i = 0; i < plain; ++i)
      for (const int64_t k : {-1, 1}) add(all_[i] + k);
  }

  /// The first that has these values in the probes.
  [[nodiscard]] std::optional<IntExpr> find(const std::vector<Bindings>& probes, const std::vector<int64_t>& values) const {
    for (const IntExpr& candidate : all_) {
      bool fits = true;
      for (size_t i = 0; fits && i < probes.size(); ++i) {
        const auto value = candidate.eval(probes[i]);
        fits = value && *value == values[i];
      }
      if (fits) return candidate;
    }
    return std::nullopt;
  }

 private:
  static constexpr size_t kMostPairs = 80;

  void dims(const task::Dims& extents) {
    IntExpr product = 1;
    for (const IntExpr& extent : extents) {
      add(extent);
      product = product * extent;
    }
    add(product);
  }
  void add(const IntExpr& candidate) {
    if (candidate.is_constant() || !seen_.insert(candidate.to_string()).second) return;
    all_.push_back(candidate);
  }

  std::vector<IntExpr> all_;
  std::set<std::string> seen_;
};

struct Written {
  std::vector<std::string> parameters;
  std::vector<PythonPiece> body;
};

Result<Written> write_for(const task::Task& task, const Bindings& bindings) {
  HONE_TRY(const std::string source, evaluate::emit_pytorch(task, bindings));
  constexpr std::string_view kHead = "def forward(";
  const size_t head = source.find(kHead), close = source.find("):\n", head);
  HONE_CHECK(head != std::string::npos && close != std::string::npos, source);
  Written written;
  std::string names = source.substr(head + kHead.size(), close - head - kHead.size());
  for (const PythonPiece& piece : tokenize(names))
    if (piece.word) written.parameters.push_back(piece.text);
  written.body = tokenize(source.substr(close + 3));
  return written;
}

bool is_prime(int64_t n) {
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

/// Extents that the code is written for: primes, so that no two expressions agree in all probes by accident, in the
/// order that the task's own have, as a slice of one extent may lie within another.
std::vector<Bindings> make_probes(const task::Task& task) {
  std::vector<std::string> symbols = task.symbols();
  const Bindings& known = task.workloads.front().bindings;
  std::stable_sort(symbols.begin(), symbols.end(), [&](const std::string& a, const std::string& b) { return known.at(a) < known.at(b); });
  std::vector<Bindings> probes(kProbes);
  int64_t prime = 997;
  for (const std::string& symbol : symbols)
    for (Bindings& probe : probes) {
      for (prime += 30 + prime % 17; !is_prime(prime);) ++prime;
      probe[symbol] = prime;
    }
  return probes;
}

}  // namespace

Result<Composition> compose_pytorch(const task::Task& task) {
  const std::vector<std::string> symbols = task.symbols();
  const std::vector<Bindings> probes = make_probes(task);
  std::vector<Written> written;
  for (const Bindings& probe : probes) {
    HONE_TRY(Written one, write_for(task, probe));
    written.push_back(std::move(one));
  }
  const auto cannot = [](const std::string& what) {
    return fail(ErrorCode::kUnavailable, "PyTorch code for any shape is not found: " + what);
  };
  const std::vector<PythonPiece>& first = written.front().body;
  std::set<std::string> words(written.front().parameters.begin(), written.front().parameters.end());
  for (const PythonPiece& piece : first)
    if (piece.word) words.insert(piece.text);
  Composition composition;
  composition.parameters = written.front().parameters;
  std::map<std::string, IntExpr, std::less<>> names;
  for (const std::string& symbol : symbols) {
    const std::string name = python_name(symbol, words);
    words.insert(name);
    names.emplace(symbol, IntExpr::symbol(name));
    composition.parameters.push_back(name);
  }
  for (const Written& other : written)
    if (other.body.size() != first.size()) return cannot("its form depends on the shape");
  const Candidates candidates(task);
  for (size_t i = 0; i < first.size(); ++i) {
    std::vector<int64_t> values;
    bool same = true, numbers = true;
    for (const Written& other : written) {
      same = same && other.body[i].text == first[i].text;
      const auto value = whole(other.body[i].text);
      numbers = numbers && value.has_value();
      values.push_back(value.value_or(0));
    }
    if (same) {
      composition.body += first[i].text;
      continue;
    }
    const auto expression = numbers ? candidates.find(probes, values) : std::nullopt;
    if (!expression) return cannot(fmt::format("what {} comes from", first[i].text));
    const std::string text = task::to_python(expression->substitute(names));
    composition.body += std::all_of(text.begin(), text.end(), in_identifier) ? text : "(" + text + ")";
  }
  for (const char* maker : {"torch.tensor(", "torch.arange(", "torch.zeros(", "torch.ones(", "torch.full(", "torch.eye(", "torch.empty("})
    composition.makes_tensors = composition.makes_tensors || composition.body.find(maker) != std::string::npos;
  return composition;
}

}  // namespace hone::face
