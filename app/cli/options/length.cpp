#include "cli/options/length.h"

#include <charconv>
#include <cmath>
#include <map>

#include "data/error.h"

namespace fovea {

double points_of(const std::string& option, const std::string& text, int dpi) {
  const std::map<std::string, double> units{
      {"in", 72.0}, {"cm", 72 / 2.54}, {"mm", 7.2 / 2.54}, {"pt", 1.0}, {"px", 72.0 / dpi}};
  double length = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), length);
  std::string unit(end, text.data() + text.size());
  unit.erase(0, unit.find_first_not_of(' '));
  const auto known = units.find(unit);
  constexpr double smallest = 72 * 0.25;  // nothing smaller can be read
  constexpr double largest = 72 * 200;    // the largest page of a PDF, 200 in
  if (error != std::errc() || known == units.end() || !(length * known->second >= smallest) ||
      !(length * known->second <= largest))
    throw UsageError(
        option + " " + text +
        "; expected a length from 0.25in to 200in in the unit in, cm, mm, pt or px, such as 3.5in");
  return length * known->second;
}

}  // namespace fovea
