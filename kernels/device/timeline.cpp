#include "device/timeline.h"

#include "device/check.h"

namespace fovea::cuda {

Timeline::~Timeline() {
  for (const Span& span : spans_) {
    if (span.begin) cudaEventDestroy(span.begin);
    if (span.end) cudaEventDestroy(span.end);
  }
}

Timeline::Stage::Stage(Timeline& timeline, std::string name)
    : timeline_(timeline), index_(timeline.spans_.size()) {
  Span& span = timeline.spans_.emplace_back(Span{std::move(name)});
  check(cudaEventCreate(&span.begin), "making an event");
  check(cudaEventCreate(&span.end), "making an event");
  check(cudaEventRecord(span.begin, timeline.device_.stream()), "recording an event");
}

// An error here is met again, and told, by whoever waits for the device.
Timeline::Stage::~Stage() {
  cudaEventRecord(timeline_.spans_[index_].end, timeline_.device_.stream());
}

void Timeline::finish(Profile& profile) {
  device_.wait();
  for (const Span& span : spans_) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, span.begin, span.end), "reading an event");
    profile.add(span.name, static_cast<double>(milliseconds));
  }
}

}  // namespace fovea::cuda
