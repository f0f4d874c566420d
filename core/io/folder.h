// Folders, and what is at a path, of which the system may say nothing: their permissions may forbid
// it, a name may be too long, links may lead in a circle.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

namespace fovea {

/// What is at a path; of the type not_found where nothing is. Throws InputError when the system
/// cannot tell.
std::filesystem::file_status status_of(const std::string& path);

/// Whether anything is there. Throws as status_of.
bool is_there(const std::string& path);

/// The paths of what a folder holds, sorted. Throws InputError when it cannot be listed, Cancelled.
std::vector<std::string> paths_in(const std::string& folder, const std::stop_token& stop = {});

}  // namespace fovea
