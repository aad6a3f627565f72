// Products, convolutions, attention.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hone/program/aten.h"

namespace hone::program {
namespace {

Written linear(const Site& site, std::string_view) {
  return written(fmt::format("linear({}, {}{})", site.text("input"), site.text("weight"), site.has("bias") ? ", " + site.text("bias") : ""));
}

Written product(const Site& site, std::string_view) { return written(fmt::format("{} @ {}", site.text("self"), site.any({"other", "mat2", "vec", "tensor"}))); }

Written product_of_bytes(const Site& site, std::string_view) { return written(fmt::format("cast({}, i32) @ cast({}, i32)", site.text("self"), site.text("mat2"))); }

Written added_product(const Site& site, std::string_view) {
  return written(fmt::format("addmm({}, {}, {}, beta={}, alpha={})", site.text("self"), site.any({"mat1", "batch1"}), site.any({"mat2", "batch2"}),
                             number_text(site.number("beta", 1)), number_text(site.number("alpha", 1))));
}

Written outer(const Site& site, std::string_view) { return written(fmt::format("outer({}, {})", site.text("self"), site.any({"vec2", "other"}))); }

/// Letters that an operand has twice: their axes become one, the diagonal, and go to the end.
Result<std::string> without_twins(const Site& site, std::string text, std::string& letters) {
  for (;;) {
    size_t a = 0, b = std::string::npos;
    for (; a < letters.size(); ++a)
      if (letters[a] != '.') {
        b = letters.find(letters[a], a + 1);
        if (b != std::string::npos) break;
      }
    if (b == std::string::npos) return text;
    if (letters.find('.') != std::string::npos) return no_word(site, "with a letter twice beside leading axes");
    std::vector<size_t> order;
    std::string left;
    for (size_t i = 0; i < letters.size(); ++i)
      if (i != a && i != b) {
        order.push_back(i);
        left += letters[i];
      }
    order.insert(order.end(), {a, b});
    text = fmt::format("diagonal(permute({}, [{}]))", text, fmt::join(order, ", "));
    letters = left + letters[a];
  }
}

Written einsum(const Site& site, std::string_view) {
  std::string equation;
  for (const char c : site.word("equation"))
    if (c != ' ') equation += c;
  const size_t arrow = equation.find("->");
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow);
    equation.resize(arrow);
  }
  std::vector<std::string> all, parts;
  size_t at = 0;
  for (const Argument& tensor : site.list("tensors")) {
    const size_t comma = std::min(equation.find(',', at), equation.size());
    parts.push_back(at <= comma ? equation.substr(at, comma - at) : std::string());
    at = comma + 1;
    std::string text = site.term(tensor);
    if (!result.empty()) {  // without it a letter that is there twice is summed over
      HONE_TRY(text, without_twins(site, std::move(text), parts.back()));
    }
    all.push_back(std::move(text));
  }
  return written(fmt::format("einsum(\"{}{}\", {})", fmt::join(parts, ","), result, fmt::join(all, ", ")));
}

Result<std::string> convolution_text(const Site& site, const std::string& input, size_t dimensions, bool transposed) {
  const std::vector<int64_t> dilation = site.integers("dilation", dimensions), stride = site.integers("stride", dimensions);
  const std::string word = site.word("padding"), padding = word.empty() ? list_text(site.integers("padding", dimensions)) : fmt::format("\"{}\"", word);
  std::string text = fmt::format("{}{}d({}, {}, {}, stride={}, padding={}", transposed ? "conv_transpose" : "conv", dimensions, input, site.text("weight"),
                                 site.text("bias"), list_text(stride), padding);
  if (transposed) text += ", output_padding=" + list_text(site.integers("output_padding", dimensions));
  return text + fmt::format(", dilation={}, groups={})", list_text(dilation), site.integer("groups", 1));
}

/// One sample without its axis gets one.
Written convolution(const Site& site, std::string_view detail) {
  const auto dimensions = static_cast<size_t>(site.rank("weight")) - 2;
  const bool transposed = detail == "transposed" || site.flag("transposed"), single = site.rank("input") + 1 == site.rank("weight");
  if (!single && site.rank("input") != site.rank("weight")) return no_word(site, "called as nobody calls it");
  std::string input = site.text("input");
  if (single) {
    task::Shape shape = site.type_of("input").shape;
    shape.insert(shape.begin(), 1);
    input = fmt::format("reshape({}, {})", input, list_text(shape));
  }
  HONE_TRY(std::string text, convolution_text(site, input, dimensions, transposed));
  return written(single ? fmt::format("reshape({}, {})", text, list_text(site.type().shape)) : std::move(text));
}

std::string attention_text(const Site& site, bool shared) {
  std::string text = fmt::format("attention({}, {}, {}", site.text("query"), site.text("key"), site.text("value"));
  for (const std::string_view mask : {"attn_mask", "attn_bias"})
    if (site.has(mask)) text += ", mask=" + site.text(mask);
  if (site.flag("is_causal")) text += ", causal=true";
  if (site.has("scale")) text += ", scale=" + site.text("scale");
  return text + (shared ? ", enable_gqa=true)" : ")");
}

Written attention(const Site& site, std::string_view) {
  if (site.number("dropout_p", 0) > 0) return no_word(site, "with dropout");
  if (site.node().several) return std::vector<std::string>{attention_text(site, false), ""};
  return written(attention_text(site, site.flag("enable_gqa")));
}

constexpr Row kProducts[] = {
    {"aten.linear.default", linear, {}, true},
    {"aten.matmul.default", product, {}, true},
    {"aten.mm.default", product, {}, true},
    {"aten.mv.default", product, {}, true},
    {"aten.bmm.default", product, {}, true},
    {"aten.dot.default", product, {}, true},
    {"aten._int_mm.default", product_of_bytes, {}, true},
    {"aten.addmm.default", added_product, {}, true},
    {"aten.baddbmm.default", added_product, {}, true},
    {"aten.outer.default", outer},
    {"aten.einsum.default", einsum, {}, true},
    {"aten.conv1d.default", convolution, {}, true},
    {"aten.conv1d.padding", convolution, {}, true},
    {"aten.conv2d.default", convolution, {}, true},
    {"aten.conv2d.padding", convolution, {}, true},
    {"aten.conv3d.default", convolution, {}, true},
    {"aten.conv3d.padding", convolution, {}, true},
    {"aten.convolution.default", convolution, {}, true},
    {"aten.conv_transpose1d.default", convolution, "transposed", true},
    {"aten.conv_transpose2d.input", convolution, "transposed", true},
    {"aten.conv_transpose3d.input", convolution, "transposed", true},
    {"aten.scaled_dot_product_attention.default", attention, {}, true},
    {"aten._scaled_dot_product_flash_attention_for_cpu.default", attention, {}, true},
};

}  // namespace

std::span<const Row> product_rows() { return kProducts; }

}  // namespace hone::program
