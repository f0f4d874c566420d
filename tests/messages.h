// What an error says: it names the file, what was found and what was expected.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "data/error.h"

namespace fovea::test {

/// "" when nothing is thrown; another type of error goes through and fails the test.
template <class Expected = InputError, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline void check_says(const std::string& message, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    CAPTURE(message);
    CAPTURE(part);
    CHECK(contains(message, part));
  }
}

}  // namespace fovea::test

#define CHECK_SAYS(call, ...) \
  fovea::test::check_says(fovea::test::message_of([&] { (void)(call); }), {__VA_ARGS__})
