// Structs as JSON objects, each member said once: a struct has a template member
//   template <class F> void fields(F& f) { f("n", n, "what it is"); f.later("code", code, "…"); … }
// and from it come its writer, its reader and its documentation. Reading forgives and takes notes: a member that is missing
// or of another type keeps its value. Members that are `later` may be missing, as older programs did not write them; an
// std::optional is left out where there is nothing. A type that is no such struct has to_json(value) and read_json(json, value,
// notes) beside it; an enum name_of(value) and from_name(text) -> std::optional. Pure.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/json.h"

namespace hone::base {

class FieldWriter;
class FieldReader;
template <class T>
concept HasFields = requires(T& value, FieldWriter& f) { value.fields(f); };
template <class T>
concept HasJson = requires(const T& value, T& out, const Json& json, Notes& notes) {
  { to_json(value) } -> std::same_as<Json>;
  read_json(json, out, notes);
};
template <class T>
struct IsList : std::false_type {};
template <class T>
struct IsList<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T, class C>
struct IsMap<std::map<std::string, T, C>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
[[nodiscard]] Json json_of(const T& value);

/// The members of `value`, an object.
template <HasFields T>
[[nodiscard]] Json fields_json(const T& value);

class FieldWriter {
 public:
  template <class T>
  void operator()(const char* name, const T& value, const char* = "") {
    if constexpr (IsOptional<T>::value) {
      if (value) out_[name] = json_of(*value);
    } else {
      out_[name] = json_of(value);
    }
  }
  template <class T>
  void later(const char* name, const T& value, const char* = "") { (*this)(name, value); }
  /// Nothing is written as null.
  template <class T>
  void or_null(const char* name, const std::optional<T>& value, const char* = "") { out_[name] = json_of(value); }
  /// JSON has no infinity: what is beyond all bounds is written as null.
  void unbounded(const char* name, double value, const char* = "") { out_[name] = std::isfinite(value) ? Json(value) : Json(); }
  [[nodiscard]] Json take() { return std::move(out_); }

 private:
  Json out_ = Json::object();
};

template <class T>
Json json_of(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? json_of(*value) : Json();
  } else if constexpr (IsList<T>::value) {
    Json all = Json::array();
    for (const auto& item : value) all.push_back(json_of(item));
    return all;
  } else if constexpr (IsMap<T>::value) {
    Json all = Json::object();
    for (const auto& [name, item] : value) all[name] = json_of(item);
    return all;
  } else if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else if constexpr (HasJson<T>) {
    return to_json(value);
  } else if constexpr (HasFields<T>) {
    return fields_json(value);
  } else {
    return Json(value);
  }
}

template <HasFields T>
Json fields_json(const T& value) {
  FieldWriter writer;
  const_cast<T&>(value).fields(writer);  // the writer takes every member as const
  return writer.take();
}

/// Reads `json` into `value`; `name` is for notes.
template <class T>
void read_value(const Json& json, T& value, const std::string& name, Notes& notes);

class FieldReader {
 public:
  /// `object` and `notes` must outlive it.
  FieldReader(const Json& object, Notes& notes) : object_(object), notes_(notes) {}

  template <class T>
  void operator()(const char* name, T& value, const char* = "") {
    if (object_.contains(name)) later(name, value);
    else if constexpr (!IsOptional<T>::value) notes_.push_back(fmt::format("{} is missing", name));
  }
  template <class T>
  void later(const char* name, T& value, const char* = "") {
    if (const auto at = object_.find(name); at != object_.end()) read_value(*at, value, name, notes_);
  }
  template <class T>
  void or_null(const char* name, std::optional<T>& value, const char* = "") {
    if (object_.contains(name)) later(name, value);
    else notes_.push_back(fmt::format("{} is missing", name));
  }
  void unbounded(const char* name, double& value, const char* = "") {
    const auto at = object_.find(name);
    if (at != object_.end() && at->is_null()) value = std::numeric_limits<double>::infinity();
    else later(name, value);
  }

 private:
  const Json& object_;
  Notes& notes_;
};

/// The members of `value` from `json`; false, with a note, where that is no object.
template <HasFields T>
bool read_fields(const Json& json, T& value, Notes& notes) {
  if (!json.is_object()) {
    notes.emplace_back("is no object");
    return false;
  }
  FieldReader reader(json, notes);
  value.fields(reader);
  return true;
}

