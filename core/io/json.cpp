#include "io/json.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "io/json_place.h"

namespace fovea {
namespace {

constexpr std::size_t deepest = 32;

/// Builds the tree. The library's own parser with a callback looks at all children of a container
/// whenever one of them ends: 2 MB of `{}` in a list took minutes.
class TreeBuilder : public nlohmann::json_sax<Json> {
 public:
  /// `entry`, unless it is null, gets the entries of a document that is an object.
  TreeBuilder(const std::string& where, const std::stop_token& stop, JsonEntry entry = {})
      : where_(where), stop_(stop), entry_(std::move(entry)) {}

  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(Json::binary_t& value) override { return add(std::move(value)); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    // One of two equal names would be lost, and nobody knows which one was meant.
    if (open_.back()->contains(name))
      throw InputError(where_, "the name " + fovea::quoted(name) + " occurs twice; expected once");
    name_ = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& error) override {
    std::string message = error.what();  // "[json.exception.parse_error.101] parse error at ..."
    if (const auto end = message.find("] "); end != std::string::npos) message.erase(0, end + 2);
    throw InputError(where_, "not JSON: " + message);
  }

 private:
  Json& put(Json value) {
    check_stop(stop_);
    if (open_.size() > deepest)
      throw InputError(where_, "JSON nested more than " + std::to_string(deepest) + " deep");
    if (open_.empty()) return root_ = std::move(value);
    Json& parent = *open_.back();
    if (parent.is_array()) return parent.emplace_back(std::move(value));
    return *parent.emplace(std::move(name_), std::move(value)).first;
  }
  bool add(Json value) {
    put(std::move(value));
    return pass_on();
  }
  bool open(Json empty) {
    open_.push_back(&put(std::move(empty)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return pass_on();
  }
  /// Forgets what is complete, once `entry_` has seen it.
  bool pass_on() {
    if (!entry_ || open_.size() != 1 || !root_.is_object()) return true;
    for (const auto& [name, value] : root_.items()) entry_(name, value);
    root_.clear();
    return true;
  }

  const std::string& where_;
  const std::stop_token& stop_;
  const JsonEntry entry_;
  Json root_;
  // A container has no other child while one is open, so that none of these moves.
  std::vector<Json*> open_;
  std::string name_;  // of the next value in an object
};

}  // namespace

// Uses the sizes of 64-bit glibc and libstdc++, and of what malloc adds to each block.
double json_bytes(std::string_view text) {
  // A value in a list that grows, which is in memory twice for a moment; or in a list that is
  // destroyed, and in the stack that grows meanwhile.
  constexpr double value = 80;
  constexpr double container = 64;  // and the first value of a list
  constexpr double string = 48, long_string = 32, longest_inside = 15;
  constexpr double name = 112;  // a node of the tree of an object
  // The library's parser, and two copies of the longest token: each takes three times its length
  // while it grows.
  constexpr double parser = 256, token = 6;
  double bytes = value + parser, longest = 0;
  for (std::size_t i = 0; i < text.size(); ++i) switch (text[i]) {
      case ',':
        bytes += value;
        break;
      case '[':
      case '{':
        bytes += container;
        break;
      case ':':
        bytes += name;
        break;
      case '"': {
        const std::size_t begin = ++i;
        while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
        const double length = i - begin;
        bytes += string + (length > longest_inside ? long_string + length : 0);
        longest = std::max(longest, length);
        break;
      }
      default:
        break;
    }
  return bytes + token * longest;
}

Json parse_json(const std::string& where, std::string_view text, const std::stop_token& stop) {
  require_memory(json_bytes(text), where + ", as JSON");
  TreeBuilder builder(where, stop);
  Json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

void parse_entries(const std::string& where, std::string_view text, const std::stop_token& stop,
                   JsonEntry entry) {
  require_memory(json_bytes(text), where + ", as JSON");
  TreeBuilder builder(where, stop, std::move(entry));
  Json::sax_parse(text.begin(), text.end(), &builder);
  const Json document = builder.take();
  if (!document.is_object()) throw JsonPlace(where, document).refusal("an object");
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
  // The text is ASCII, so that it can be cut anywhere.
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > longest) text.replace(longest, std::string::npos, "...");
  return text;
}

}  // namespace fovea
