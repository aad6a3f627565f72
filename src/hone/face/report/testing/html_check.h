// Says whether a page is well formed, more strictly than browsers do: every tag closed in order,
// attributes quoted, names and entities known, ids unique, nothing fetched from elsewhere.
#pragma once
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hone::face::testing {

class HtmlCheck {
 public:
  explicit HtmlCheck(std::string_view page) : page_(page) { run(); }

  /// The first thing that is wrong, with what stands around it; empty: sound.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// Text outside of tags, style and script, entities resolved.
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] int count(std::string_view tag) const {
    int all = 0;
    for (const std::string& name : tags_) all += name == tag;
    return all;
  }
  [[nodiscard]] bool has_id(const std::string& id) const { return ids_.contains(id); }
  [[nodiscard]] const std::vector<std::string>& links() const { return links_; }
  [[nodiscard]] int depth() const { return depth_; }

 private:
  static bool is_void(std::string_view tag) {
    return tag == "meta" || tag == "br" || tag == "hr" || tag == "img";
  }

  void wrong(std::string what) {
    if (!problem_.empty()) return;
    const size_t from = at_ > 120 ? at_ - 120 : 0;
    problem_ = std::move(what) + " near: " + std::string(page_.substr(from, 240));
    at_ = page_.size();
  }

  void run() {
    constexpr std::string_view kDoctype = "<!doctype html>";
    if (!page_.starts_with(kDoctype)) return wrong("no doctype");
    at_ = kDoctype.size();
    while (at_ < page_.size()) {
      const char c = page_[at_];
      if (c == '<') {
        tag();
      } else if (c == '&') {
        text_ += entity();
      } else {
        if (c == '>' || (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'))
          wrong("stray character");
        if (at_ < page_.size()) text_ += page_[at_++];
      }
    }
    if (problem_.empty() && !open_.empty()) problem_ = "not closed: " + open_.back();
    for (const std::string& link : links_)
      if (problem_.empty() && link.size() > 1 && link.starts_with('#') && !link.starts_with("#k-") &&
          !ids_.contains(link.substr(1)))
        problem_ = "link to nowhere: " + link;
  }

  std::string entity() {
    const size_t end = page_.find(';', at_);
    const std::string_view name = page_.substr(at_, end == std::string_view::npos ? 1 : end - at_ + 1);
    constexpr std::array<std::pair<std::string_view, char>, 5> kKnown{
        {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#39;", '\''}}};
    for (const auto& [known, meaning] : kKnown) {
      if (name != known) continue;
      at_ += name.size();
      return std::string(1, meaning);
    }
    wrong("unknown entity");
    return {};
  }

  [[nodiscard]] std::string name() {
    const size_t from = at_;
    while (at_ < page_.size() && (std::isalnum(static_cast<unsigned char>(page_[at_])) || page_[at_] == '-'))
      ++at_;
    return std::string(page_.substr(from, at_ - from));
  }
  void spaces() {
    while (at_ < page_.size() && page_[at_] == ' ') ++at_;
  }

  void tag() {
    ++at_;
    if (at_ < page_.size() && page_[at_] == '/') {
      ++at_;
      const std::string closing = name();
      if (open_.empty() || open_.back() != closing || page_[at_] != '>')
        return wrong("closes what is not open: " + closing);
      open_.pop_back();
      ++at_;
      return;
    }
    const std::string opening = name();
    if (opening.empty()) return wrong("no tag name");
    tags_.push_back(opening);
    attributes(opening);
    if (at_ >= page_.size()) return;
    if (page_[at_] == '/') {
      if (page_.substr(at_, 2) != "/>") return wrong("odd end of tag");
      at_ += 2;
      return;
    }
    ++at_;
    if (is_void(opening)) return;
    open_.push_back(opening);
    depth_ = std::max(depth_, static_cast<int>(open_.size()));
    if (opening == "style" || opening == "script") {
      const size_t end = page_.find("</" + opening, at_);
      if (end == std::string_view::npos) return wrong("raw text without end");
      at_ = end;
    }
  }

  void attributes(const std::string& tag) {
    std::set<std::string> seen;
    for (spaces(); at_ < page_.size() && page_[at_] != '>' && page_[at_] != '/'; spaces()) {
      const std::string key = name();
      if (key.empty() || !seen.insert(key).second)
        return wrong("attribute twice or without a name in " + tag);
      if (page_.substr(at_, 2) != "=\"") return wrong("attribute without a quoted value in " + tag);
      at_ += 2;
      std::string value;
      while (at_ < page_.size() && page_[at_] != '"') {
        if (page_[at_] == '<' || page_[at_] == '>') return wrong("bracket in an attribute of " + tag);
        if (page_[at_] == '&')
          value += entity();
        else
          value += page_[at_++];
      }
      ++at_;
      if (key == "id" && !ids_.insert(value).second) return wrong("id twice: " + value);
      if (key == "href") links_.push_back(value);
      if (key.starts_with("on") || key == "src" || key == "srcset" ||
          (key == "href" && !value.starts_with('#')))
        return wrong("reaches out: " + key);
    }
  }

  std::string_view page_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string problem_, text_;
  std::vector<std::string> open_, tags_, links_;
  std::set<std::string> ids_;
};

}  // namespace hone::face::testing
