// A background whose threads are busy: what is written and looked for waits until it is released.
#pragma once

#include <future>
#include <memory>

#include "study/background.h"

namespace fovea::test {

struct BusyBackground {
  std::shared_ptr<Background> background = std::make_shared<Background>();
  std::promise<void> released;  // where a test fails it ends first, and the waiting with it

  BusyBackground() {
    const auto wait = [until = released.get_future().share()] { until.wait(); };
    background->files.run(wait);
    background->devices.run(wait);
  }
};

}  // namespace fovea::test
