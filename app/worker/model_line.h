// A ModelLine connects to a process that computes a model.
#pragma once

#include <string>

#include "live/message_channel.h"

namespace fovea {

class ModelLine {
 public:
  ModelLine() = default;
  virtual ~ModelLine() = default;
  ModelLine(const ModelLine&) = delete;
  ModelLine& operator=(const ModelLine&) = delete;

  virtual MessageChannel& channel() = 0;
  /// A sentence about the process after it has closed its end of the channel, without the full
  /// stop. The channel may be gone then.
  virtual std::string last_words() = 0;
};

}  // namespace fovea
