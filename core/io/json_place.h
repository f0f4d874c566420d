// A JsonPlace is a value of a JSON document that cannot be trusted, and where it is. What is not as
// expected is refused with file, path and value: "x.json: 'layers[2].seed' is -1; expected ...".
// A place does not hold its path, which is looked for only when a value is refused, so that paths
// of a million values take no memory.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/matrix.h"
#include "io/json.h"

namespace fovea {

template <class T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;

class JsonPlace {
 public:
  /// `file`, `path` and `value` outlive this, and `value` does not change. `path` leads to `value`
  /// in the document, and is empty if `value` is the document.
  JsonPlace(const std::string& file, const Json& value, std::string_view path = {})
      : file_(&file), path_(path), top_(&value), value_(&value) {}

  const Json& value() const { return *value_; }
  /// "'layers[2].seed'"; "the document" without a path.
  std::string name() const;
  InputError refusal(const std::string& expected) const;
  /// Says that the value is `found`.
  InputError refusal(const std::string& found, const std::string& expected) const;

  /// An entry of an object; nothing if it is absent or null. Throws InputError, as all of these do.
  std::optional<JsonPlace> find(const std::string& key) const;
  /// An entry that must be there.
  JsonPlace at(const std::string& key, const std::string& expected = "it") const;
  /// The entries of a list.
  std::vector<JsonPlace> items(const std::string& expected = "a list") const;

  /// A number, a whole number that fits into T, a text, true or false, or a list of them.
  template <class T>
  T as() const;
  /// A whole number within limits.
  Index whole(Index least, Index most, const std::string& expected) const;
  Index whole(Index least, const std::string& expected) const {
    return whole(least, INT32_MAX, expected);  // sums and products of two cannot overflow
  }

 private:
  template <class T>
  static std::string type_text();
  JsonPlace within(const Json& value) const;
  std::string path() const;

  const std::string* file_;
  std::string_view path_;  // of top_
  const Json* top_;
  const Json* value_;  // top_ or a value within it
};

/// The library would cut off digits, and turn a number that is too large into any other.
template <WholeNumber T>
bool holds_whole(const Json& value) {
  if (!value.is_number()) return false;
  if (value.is_number_unsigned()) return std::in_range<T>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return std::in_range<T>(value.get<std::int64_t>());
  constexpr double most = 1LL << 53;
  const double number = value.get<double>();
  return std::abs(number) <= most && number == std::trunc(number) &&
         std::in_range<T>(static_cast<std::int64_t>(number));
}

template <class T>
std::string JsonPlace::type_text() {
  if constexpr (std::is_same_v<T, bool>) return "true or false";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (std::is_same_v<T, std::vector<std::string>>) return "a list of strings";
  if constexpr (std::is_same_v<T, std::vector<double>>) return "a list of numbers";
  if constexpr (std::is_same_v<T, std::vector<Json>>) return "a list";
  if constexpr (WholeNumber<T>)
    return std::is_unsigned_v<T> ? "a whole number of at least 0" : "a whole number";
  return "a number";
}

template <class T>
T JsonPlace::as() const {
  if constexpr (WholeNumber<T>)
    if (!holds_whole<T>(*value_)) throw refusal(type_text<T>());
  try {
    return value_->get<T>();
  } catch (const Json::exception&) {
    throw refusal(type_text<T>());
  }
}

}  // namespace fovea
