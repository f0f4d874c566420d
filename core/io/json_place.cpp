#include "io/json_place.h"

namespace fovea {

std::string JsonPlace::name() const {
  return path_.empty() ? "the document" : fovea::quoted(path_);
}

InputError JsonPlace::refusal(const std::string& expected) const {
  return refusal(excerpt(*value_), expected);
}

InputError JsonPlace::refusal(const std::string& found, const std::string& expected) const {
  return InputError(*file_, name() + " is " + found + "; expected " + expected);
}

std::optional<JsonPlace> JsonPlace::find(const std::string& key) const {
  if (!value_->is_object()) throw refusal("an object");
  const auto found = value_->find(key);
  if (found == value_->end() || found->is_null()) return {};
  return JsonPlace(*file_, *found, path_.empty() ? key : path_ + "." + key);
}

JsonPlace JsonPlace::at(const std::string& key, const std::string& expected) const {
  if (auto found = find(key)) return *std::move(found);
  const std::string path = path_.empty() ? key : path_ + "." + key;
  throw InputError(*file_, fovea::quoted(path) + " is missing; expected " + expected);
}

std::vector<JsonPlace> JsonPlace::items(const std::string& expected) const {
  if (!value_->is_array()) throw refusal(expected);
  std::vector<JsonPlace> out;
  for (const Json& item : *value_)
    out.emplace_back(*file_, item, path_ + "[" + std::to_string(out.size()) + "]");
  return out;
}

Index JsonPlace::whole(Index least, Index most, const std::string& expected) const {
  if (!value_->is_number_integer() || !holds_whole<Index>(*value_)) throw refusal(expected);
  const auto number = value_->get<Index>();
  if (number < least || number > most) throw refusal(expected);
  return number;
}

}  // namespace fovea
