#include "report/settings_csv.h"

#include "data/number_text.h"
#include "session/settings.h"

namespace fovea {
namespace {

std::string spread_text(const Spread& spread) {
  return format_exactly(spread.median) + ',' + format_exactly(spread.p10) + ',' +
         format_exactly(spread.p90);
}

}  // namespace

std::string to_csv(const std::vector<SettingSpread>& settings, const Quantity& x,
                   const Quantity& y) {
  std::string text = "variant,parameters,seed,n,heads";
  for (const Quantity* quantity : {&x, &y})
    for (const char* of : {"", "_p10", "_p90"}) text += ',' + quantity->measure().id + of;
  text += ",on_front\n";
  for (const SettingSpread& setting : settings) {
    if (setting.heads == 0) continue;
    text += setting.variant->id + ",\"" + assignments_text(*setting.variant, setting.values) +
            "\"," + std::to_string(setting.seed) + ',' + std::to_string(setting.n) + ',' +
            std::to_string(setting.heads) + ',' + spread_text(setting.x) + ',' +
            spread_text(setting.y) + ',' + (setting.on_front ? "true" : "false") + '\n';
  }
  return text;
}

}  // namespace fovea
