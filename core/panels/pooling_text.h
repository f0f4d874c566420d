// How a pixel stands for several entries, in words: the same in captions, at colour bars and on the
// card at the pointer.
#pragma once

#include <string>

#include "panels/panel.h"

namespace fovea {

/// "max of 4 × 4": `how` of 4 entries down and 4 across; empty if a number is one entry.
std::string pooling_text(const std::string& how, double down, double across);
std::string pooling_text(Pool::Kind kind, double down, double across);
/// How one of a raster's numbers is pooled.
std::string pooling_text(const Raster& raster);
/// What dots over means are.
extern const std::string peaks_text;
/// The panel's caption with how its numbers are pooled, for paper. On screen the colour bar says
/// it.
std::string caption_with_pooling(const Panel& panel);

}  // namespace fovea
