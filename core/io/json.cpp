#include "io/json.h"

#include <set>
#include <vector>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"

namespace fovea {
namespace {

constexpr int deepest = 32;

// Bytes that the library needs at most for each byte of text, measured, while a list grows and
// while it is destroyed: 38 for a list of {}, 32 of "", 28 of [], 19 of single digits. Of words of
// 16 letters it is 6.
constexpr double tree_bytes = 40;

}  // namespace

Json parse_json(const std::string& where, std::string_view text, const std::stop_token& stop) {
  require_memory(tree_bytes * static_cast<double>(text.size()), where + ", as JSON");
  // Of two equal names the library keeps the last; which one was meant cannot be known.
  std::vector<std::set<std::string>> names;
  auto check = [&](int depth, Json::parse_event_t event, Json& value) {
    check_stop(stop);
    if (depth > deepest)
      throw InputError(where, "JSON nested more than " + std::to_string(deepest) + " deep");
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& name = value.get_ref<const std::string&>();
      if (!names.back().insert(name).second)
        throw InputError(where, "the name " + fovea::quoted(name) + " occurs twice; expected once");
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::exception& error) {
    std::string message = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
    throw InputError(where, "not JSON: " + message);
  }
}

std::string kind_of(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    default:
      return "a number";
  }
}

std::string excerpt(const Json& value) {
  constexpr std::size_t longest = 80;
  if (value.is_structured() && value.size() > longest) return kind_of(value);
  std::string text = value.dump(-1, ' ', true);  // ASCII, so that it can be cut anywhere
  if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  return text;
}

}  // namespace fovea
