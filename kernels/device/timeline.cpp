#include "device/timeline.h"

#include "device/check.h"
#include "device/head_start.h"

namespace fovea::cuda {

Timeline::~Timeline() {
  if (!finished_) cudaStreamSynchronize(device_.stream());
  for (const Span& span : spans_) {
    if (span.begin) cudaEventDestroy(span.begin);
    if (span.end) cudaEventDestroy(span.end);
    if (span.part) cudaEventDestroy(span.part);
  }
}

Timeline::Stage::Stage(Timeline& timeline, std::string name)
    : timeline_(timeline), index_(timeline.spans_.size()) {
  timeline.finished_ = false;
  Span& span = timeline.spans_.emplace_back(Span{std::move(name)});
  check(cudaEventCreate(&span.begin), "making an event");
  check(cudaEventCreate(&span.end), "making an event");
  if (head_start() > 0) pass_time(head_start(), timeline.device_.stream());
  check(cudaEventRecord(span.begin, timeline.device_.stream()), "recording an event");
}

// An error here is reported again by the next wait for the device.
Timeline::Stage::~Stage() {
  cudaEventRecord(timeline_.spans_[index_].end, timeline_.device_.stream());
  note_late();
}

void Timeline::Stage::end_part() {
  if (head_start() <= 0) return;
  note_late();
  Span& span = timeline_.spans_[index_];
  if (!span.part) check(cudaEventCreate(&span.part), "making an event");
  check(cudaEventRecord(span.part, timeline_.device_.stream()), "recording an event");
}

void Timeline::Stage::by(const std::string& kernel) {
  timeline_.spans_[index_].kernel = kernel;
}

void Timeline::Stage::note_late() {
  Span& span = timeline_.spans_[index_];
  if (head_start() > 0 && cudaEventQuery(span.part ? span.part : span.begin) == cudaSuccess)
    span.late = true;
}

void Timeline::finish(Profile& profile) {
  finished_ = true;
  device_.wait();
  for (const Span& span : spans_) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, span.begin, span.end), "reading an event");
    const auto took = static_cast<double>(milliseconds);
    profile.add(span.name, took);
    if (span.late) profile.add(late_prefix + span.name, took);
    if (head_start() > 0 && !span.kernel.empty()) profile.add(kernel_prefix + span.kernel, 0);
  }
}

}  // namespace fovea::cuda
