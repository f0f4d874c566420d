#include "cli/options/checks.h"

#include "data/number_text.h"

namespace fovea {

std::string refuse_empty(const std::string& text) {
  return text.empty() ? "'' found; expected a name" : std::string();
}

CLI::Validator number_from(double least, double most) {
  CLI::Validator check = CLI::Range(least, most);
  return check.operation([least, most](const std::string& text) {
    double value = 0;
    const bool good = CLI::detail::lexical_cast(text, value) && value >= least && value <= most;
    return good ? std::string()
                : "'" + text + "' found; expected a number from " + format_plain(least) + " to " +
                      format_plain(most);
  });
}

}  // namespace fovea
