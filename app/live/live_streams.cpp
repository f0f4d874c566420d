#include "live/live_streams.h"

#include <algorithm>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

std::uint64_t bytes_of(const LiveStream& stream) {
  std::uint64_t bytes = 0;
  for (const LiveStep& step : stream.steps) bytes += step.bytes->size();
  return bytes;
}

}  // namespace

bool thin_out(LiveStream& stream) {
  auto& steps = stream.steps;
  if (steps.size() < 3) return false;
  const auto last = static_cast<double>(steps.back().step);
  std::size_t least = 1;
  double least_loss = 0;
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    const auto gap = static_cast<double>(steps[i + 1].step - steps[i - 1].step);
    const double loss = gap / (last - static_cast<double>(steps[i].step));
    if (i > 1 && loss >= least_loss) continue;
    least = i;
    least_loss = loss;
  }
  steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(least));
  ++stream.thinned_out;
  return true;
}

Index LiveStreams::add(LiveStep step) {
  Index number = 0;
  {
    const std::lock_guard lock(mutex_);
    const std::string name = step.stream;
    if (!streams_.contains(name) && streams_.size() >= limits_.most_streams)
      streams_.erase(std::ranges::min_element(streams_, {},
                                              [](const auto& entry) { return entry.second.fed; }));
    LiveStream& stream = streams_[name];
    stream.fed = ++steps_;
    if (step.step < 0) step.step = stream.steps.empty() ? 0 : stream.steps.back().step + 1;
    number = step.step;
    std::erase_if(stream.steps, [&](const LiveStep& old) { return old.step >= step.step; });
    if (stream.steps.empty()) stream.thinned_out = 0;
    stream.steps.push_back(std::move(step));
    keep_within_limits(name);
  }
  if (told_.exchange(true)) return number;
  QMetaObject::invokeMethod(
      this,
      [this] {
        told_ = false;
        emit changed();
      },
      Qt::QueuedConnection);
  return number;
}

std::uint64_t LiveStreams::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [name, stream] : streams_) sum += bytes_of(stream);
  return sum;
}

// The largest stream gives way. If no step between first and last is left, first steps are dropped,
// and then whole streams, but never the newest step.
void LiveStreams::keep_within_limits(const std::string& newest) {
  LiveStream& grown = streams_[newest];
  while (grown.steps.size() > limits_.most_steps && thin_out(grown)) {
  }
  std::uint64_t held = bytes();
  while (held > limits_.most_bytes) {
    const auto largest = std::ranges::max_element(
        streams_, {}, [](const auto& entry) { return bytes_of(entry.second); });
    LiveStream& stream = largest->second;
    if (!thin_out(stream)) {
      if (stream.steps.size() > 1) {
        stream.steps.erase(stream.steps.begin());
        ++stream.thinned_out;
      } else if (largest->first != newest) {
        streams_.erase(largest);
      } else if (streams_.size() > 1) {
        const auto other = std::ranges::find_if(
            streams_, [&](const auto& entry) { return entry.first != newest; });
        streams_.erase(other);
      } else {
        return;
      }
    }
    held = bytes();
  }
}

std::vector<std::string> LiveStreams::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, stream] : streams_) names.push_back(name);
  return names;
}

LiveStream LiveStreams::stream(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(name);
  return found == streams_.end() ? LiveStream{} : found->second;
}

}  // namespace fovea

#include "moc_live_streams.cpp"
