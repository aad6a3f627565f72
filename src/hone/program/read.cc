// From the capture's JSON.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "hone/base/base64.h"
#include "hone/base/gzip.h"
#include "hone/program/program.h"

namespace hone::program {
namespace {

using base::Json;

tl::unexpected<Error> no_capture(const std::string& what) {
  return fail(ErrorCode::kInput, "this is no captured program: " + what, "hone makes one of a model's file: hone explain model.py");
}

/// What is written into generated Python as it stands: names of operators, of their arguments, of types.
bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
}

constexpr size_t kMostValues = size_t{64} << 20;  ///< bytes of a constant
constexpr double kMostElements = 1e14;  ///< of a tensor

class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  Result<Program> read() {
    if (!json_.is_object() || json_.value("format", 0) != 1) return no_capture("its format is not 1");
    for (const char* key : {"nodes", "outputs", "state", "trees"})
      if (!json_.contains(key)) return no_capture(fmt::format("it has no {}", key));
    program_.name = identifier(json_.value("name", "program"));
    program_.train = json_.value("train", false);
    program_.torch = json_.value("torch", "");
    for (const Json& name : json_.value("flat", Json::array())) program_.flat.push_back(name.get<std::string>());
    program_.arguments_tree = json_["trees"].value("arguments", "");
    program_.results_tree = json_["trees"].value("results", "");
    const Json aliases = json_.value("aliases", Json::object());
    for (const auto& [name, first] : aliases.items()) program_.aliases[name] = first.get<std::string>();
    for (const auto& [name, entry] : json_["state"].items()) {
      HONE_TRY(ValueType type, value_type(entry, name));
      if (!is_plain(entry.value("torch", "float32"))) return no_capture(name + " has no type");
      program_.state[name] = {std::move(type), entry.value("torch", "float32"), entry.value("parameter", false)};
    }
    for (const Json& row : json_["nodes"]) HONE_TRY_VOID(node(row));
    for (const Json& row : json_.value("origins", Json::array())) HONE_TRY_VOID(origin(row));
    for (const Node& node : program_.nodes)
      if (node.origin >= static_cast<int>(program_.origins.size())) return no_capture(node.name + " is a piece of nothing");
    for (const Json& row : json_["outputs"]) HONE_TRY_VOID(output(row));
    return std::move(program_);
  }

 private:
  static std::string identifier(std::string name) {
    for (char& c : name)
      if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name.insert(0, "program_");
    return name;
  }

  static Result<ValueType> value_type(const Json& json, const std::string& name) {
    if (!json.is_object() || !json.contains("dtype") || !json.contains("shape")) return no_capture(fmt::format("{} has no type", name));
    ValueType type;
    double elements = 1;
    type.dtype = task::dtype_from(json["dtype"].get<std::string>());
    for (const Json& extent : json["shape"]) {
      if (!extent.is_number_integer())
        return fail(ErrorCode::kInput, fmt::format("{} has a shape that depends on the values of tensors ({})", name, extent.value("symbol", "?")),
                    "avoid nonzero, masks as indices and the like in forward(): torch.where keeps the shape");
      if (extent.get<int64_t>() < 0) return no_capture(fmt::format("{} has an extent below 0", name));
      type.shape.push_back(extent.get<int64_t>());
      // Sums and products of extents stay numbers, whatever is left out of them.
      elements *= std::max(1.0, static_cast<double>(type.shape.back()));
    }
    if (elements > kMostElements) return no_capture(fmt::format("{} has more elements than there can be", name));
    return type;
  }

  Result<Argument> argument(const Json& json) {
    if (json.is_null()) return Argument{};
    if (json.is_boolean()) return Argument{json.get<bool>()};
    if (json.is_number_integer()) return Argument{json.get<int64_t>()};
    if (json.is_number()) return Argument{json.get<double>()};
    if (json.is_string()) return Argument{json.get<std::string>()};
    if (json.is_array()) {
      Argument::List list;
      for (const Json& one : json) {
        HONE_TRY(Argument item, argument(one));
        list.push_back(std::move(item));
      }
      return Argument{std::move(list)};
    }
    if (json.contains("node")) {
      const auto it = index_.find(json["node"].get<std::string>());
      if (it == index_.end()) return no_capture(fmt::format("it refers to {}, which is not there", json["node"].dump()));
      return Argument{Ref{it->second}};
    }
    if (json.contains("number")) {
      const std::string text = json["number"].get<std::string>();
      const double inf = std::numeric_limits<double>::infinity();
      return Argument{text == "inf" ? inf : text == "-inf" ? -inf : std::numeric_limits<double>::quiet_NaN()};
    }
    if (json.contains("dtype")) {
      const std::string name = json["dtype"].get<std::string>();
      if (!is_plain(name)) return no_capture(name + " is no element type");
      if (const auto type = task::dtype_from(name)) return Argument{*type};
      return Argument{Foreign{"torch." + name}};
    }
    if (json.contains("symbol"))
      return fail(ErrorCode::kInput, fmt::format("the program computes with {}, which depends on the values of tensors", json["symbol"].dump()),
                  "avoid .item(), nonzero and the like in forward()");
    if (json.contains("complex")) {
      const auto parts = json["complex"].get<std::vector<double>>();
      return parts.size() == 2 ? Result<Argument>(Argument{Foreign{fmt::format("complex({}, {})", parts[0], parts[1])}}) : no_capture("a complex number has two parts");
    }
    std::string text = json.value("other", "?");
    if ((text.starts_with("torch.") && !is_plain(text)) || text.starts_with("complex(")) return no_capture(text);
    return Argument{Foreign{std::move(text)}};
  }

