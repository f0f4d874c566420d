#include "live/live_step.h"

#include <charconv>
#include <utility>

#include "data/address.h"
#include "data/error.h"
#include "io/tensor_source.h"

namespace fovea {
namespace {

std::string said(const TensorFile& file, const char* key) {
  const auto found = file.metadata.find(key);
  return found == file.metadata.end() ? std::string() : found->second;
}

Index step_number(const std::string& text) {
  Index step = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size() || step < 0 || step > largest_step)
    throw InputError("the step", "is " + quoted(text) + "; expected a whole number from 0 to 2^53");
  return step;
}

}  // namespace

LiveStep read_live_step(std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop) {
  const auto size = static_cast<Index>(bytes->size());
  TensorFile file = read_safetensors("what was sent", bytes_in_memory(*bytes, bytes), size, stop);
  LiveStep step{.bytes = std::move(bytes)};
  step.stream = said(file, "stream");
  if (step.stream.empty()) step.stream = "live";
  if (step.stream.size() > longest_stream_name || printable(step.stream) != step.stream)
    throw InputError("the stream's name", "is " + quoted(step.stream) + "; expected at most " +
                                              std::to_string(longest_stream_name) +
                                              " bytes of text without control characters");
  if (const std::string number = said(file, "step"); !number.empty())
    step.step = step_number(number);
  file.path = std::string(live_prefix) + step.stream;
  auto source = std::make_shared<Source>(source_from_tensors(file, {}, stop));
  source->name = step.stream;
  step.source = std::move(source);
  return step;
}

}  // namespace fovea
