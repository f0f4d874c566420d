// The bytes of a value, little endian like this machine's.
#pragma once

#include <cstring>
#include <string>

#include "messages.h"
#include "temporary_directory.h"

namespace fovea::test {

template <class T>
std::string bytes_of(const T& value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

}  // namespace fovea::test
