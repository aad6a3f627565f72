// HTML text under construction. Whatever is put in is escaped unless its type says that it is markup,
// so that a kernel's source or a compiler's words cannot break out of their place. Plain values.
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

namespace hone::face::report {

/// Text that is HTML already.
struct Markup {
  std::string html;
};

/// For elements and quoted attributes alike. What is not UTF-8 becomes U+FFFD, control characters
/// become their pictures, and marks that reorder text (bidirectional overrides) their names: what is
/// shown is what is there.
[[nodiscard]] std::string escape(std::string_view text);

namespace detail {

inline std::string prepare(std::string_view text) { return escape(text); }
inline std::string_view prepare(const Markup& markup) { return markup.html; }
template <class T>
requires(std::is_arithmetic_v<T> && !std::same_as<T, bool> && !std::same_as<T, char>) T prepare(T value) {
  return value;
}
template <class T>
using Prepared = decltype(prepare(std::declval<const T&>()));

}  // namespace detail

class Html {
 public:
  /// A format of ours with values from anywhere: strings are escaped, numbers and Markup are not.
  template <class... Values>
  Html& add(fmt::format_string<detail::Prepared<Values>...> format, const Values&... values) {
    fmt::vformat_to(std::back_inserter(text_), fmt::string_view(format),
                    fmt::make_format_args(detail::prepare(values)...));
    return *this;
  }
  /// Markup of ours, or built by escape().
  Html& raw(std::string_view markup) {
    text_.append(markup);
    return *this;
  }
  Html& raw(const Html& other) { return raw(other.text_); }

  [[nodiscard]] Markup markup() && { return {std::move(text_)}; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] size_t size() const { return text_.size(); }

 private:
  std::string text_;
};

/// One piece of markup.
template <class... Values>
Markup markup(fmt::format_string<detail::Prepared<Values>...> format, const Values&... values) {
  return std::move(Html().add(format, values...)).markup();
}

}  // namespace hone::face::report
