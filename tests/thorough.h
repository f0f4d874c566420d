#pragma once

#include <cstdlib>

namespace fovea::test {

/// Whether tests try all that they hold for, which takes twice as long: the environment variable
/// FOVEA_THOROUGH is set, as by `.ci/run --all`.
inline bool thorough() {
  static const bool set = std::getenv("FOVEA_THOROUGH") != nullptr;
  return set;
}

}  // namespace fovea::test
