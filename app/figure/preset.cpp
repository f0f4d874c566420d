#include "figure/preset.h"

#include <algorithm>

#include "data/number_text.h"
#include "data/text.h"

namespace fovea {

// Widths of lines and sizes of letters from tueplots 0.2: a point smaller than the text, legends
// and numbers two points smaller still.
const std::vector<Preset>& presets() {
  static const std::vector<Preset> all{
      {"neurips", "NeurIPS", 5.5, 9, 2},
      {"iclr", "ICLR", 5.5, 9, 2},
      {"icml", "ICML, one column", 3.25, 8, 2},
      {"icml-full", "ICML, both columns", 6.75, 8, 2},
      {"aistats", "AISTATS, one column", 3.25, 9, 2},
      {"aistats-full", "AISTATS, both columns", 6.75, 9, 2},
      {"uai", "UAI, one column", 3.25, 9, 2},
      {"uai-full", "UAI, both columns", 6.75, 9, 2},
      {"cvpr", "CVPR, one column", 3.25, 8, 2},
      {"cvpr-full", "CVPR, both columns", 6.875, 8, 2},
      {"aaai", "AAAI, one column", 3.3, 9, 2},
      {"aaai-full", "AAAI, both columns", 6.975, 9, 2},
      {"eccv", "ECCV", 4.8, 8, 2},
      {"jmlr", "JMLR", 6.0, 9, 2},
      {"tmlr", "TMLR", 6.5, 9, 2},
      {"slides", "a slide, 16:9", 40.0 / 3, 20, 4, 7.5},
  };
  return all;
}

const Preset* preset_named(const std::string& id) {
  const auto it = std::ranges::find(presets(), id, &Preset::id);
  return it == presets().end() ? nullptr : &*it;
}

std::string preset_names() {
  return join(presets(), &Preset::id);
}

void put_into(FigureStyle& style, const Preset& preset) {
  style.width = preset.width * points_per_inch;
  style.height.reset();
  if (preset.height) style.height = *preset.height * points_per_inch;
  style.font_size = preset.font_size;
  style.smaller = preset.smaller;
  style.captions = Captions::line;
  style.footer = style.empty_panels = false;
  style.row_names = true;
}

std::string options_for(const FigureStyle& style) {
  const auto same_page = [&](const Preset& preset) {
    FigureStyle its;
    put_into(its, preset);
    return its.width == style.width && its.height == style.height && its.smaller == style.smaller;
  };
  std::string options;
  if (const auto preset = std::ranges::find_if(presets(), same_page); preset != presets().end())
    options = " --preset " + preset->id;
  else
    options = " --width " + format_exactly(style.width) + "pt";
  const auto add_switch = [&](bool on, const char* name) {
    options += std::string(on ? " --" : " --no-") + name;
  };
  options += " --font-size " + format_exactly(style.font_size) + " --dpi " +
             std::to_string(style.dpi) + " --captions " + caption_ids[int(style.captions)];
  if (style.font != FigureStyle{}.font) options += " --font '" + style.font + "'";
  add_switch(style.footer, "footer");
  add_switch(style.empty_panels, "empty-panels");
  add_switch(style.row_names, "row-names");
  if (style.letters) options += " --letters";
  return options;
}

}  // namespace fovea
