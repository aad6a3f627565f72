#include "hone/agent/answer.h"

#include <algorithm>

#include <fmt/format.h>

#include "hone/agent/model/message.h"
#include "hone/agent/prompt.h"
#include "hone/agent/schema.h"
#include "hone/base/json.h"

namespace hone::agent {
namespace {

using nlohmann::json;

constexpr size_t kMaxKernel = size_t{128} << 10;
/// All that the schema lets through, in bytes: whoever shows them cuts them.
constexpr size_t kMaxAction = 800, kMaxLesson = 2000;

struct Block {
  std::string language, content;
};

tl::unexpected<Unusable> unusable(std::string problem) { return tl::unexpected(Unusable{std::move(problem)}); }

/// Fenced blocks in order. A fence is a line that begins with three backticks or more; the closing one has
/// at least as many and nothing else.
tl::expected<std::vector<Block>, Unusable> blocks_of(std::string_view text) {
  std::vector<Block> blocks;
  size_t ticks = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    const size_t run = std::min(line.find_first_not_of('`'), line.size());
    if (ticks == 0 && run >= 3) {
      ticks = run;
      blocks.push_back({std::string(line.substr(run)), ""});
    } else if (ticks > 0 && run >= ticks && run == line.size()) {
      ticks = 0;
    } else if (ticks > 0) {
      blocks.back().content.append(line).append("\n");
    }
  }
  if (ticks > 0) return unusable("the last fenced block is not closed: the answer was cut off, or a fence is missing");
  return blocks;
}

/// The one block that is `json`, checked, and the one other (if `others` is 1).
struct Parts {
  json data;
  std::string other;
};
tl::expected<Parts, Unusable> answer_parts(std::string_view text, const json& schema, size_t others) {
  if (text.empty()) return unusable("the answer is empty");
  auto blocks = blocks_of(text);
  if (!blocks) return tl::unexpected(blocks.error());
  Parts parts;
  size_t jsons = 0, rest = 0;
  for (Block& block : *blocks) {
    if (block.language == "json") {
      ++jsons;
      const auto data = base::parse_json(block.content, "json block");
      if (!data) return unusable("the json block does not parse: " + data.error().to_string());
      parts.data = *data;
    } else {
      ++rest;
      parts.other = std::move(block.content);
    }
  }
  if (jsons != 1 || rest != others)
    return unusable(fmt::format("expected exactly one json block and {} other, found {} and {}", others, jsons, rest));
  if (const auto wrong = violation(schema, parts.data)) return unusable("the json block is not as asked: " + *wrong);
  return parts;
}

json text_schema(int longest, int shortest = 0) { return {{"type", "string"}, {"maxLength", longest}, {"minLength", shortest}}; }

json list_schema(json items, int most) { return {{"type", "array"}, {"items", std::move(items)}, {"maxItems", most}}; }

json object_schema(json properties, std::vector<std::string> required) {
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}, {"additionalProperties", false}};
}

std::vector<std::string> texts(const json& list) {
  std::vector<std::string> all;
  for (const json& item : list) all.push_back(one_line(item.get<std::string>(), 500));
  return all;
}

/// Compilers run in a jail that has none of the user's files; asking for them is refused before that.
std::string reaches_out(std::string_view source) {
  for (size_t at = 0; at < source.size();) {
    const size_t end = std::min(source.find('\n', at), source.size());
    std::string line(source.substr(at, end - at));
    at = end + 1;
    std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
    for (const char* directive : {"#include", "#embed", "#include_next", "#import", "%:include", "%:embed"}) {
      if (!line.starts_with(directive)) continue;
      const std::string named = line.substr(std::string_view(directive).size());
      if (named.starts_with("\"/") || named.starts_with("</") || named.find("..") != std::string::npos || std::string_view(directive) == "#embed" ||
          std::string_view(directive) == "%:embed")
        return one_line(line, 100);
    }
    if (line.find(".incbin") != std::string::npos) return ".incbin";
  }
  return {};
}

}  // namespace

tl::expected<kernel::Kernel, Unusable> foreign_kernel(std::string_view source, kernel::Language language) {
  if (source.size() > kMaxKernel) return unusable("the kernel is longer than 128 KiB");
  if (valid_utf8(source) != source || source.find('\0') != std::string_view::npos) return unusable("the kernel is not UTF-8 text");
  auto parsed = kernel::parse_kernel(source, "kernel");
  if (!parsed) return unusable("the kernel's header is refused: " + parsed.error().to_string());
  if (parsed->header.language != language)
    return unusable(fmt::format("the kernel is written in {}, expected {}", kernel::name_of(parsed->header.language), kernel::name_of(language)));
  if (!parsed->header.pattern.empty() || parsed->header.verified)
    return unusable("the header sets \"pattern\" or \"verified\", which are hone's to write");
  if (const std::string what = reaches_out(source); !what.empty())
    return unusable(fmt::format("the kernel asks for a file by its path ({}): only hone's and the standard headers are there", what));
  return std::move(*parsed);
}

