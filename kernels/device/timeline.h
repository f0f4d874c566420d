// A Timeline is the stages of one run on the device: a pair of events each, recorded while work is
// asked for and read when all of it is done, so that nothing waits for a clock.
#pragma once

#include <string>
#include <vector>

#include "backend/profile.h"
#include "device/device.h"

namespace fovea::cuda {

class Timeline {
 public:
  explicit Timeline(const Device& device) : device_(device) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// What is asked of the device from now to its end is this stage.
  class Stage {
   public:
    Stage(Timeline& timeline, std::string name);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

   private:
    Timeline& timeline_;
    std::size_t index_;
  };
  [[nodiscard]] Stage stage(std::string name) { return Stage(*this, std::move(name)); }

  /// Waits for the device, then adds the stages to the profile.
  void finish(Profile& profile);

 private:
  struct Span {
    std::string name;
    cudaEvent_t begin = nullptr, end = nullptr;
  };

  const Device& device_;
  std::vector<Span> spans_;
};

}  // namespace fovea::cuda
