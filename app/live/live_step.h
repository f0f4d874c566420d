// A LiveStep is what a program sent once: the heads of one step of a stream, such as of a training
// loop. Its bytes are those of a .safetensors file, whose metadata names the stream and the step.
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "data/source.h"
#include "live/wire_reader.h"

namespace fovea {

inline constexpr std::size_t longest_stream_name = 200;  // bytes

struct LiveStep {
  std::string stream;  // its name; not empty
  Index step = -1;     // 0 or more; -1 means the one after the last
  std::shared_ptr<const WireBytes> bytes;
  std::shared_ptr<const Source> source;  // reads from `bytes`; its path is the stream's address
};

/// The largest number of a step: from there, steps without a number cannot be counted beyond what
/// an Index holds.
inline constexpr Index largest_step = Index{1} << 53;

/// Checks everything as for a file. A blob that names no stream is of "live". Throws InputError,
/// Cancelled.
LiveStep read_live_step(std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop = {});

}  // namespace fovea
