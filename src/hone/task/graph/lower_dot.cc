// Contractions: brings an einsum of two tensors into the form that kDot promises.
#include <cctype>
#include <map>

#include "hone/task/graph/lower.h"

namespace hone::task {
namespace {

/// An operand and the letters of its dimensions.
struct Side {
  Ref x;
  std::string letters;
};

/// Sums dimensions that neither the other operand nor the result has.
void sum_private(Side& side, const std::string& other, const std::string& result) {
  std::vector<int64_t> axes;
  std::string kept;
  Dims dims;
  for (size_t i = 0; i < side.letters.size(); ++i) {
    const char c = side.letters[i];
    if (other.find(c) == std::string::npos && result.find(c) == std::string::npos) {
      axes.push_back(static_cast<int64_t>(i));
    } else {
      kept += c;
      dims.push_back(side.x.dims()[i]);
    }
  }
  if (axes.empty()) return;
  side.x = reshape(sum(side.x, axes), std::move(dims));
  side.letters = kept;
}

/// A transposed operand is read in place: its letters move instead.
void absorb_transpose(Side& side) {
  const Node& node = side.x.lower().node(side.x.id());
  if (node.prim != Prim::kTranspose) return;
  const auto& perm = node.attr<std::vector<int64_t>>("perm");
  std::string letters(side.letters.size(), ' ');
  for (size_t i = 0; i < perm.size(); ++i) letters[static_cast<size_t>(perm[i])] = side.letters[i];
  side = {Ref(&side.x.lower(), node.operands[0]), letters};
}

/// Letters renamed to a, b, c, … in the order of their first use, so that equal dots compare equal.
std::string renamed(const std::string& spec) {
  std::map<char, char> names;
  std::string text;
  for (const char c : spec) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      text += c;
      continue;
    }
    const auto next = static_cast<char>(names.size() < 26 ? 'a' + names.size() : 'A' + names.size() - 26);
    text += names.emplace(c, next).first->second;
  }
  return text;
}

}  // namespace

Ref dot(std::string spec, Ref a, Ref b, DType dtype) {
  const size_t comma = spec.find(',');
  const size_t arrow = spec.find("->");
  const std::string result = spec.substr(arrow + 2);
  Side left{a, spec.substr(0, comma)};
  Side right{b, spec.substr(comma + 1, arrow - comma - 1)};
  sum_private(left, right.letters, result);
  sum_private(right, left.letters, result);
  absorb_transpose(left);
  absorb_transpose(right);
  TensorType type{dtype, {}};
  for (const char c : result) {
    const size_t at = left.letters.find(c);
    type.dims.push_back(at != std::string::npos ? left.x.dims()[at] : right.x.dims()[right.letters.find(c)]);
  }
  return a.lower().add(Prim::kDot, std::vector{left.x, right.x},
                       {{"spec", renamed(left.letters + "," + right.letters + "->" + result)}},
                       std::move(type));
}

}  // namespace hone::task