tl::expected<KernelAnswer, Unusable> kernel_answer(std::string_view text, kernel::Language language) {
  static const json schema = object_schema({{"action", text_schema(200, 1)}, {"reason", text_schema(2000, 1)}, {"lesson", text_schema(500)},
                                            {"expected_speedup", {{"type", "number"}, {"minimum", 0}, {"maximum", 10000}}}},
                                           {"action", "reason", "expected_speedup"});
  auto parts = answer_parts(text, schema, 1);
  if (!parts) return tl::unexpected(parts.error());
  auto kernel = foreign_kernel(parts->other, language);
  if (!kernel) return tl::unexpected(kernel.error());
  KernelAnswer answer;
  answer.action = one_line(parts->data["action"].get<std::string>(), kMaxAction);
  answer.reason = one_line(parts->data["reason"].get<std::string>(), 600);
  answer.lesson = one_line(parts->data.value("lesson", ""), kMaxLesson);
  answer.expected_speedup = parts->data["expected_speedup"];
  answer.kernel = std::move(*kernel);
  return answer;
}

tl::expected<DiagnosisAnswer, Unusable> diagnosis_answer(std::string_view text, const std::vector<std::string>& metrics) {
  static const json schema = object_schema(
      {{"bottleneck", text_schema(60, 1)},
       {"evidence", list_schema(object_schema({{"metric", text_schema(100, 1)}, {"value", {{"type", "number"}}}, {"says", text_schema(300)}},
                                              {"metric", "value"}), 8)},
       {"plan", list_schema(text_schema(300, 1), 3)}, {"expected_speedup", {{"type", "number"}, {"minimum", 0}, {"maximum", 10000}}}},
      {"bottleneck", "evidence", "plan"});
  auto parts = answer_parts(text, schema, 0);
  if (!parts) return tl::unexpected(parts.error());
  DiagnosisAnswer answer;
  answer.bottleneck = one_line(parts->data["bottleneck"].get<std::string>(), 60);
  for (const json& item : parts->data["evidence"]) {
    DiagnosisAnswer::Evidence evidence{item["metric"], one_line(item.value("says", ""), 300), item["value"]};
    if (std::find(metrics.begin(), metrics.end(), evidence.metric) == metrics.end())
      return unusable(fmt::format("the evidence names \"{}\", which is no metric that was given", one_line(evidence.metric, 60)));
    answer.evidence.push_back(std::move(evidence));
  }
  if (answer.evidence.empty() && answer.bottleneck != "unknown")
    return unusable("a bottleneck without evidence: name metrics, or say unknown");
  answer.plan = texts(parts->data["plan"]);
  answer.expected_speedup = parts->data.value("expected_speedup", 0.0);
  return answer;
}

tl::expected<ResearchAnswer, Unusable> research_answer(std::string_view text) {
  static const json schema = object_schema(
      {{"applies", list_schema(object_schema({{"name", text_schema(200, 1)}, {"why", text_schema(400)}}, {"name", "why"}), 12)},
       {"ideas", list_schema(text_schema(300, 1), 8)}},
      {"applies", "ideas"});
  auto parts = answer_parts(text, schema, 0);
  if (!parts) return tl::unexpected(parts.error());
  ResearchAnswer answer;
  for (const json& item : parts->data["applies"])
    answer.applies.emplace_back(one_line(item["name"].get<std::string>(), 200), one_line(item["why"].get<std::string>(), 400));
  answer.ideas = texts(parts->data["ideas"]);
  return answer;
}

tl::expected<TaskAnswer, Unusable> task_answer(std::string_view text) {
  static const json schema =
      object_schema({{"name", text_schema(60, 1)}, {"assumptions", list_schema(text_schema(500), 12)}}, {"name", "assumptions"});
  auto parts = answer_parts(text, schema, 1);
  if (!parts) return tl::unexpected(parts.error());
  return TaskAnswer{one_line(parts->data["name"].get<std::string>(), 60), std::move(parts->other), texts(parts->data["assumptions"])};
}

}  // namespace hone::agent
