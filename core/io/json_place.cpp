#include "io/json_place.h"

namespace fovea {
namespace {

std::string entry_of(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// Adds the way from `top` to a value within it, as ".layers[2].seed". Returns whether it is there.
bool add_way(const Json& sought, const Json& top, std::string& way) {
  if (&top == &sought) return true;
  if (!top.is_structured()) return false;
  const std::size_t before = way.size();
  std::size_t place = 0;
  for (auto inner = top.begin(); inner != top.end(); ++inner, ++place) {
    way += top.is_object() ? "." + inner.key() : "[" + std::to_string(place) + "]";
    if (add_way(sought, *inner, way)) return true;
    way.resize(before);
  }
  return false;
}

}  // namespace

JsonPlace JsonPlace::within(const Json& value) const {
  JsonPlace place = *this;
  place.value_ = &value;
  return place;
}

std::string JsonPlace::path() const {
  std::string path(path_);
  add_way(*value_, *top_, path);
  if (path_.empty() && !path.empty() && path.front() == '.') path.erase(0, 1);
  return path;
}

std::string JsonPlace::name() const {
  const std::string path = this->path();
  return path.empty() ? "the document" : fovea::quoted(path);
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
  return within(*found);
}

JsonPlace JsonPlace::at(const std::string& key, const std::string& expected) const {
  if (auto found = find(key)) return *std::move(found);
  throw InputError(*file_,
                   fovea::quoted(entry_of(path(), key)) + " is missing; expected " + expected);
}

std::vector<JsonPlace> JsonPlace::items(const std::string& expected) const {
  if (!value_->is_array()) throw refusal(expected);
  std::vector<JsonPlace> out;
  out.reserve(value_->size());
  for (const Json& item : *value_) out.push_back(within(item));
  return out;
}

Index JsonPlace::whole(Index least, Index most, const std::string& expected) const {
  if (!value_->is_number_integer() || !holds_whole<Index>(*value_)) throw refusal(expected);
  const auto number = value_->get<Index>();
  if (number < least || number > most) throw refusal(expected);
  return number;
}

}  // namespace fovea
