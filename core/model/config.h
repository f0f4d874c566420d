// A Config is an object of a JSON file that describes a model: values by name, each checked when it
// is taken. A value that is null counts as absent.
#pragma once

#include <string>
#include <utility>

#include "data/matrix.h"
#include "io/json.h"

namespace fovea {

class Config {
 public:
  /// No size is larger: products of three of them stay below 2^63.
  static constexpr Index largest_size = 1'000'000;

  /// `where`: what messages call it. The object outlives this. Throws InputError, as all of these
  /// do, with what was found and what was expected.
  Config(std::string where, const Json& object);

  /// Null where it is absent.
  const Json* find(const char* name) const;
  Index count(const char* name, Index otherwise, Index least = 1) const;
  /// One number for both, or [height, width].
  std::pair<Index, Index> sides(const char* name, Index otherwise) const;
  double number(const char* name, double otherwise, double least, double most) const;
  bool flag(const char* name, bool otherwise) const;
  std::string text(const char* name, const char* otherwise) const;
  /// An object within this one.
  Config section(const char* name) const;
  [[noreturn]] void refuse(const char* name, const std::string& expected) const;

 private:
  Index count(const Json& value, const char* name, Index least) const;

  std::string where_;
  const Json& object_;
};

}  // namespace fovea
