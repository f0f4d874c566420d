#include "backend/profile.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace fovea {

void Profile::add(const std::string& name, double milliseconds) {
  std::string own = name;
  begin_stage();
  end_stage(std::move(own), milliseconds);
}

void Profile::begin_stage() {
  stages_.reserve(stages_.size() + begun_ + 1);
  ++begun_;
}

void Profile::end_stage(std::string name, double milliseconds) noexcept {
  --begun_;
  const auto same = [&](const StageTime& s) { return s.name == name; };
  if (auto it = std::ranges::find_if(stages_, same); it != stages_.end())
    it->milliseconds += milliseconds;
  else
    stages_.push_back({std::move(name), milliseconds});
}

void Profile::add(const Profile& other) {
  for (const StageTime& stage : other.stages_) add(stage.name, stage.milliseconds);
}

double Profile::total_ms() const {
  return std::accumulate(stages_.begin(), stages_.end(), 0.0,
                         [](double sum, const StageTime& s) { return sum + s.milliseconds; });
}

}  // namespace fovea
