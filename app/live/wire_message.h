// A WireMessage goes from one process to another: an object of JSON, and tensors. Its bytes are
// those of a .safetensors file whose metadata has the object, as text, under the key "message". The
// same code therefore reads and checks files of tensors and messages.
//
// A program that only sends steps (LiveStep) sends files without that key.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "io/json.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "live/wire_reader.h"

namespace fovea {

struct WireMessage {
  Json content;                            // an object
  TensorFile tensors;                      // read from `bytes`, without the key "message"
  std::shared_ptr<const WireBytes> bytes;  // of the frame
};

WireBytes message_bytes(const Json& content, const std::vector<OutTensor>& tensors = {});

/// Throws InputError for a frame that is no message, Cancelled.
WireMessage read_message(std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop = {});

}  // namespace fovea
