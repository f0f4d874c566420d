// Settings of single views, by the ids of their fields, as tests set and read them.
#pragma once

#include <string>

#include "views/views.h"

namespace fovea::test {

/// "32", "relative".
inline std::string view_value(const ViewSettings& settings, const char* id) {
  return to_text(value_of(settings, *find_view_field(id).field));
}

}  // namespace fovea::test
