// Looks at paths and folders. The system may not tell what is there: permissions may forbid it, a
// name may be too long, links may form a circle.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace fovea {

/// The status of a path, of type not_found if nothing is there. Throws InputError if the system
/// cannot tell.
std::filesystem::file_status status_of(const std::string& path);

/// Whether anything is there. Throws as status_of.
bool is_there(const std::string& path);

/// The paths of what a folder holds, sorted. Throws InputError when it cannot be listed, Cancelled.
std::vector<std::string> paths_in(const std::string& folder, const std::stop_token& stop = {});

}  // namespace fovea
