// What tests of the recovery look for in its folder.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "session/session.h"
#include "views/views.h"

namespace fovea::test {

/// The recovery file of the only window that keeps one there; empty if there is none yet.
inline std::string kept_in(const std::string& folder) {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    if (entry.path().string().ends_with(".fovea.json")) return entry.path().string();
  return {};
}

inline std::size_t files_in(const std::string& folder) {
  std::error_code none;
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator(folder, none), {}));
}

/// What a person has made of a small head: fewer columns and views, a zoom, a pinned query.
inline Session changed(Session session) {
  session.columns.resize(2);
  session.views = {find_view("heatmap"), find_view("mask")};
  session.viewport = {10, 74, 20, 84};
  session.pinned_query = 33;
  return session;
}

}  // namespace fovea::test
