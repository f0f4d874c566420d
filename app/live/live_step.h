// A LiveStep has the heads that a program sent for one step of a stream, such as a step of a
// training loop. Its bytes are those of a .safetensors file, whose metadata names the stream and
// the step.
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

/// The largest number of a step. Steps without a number are counted from there without overflow.
inline constexpr Index largest_step = Index{1} << 53;

/// Checks everything as for a file. A blob that names no stream belongs to the stream "live".
/// Throws InputError, Cancelled.
LiveStep read_live_step(std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop = {});

}  // namespace fovea
