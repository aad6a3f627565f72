#include "hone/base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace hone::base {
namespace {

constexpr int kMaxDepth = 256;

void write_double(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  const std::string_view digits(text, static_cast<size_t>(end - text));
  out += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void write(const Json& value, std::string& out) {
  const char* separator = "";
  switch (value.type()) {
    case Json::value_t::object:
      out += '{';
      for (const auto& [key, member] : value.items()) {  // a std::map: in byte order
        out += std::exchange(separator, ",");
        write(Json(key), out);
        out += ':';
        write(member, out);
      }
      out += '}';
      return;
    case Json::value_t::array:
      out += '[';
      for (const Json& element : value) {
        out += std::exchange(separator, ",");
        write(element, out);
      }
      out += ']';
      return;
    case Json::value_t::number_float:
      write_double(value.get<double>(), out);
      return;
    default:
      out += value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

/// "line:column" of a byte, both from 1.
std::string position(std::string_view text, size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  return fmt::format("{}:{}", std::count(before.begin(), before.end(), '\n') + 1,
                     before.size() - line_start + 1);
}

/// The part of the library's message behind its own position and number.
std::string reason(std::string_view what) {
  const size_t column = what.find("column ");
  const size_t colon = what.find(": ", column == std::string_view::npos ? 0 : column);
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

Result<const Json*> member(const Json& object, std::string_view key) {
  if (!object.is_object()) {
    return fail(ErrorCode::kInput,
                fmt::format("expected an object with '{}', found {}", key, object.type_name()));
  }
  const auto found = object.find(std::string(key));
  if (found == object.end()) return fail(ErrorCode::kInput, fmt::format("'{}' is missing", key));
  return &*found;
}

tl::unexpected<Error> wrong_type(std::string_view key, std::string_view expected,
                                 const Json& found) {
  std::string text = canonical_json(found);
  if (text.size() > 40) text = found.type_name();
  return fail(ErrorCode::kInput, fmt::format("'{}': expected {}, found {}", key, expected, text));
}

}  // namespace

std::string canonical_json(const Json& value) {
  std::string out;
  write(value, out);
  return out;
}

Result<Json> parse_json(std::string_view text, std::string_view name) {
  bool too_deep = false;
  const auto within_depth = [&](int depth, Json::parse_event_t, Json&) {
    too_deep |= depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  try {
    Json value = Json::parse(text.begin(), text.end(), within_depth);
    if (!too_deep) return value;
    return fail(ErrorCode::kInput, fmt::format("JSON nested more than {} levels deep", kMaxDepth),
                {}, std::string(name));
  } catch (const Json::parse_error& error) {
    const size_t byte = error.byte > 0 ? error.byte - 1 : 0;
    return fail(ErrorCode::kInput, "not valid JSON: " + reason(error.what()), {},
                fmt::format("{}:{}", name, position(text, byte)));
  } catch (const Json::exception& error) {  // a number beyond a double, for one
    return fail(ErrorCode::kInput, std::string("not valid JSON: ") + error.what(), {},
                std::string(name));
  }
}

Result<std::string> string_at(const Json& object, std::string_view key) {
  HONE_TRY(const Json* value, member(object, key));
  if (!value->is_string()) return wrong_type(key, "a string", *value);
  return value->get<std::string>();
}

Result<int64_t> int_at(const Json& object, std::string_view key) {
  HONE_TRY(const Json* value, member(object, key));
  const bool fits = value->is_number_integer() &&
                    (!value->is_number_unsigned() ||
                     value->get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()});
  if (!fits) return wrong_type(key, "a 64-bit integer", *value);
  return value->get<int64_t>();
}

Result<bool> bool_at(const Json& object, std::string_view key) {
  HONE_TRY(const Json* value, member(object, key));
  if (!value->is_boolean()) return wrong_type(key, "true or false", *value);
  return value->get<bool>();
}

Result<double> number_at(const Json& object, std::string_view key) {
  HONE_TRY(const Json* value, member(object, key));
  if (value->is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value->is_number()) return wrong_type(key, "a number", *value);
  return value->get<double>();
}

}  // namespace hone::base
