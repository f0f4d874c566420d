#include "cli/options/preset_list.h"

#include "figure/preset.h"
#include "report/text_table.h"

namespace fovea {

void print_presets(std::ostream& out) {
  TextTable table{{"<name", "<for", "width", "height", "titles", "other letters"}, {}};
  for (const Preset& preset : presets())
    table.rows.push_back({preset.id, preset.where, format_number(preset.width, 4) + " in",
                          preset.height ? format_number(*preset.height, 4) + " in" : "-",
                          format_number(preset.font_size) + " pt",
                          format_number(preset.font_size - preset.smaller) + " pt"});
  print(out, table);
}

}  // namespace fovea
