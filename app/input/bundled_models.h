// The two models that come with the program: "bundled:text" and "bundled:image".
#pragma once

#include <string>
#include <string_view>

namespace fovea {

inline constexpr std::string_view bundled_text_model = "bundled:text";
inline constexpr std::string_view bundled_image_model = "bundled:image";

inline bool is_bundled(std::string_view model) {
  return model.starts_with("bundled:");
}

/// "all-MiniLM-L6-v2", whether it is installed or not. Returns the name of any other model as it
/// is.
std::string name_of_bundled(const std::string& model);

/// Throws UsageError if there is no bundled model of that name, UnavailableError if it was not
/// installed.
std::string folder_of_bundled(const std::string& model);

}  // namespace fovea
