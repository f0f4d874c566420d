#include "data/conditions.h"

#include "data/number_text.h"

namespace fovea {

HeadConditions HeadConditions::or_else(const HeadConditions& others) const {
  HeadConditions all = *this;
  for_conditions([&](const auto& condition) {
    if (auto& own = all.*condition.member; !own) own = others.*condition.member;
  });
  return all;
}

std::string fault_of(const HeadConditions& conditions) {
  std::string fault;
  for_conditions([&](const auto& condition) {
    const auto& value = conditions.*condition.member;
    if (fault.empty() && value && !condition.allows(*value))
      fault = std::string(condition.name) + " is " + format_exactly(static_cast<double>(*value)) +
              "; expected " + condition.expected;
  });
  return fault;
}

}  // namespace fovea
