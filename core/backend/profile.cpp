#include "backend/profile.h"

#include <algorithm>
#include <numeric>

namespace fovea {

void Profile::add(const std::string& name, double milliseconds) {
  const auto same = [&](const StageTime& s) { return s.name == name; };
  if (auto it = std::ranges::find_if(stages_, same); it != stages_.end())
    it->milliseconds += milliseconds;
  else
    stages_.push_back({name, milliseconds});
}

void Profile::add(const Profile& other) {
  for (const StageTime& stage : other.stages_) add(stage.name, stage.milliseconds);
}

double Profile::total_ms() const {
  return std::accumulate(stages_.begin(), stages_.end(), 0.0,
                         [](double sum, const StageTime& s) { return sum + s.milliseconds; });
}

}  // namespace fovea
