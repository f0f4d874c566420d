// A Timeline measures the stages of one run on the device, each by a pair of events: they are
// recorded as the work is launched and read when all of it is done, so that measuring does not
// wait. Where it ends before that, by an error or because the run is cancelled, it waits: what was
// declared before it outlives the work.
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

  /// The work that is launched during its lifetime is this stage.
  class Stage {
   public:
    Stage(Timeline& timeline, std::string name);
    ~Stage();
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;

    /// What was launched since the last part is a part: the device has it to do while the next one
    /// is launched (see finish).
    void end_part();

    /// The name of the kernel that does the work of this stage (see finish).
    void by(const std::string& kernel);

   private:
    void note_late();

    Timeline& timeline_;
    std::size_t index_;
  };
  [[nodiscard]] Stage stage(std::string name) { return Stage(*this, std::move(name)); }

  /// Waits for the device, then adds the stages to the profile. With a head start (head_start.h)
  /// "late: NAME" is the time of stages NAME that may hold some of the host: the head start, or a
  /// part, had ended before all of the next part was launched; and there is a stage of no time,
  /// "kernel: NAME", for each kernel that a stage has named.
  void finish(Profile& profile);
  static constexpr const char* late_prefix = "late: ";
  static constexpr const char* kernel_prefix = "kernel: ";

 private:
  struct Span {
    std::string name, kernel = {};
    cudaEvent_t begin = nullptr, end = nullptr;
    cudaEvent_t part = nullptr;  // the end of the last part; null if there is none yet
    bool late = false;
  };

  const Device& device_;
  std::vector<Span> spans_;
  bool finished_ = true;  // nothing has been launched since the last wait
};

}  // namespace fovea::cuda