  Status node(const Json& row) {
    HONE_TRY(Node node, read_node(row));
    if (!index_.emplace(node.name, static_cast<int>(program_.nodes.size())).second) return no_capture(node.name + " is there twice");
    program_.nodes.push_back(std::move(node));
    return {};
  }

  Status origin(const Json& row) {
    Origin origin;
    HONE_TRY(origin.node, read_node(row));
    if (origin.node.is_input()) return no_capture(origin.node.name + " was no operator");
    for (const Json& result : row.value("results", Json::array())) {
      HONE_TRY(Argument value, argument(result));
      origin.results.push_back(std::move(value));
    }
    origin.composite = row.value("composite", false);
    program_.origins.push_back(std::move(origin));
    return {};
  }

  Result<Node> read_node(const Json& row) {
    Node node;
    HONE_TRY(node.name, base::string_at(row, "name"));
    HONE_TRY(node.op, base::string_at(row, "op"));
    if (!is_plain(node.op)) return fail(ErrorCode::kInput, fmt::format("the program calls {}, which is no operator", node.op), "use PyTorch's operators on tensors in forward()");
    if (!row.contains("type")) return no_capture(node.name + " has no type");
    node.several = row["type"].is_array();
    for (const Json& type : node.several ? row["type"] : Json::array({row["type"]})) {
      HONE_TRY(ValueType one, value_type(type, node.name));
      node.types.push_back(std::move(one));
    }
    if (node.types.empty()) node.types.emplace_back();
    if (node.is_input()) HONE_TRY_VOID(input(row, node));
    else HONE_TRY_VOID(call(row, node));
    node.origin = row.value("origin", -1);
    return node;
  }

  Status input(const Json& row, Node& node) {
    HONE_TRY(node.target, base::string_at(row, "target"));
    HONE_TRY(const std::string role, base::string_at(row, "role"));
    const std::pair<const char*, Role> roles[] = {{"user", Role::kUser}, {"fixed", Role::kFixed}, {"parameter", Role::kParameter},
                                                  {"buffer", Role::kBuffer}, {"constant", Role::kConstant}};
    const auto* known = std::find_if(std::begin(roles), std::end(roles), [&](const auto& pair) { return role == pair.first; });
    if (known == std::end(roles)) return no_capture(fmt::format("{} is a {}", node.name, role));
    node.role = known->second;
    if (row.contains("number")) {
      HONE_TRY(node.number, argument(row["number"]));
    }
    if (const auto packed = base::from_base64(row.value("values", "")); packed && node.role == Role::kConstant && node.type().dtype && !packed->empty()) {
      HONE_TRY(std::string bytes, base::gunzip(*packed, kMostValues, node.name));
      if (static_cast<int64_t>(bytes.size()) != node.type().bytes()) return no_capture(fmt::format("the values of {} are not as many as its shape says", node.name));
      node.values = {{}, node.type().shape, std::make_shared<const std::string>(std::move(bytes))};
    }
    if (row.contains("range") && row["range"].at(0).get<int64_t>() >= 0) node.largest = std::clamp<int64_t>(row["range"].at(1).get<int64_t>(), 0, int64_t{1} << 53);
    return {};
  }

  Status call(const Json& row, Node& node) {
    std::vector<std::string> positional;
    for (const Json& name : row.value("positional", Json::array())) positional.push_back(name.get<std::string>());
    const Json arguments = row.value("arguments", Json::object());
    const auto add = [&](const std::string& name) -> Status {
      if (!is_plain(name)) return no_capture(fmt::format("{} has an argument \"{}\"", node.name, name));
      HONE_TRY(Argument value, argument(arguments[name]));
      node.arguments.emplace_back(name, std::move(value));
      return {};
    };
    for (const std::string& name : positional)
      if (arguments.contains(name)) HONE_TRY_VOID(add(name));
    node.positional = static_cast<int>(node.arguments.size());
    for (const auto& [name, value] : arguments.items())
      if (std::find(positional.begin(), positional.end(), name) == positional.end()) HONE_TRY_VOID(add(name));
    if (node.op == "getitem") {
      const Argument *source = node.find("source"), *index = node.find("index");
      if (source == nullptr || source->ref() == nullptr || index == nullptr || index->integer().value_or(-1) < 0) return no_capture(node.name + " takes no part of anything");
    }
    return {};
  }

  Status output(const Json& row) {
    Output output;
    HONE_TRY(const std::string kind, base::string_at(row, "kind"));
    output.mutation = kind == "buffer_mutation";
    if (kind != "user_output" && !output.mutation)
      return fail(ErrorCode::kInput, fmt::format("forward() changes one of its arguments in place ({})", kind), "make a new tensor of it instead");
    if (row.contains("target") && row["target"].is_string()) output.target = row["target"].get<std::string>();
    HONE_TRY(output.value, argument(row.at("value")));
    program_.outputs.push_back(std::move(output));
    return {};
  }

  const Json& json_;
  Program program_;
  std::map<std::string, int> index_;
};

}  // namespace

Result<Program> read_program(std::string_view json) {
  HONE_TRY(const Json parsed, base::parse_json(json, "captured program"));
  try {
    return Reader(parsed).read();
  } catch (const Json::exception& error) {  // a member of another kind than the one asked for
    return no_capture(error.what());
  }
}

}  // namespace hone::program