template <class T>
void read_value(const Json& json, T& value, const std::string& name, Notes& notes) {
  const auto wrong = [&](const char* expected) { notes.push_back(fmt::format("{} is no {}", name, expected)); };
  // Notes of what lies within name the way there.
  const auto within = [&](const auto& read) {
    const size_t before = notes.size();
    read();
    for (size_t i = before; i < notes.size(); ++i) notes[i] = name + (notes[i].starts_with("is ") ? " " : ".") + notes[i];
  };
  if constexpr (IsOptional<T>::value) {
    if (json.is_null()) value.reset();
    else read_value(json, value.emplace(), name, notes);
  } else if constexpr (IsList<T>::value) {
    if (!json.is_array()) return wrong("list");
    value.clear();
    for (const Json& item : json) read_value(item, value.emplace_back(), name, notes);
  } else if constexpr (IsMap<T>::value) {
    if (!json.is_object()) return wrong("object");
    value.clear();
    for (const auto& [key, item] : json.items()) read_value(item, value[key], name, notes);
  } else if constexpr (std::is_enum_v<T>) {
    if (!json.is_string()) return wrong("text");
    if (const auto known = from_name(json.get_ref<const std::string&>(), T{})) value = *known;
    else wrong("name that this version knows");
  } else if constexpr (HasJson<T>) {
    within([&] { read_json(json, value, notes); });
  } else if constexpr (HasFields<T>) {
    within([&] { read_fields(json, value, notes); });
  } else if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) return wrong("true or false");
    value = json.get<bool>();
  } else if constexpr (std::integral<T>) {
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>()) : json.is_number_integer() && std::in_range<T>(json.get<int64_t>());
    if (!fits) return wrong("whole number in its range");
    value = json.get<T>();
  } else if constexpr (std::floating_point<T>) {
    if (!json.is_number()) return wrong("number");
    value = json.get<T>();
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) return wrong("text");
    value = json.get<std::string>();
  } else {
    static_assert(std::same_as<T, Json>, "nothing says how this type is read");
    value = json;
  }
}

/// Not what was asked for.
class Misread : public Json::exception {
 public:
  explicit Misread(const std::string& what) : exception(302, what.c_str()) {}
};

/// As Json::get<T>(), but what does not fit into a whole number is refused, where get() does what nobody defines. Throws Json::exception.
template <class T>
[[nodiscard]] T exactly(const Json& value) {
  T out{};
  Notes notes;
  read_value(value, out, "the value", notes);
  if (!notes.empty()) throw Misread(notes.front());
  return out;
}
/// The member of an object; `fallback` where it has none.
template <class T>
[[nodiscard]] T exactly(const Json& object, const char* key, T fallback) {
  const auto at = object.find(key);
  return at == object.end() ? fallback : exactly<T>(*at);
}

/// How the documentation names a type.
template <class T>
[[nodiscard]] std::string type_text() {
  if constexpr (IsOptional<T>::value) return type_text<typename T::value_type>();
  else if constexpr (IsList<T>::value) return "list of " + type_text<typename T::value_type>();
  else if constexpr (IsMap<T>::value) return "name -> " + type_text<typename T::mapped_type>();
  else if constexpr (std::same_as<T, bool>) return "true or false";
  else if constexpr (std::integral<T>) return "whole number";
  else if constexpr (std::floating_point<T>) return "number";
  else if constexpr (std::same_as<T, std::string> || std::is_enum_v<T>) return "text";
  else return "object";
}

/// A member as documentation lists it.
struct FieldRow {
  std::string name, type, about;
  bool required = true;
};

/// Lists members, those of structs within as "workloads.name".
class FieldLister {
 public:
  explicit FieldLister(std::string within = "") : within_(std::move(within)) {}
  template <class T>
  void operator()(const char* name, T&, const char* about) { add<T>(name, about, !IsOptional<T>::value); }
  template <class T>
  void later(const char* name, T&, const char* about) { add<T>(name, about, false); }
  template <class T>
  void or_null(const char* name, std::optional<T>&, const char* about) { add<T>(name, about, true, " or null"); }
  void unbounded(const char* name, double&, const char* about) { add<double>(name, about, false, " or null"); }
  [[nodiscard]] std::vector<FieldRow> take() { return std::move(rows_); }

 private:
  template <class T>
  void add(const char* name, const char* about, bool required, const char* or_else = "") {
    rows_.push_back({within_ + name, type_text<T>() + or_else, about, required});
    using Item = decltype(innermost<T>());
    if constexpr (HasFields<Item> && !HasJson<Item>) {
      FieldLister inner(rows_.back().name + ".");
      Item item;
      item.fields(inner);
      for (FieldRow& row : inner.take()) rows_.push_back(std::move(row));
    }
  }
  template <class T>
  static auto innermost() {
    if constexpr (IsOptional<T>::value || IsList<T>::value) return innermost<typename T::value_type>();
    else return T();
  }
  std::string within_;
  std::vector<FieldRow> rows_;
};

}  // namespace hone::base
