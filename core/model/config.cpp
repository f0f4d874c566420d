#include "model/config.h"

#include "data/error.h"

namespace fovea {

Config::Config(std::string where, const Json& object) : where_(std::move(where)), object_(object) {
  if (!object.is_object())
    throw InputError(where_, "is " + kind_of(object) + "; expected an object");
}

const Json* Config::find(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

Index Config::count(const char* name, Index otherwise, Index least) const {
  const Json* value = find(name);
  return value ? count(*value, name, least) : otherwise;
}

Index Config::count(const Json& value, const char* name, Index least) const {
  const bool whole = value.is_number_integer();
  if (!whole || value < least || value > largest_size)
    refuse(name,
           "a whole number from " + std::to_string(least) + " to " + std::to_string(largest_size));
  return value.get<Index>();
}

std::pair<Index, Index> Config::sides(const char* name, Index otherwise) const {
  const Json* value = find(name);
  if (!value) return {otherwise, otherwise};
  if (!value->is_array()) {
    const Index side = count(*value, name, 1);
    return {side, side};
  }
  if (value->size() != 2) refuse(name, "a whole number, or a list of two");
  return {count((*value)[0], name, 1), count((*value)[1], name, 1)};
}

double Config::number(const char* name, double otherwise, double least, double most) const {
  const Json* value = find(name);
  if (!value) return otherwise;
  const double number = value->is_number() ? value->get<double>() : -1;
  if (!(number >= least && number <= most)) refuse(name, "a positive number");
  return number;
}

bool Config::flag(const char* name, bool otherwise) const {
  const Json* value = find(name);
  if (value && !value->is_boolean()) refuse(name, "true or false");
  return value ? value->get<bool>() : otherwise;
}

std::string Config::text(const char* name, const char* otherwise) const {
  const Json* value = find(name);
  if (value && !value->is_string()) refuse(name, "a string");
  return value ? value->get<std::string>() : otherwise;
}

Config Config::section(const char* name) const {
  const Json* value = find(name);
  if (!value || !value->is_object()) refuse(name, "an object");
  return Config(where_ + ", " + name, *value);
}

void Config::refuse(const char* name, const std::string& expected) const {
  const Json* value = find(name);
  throw InputError(where_, std::string(name) + " is " + (value ? excerpt(*value) : "missing") +
                               "; expected " + expected);
}

}  // namespace fovea
