// A Preset is the width and the letters of a figure as a venue prints it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "figure/figure.h"

namespace fovea {

struct Preset {
  std::string id;                     // "icml-full"
  std::string where;                  // "ICML, both columns"
  double width;                       // inches
  double font_size;                   // points: titles of panels
  double smaller;                     // points by which all other letters are smaller
  std::optional<double> height = {};  // inches; default: what the panels need
};

/// In the order of lists.
const std::vector<Preset>& presets();
/// Null if there is none of this name.
const Preset* preset_named(const std::string& id);
/// "neurips, iclr, ..."
std::string preset_names();
/// Sets the page, the letters, and what an author takes away or adds by hand: captions of one
/// statement, no footer, no empty panels, names of the rows. The rest of the style stays.
void put_into(FigureStyle& style, const Preset& preset);
/// The options of `fovea render` for a style, each after a space: " --width 252pt ...".
std::string options_for(const FigureStyle& style);

}  // namespace fovea
