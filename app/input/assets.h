// Where the bundled examples lie.
#pragma once

#include <string>
#include <utility>

#include "data/source.h"

namespace fovea {

/// Beside the executable, under an installation's share/fovea, or in the source tree; empty:
/// nowhere.
std::string assets_directory();

/// Layer and head to look at first: of the bundled encoder those that its provenance recommends,
/// else the first.
std::pair<Index, Index> first_head(const Source& source);

/// What the window opens when nothing is named: a real head, or a synthetic one without assets.
std::string standard_example();

}  // namespace fovea
