#include "live/wire_message.h"

#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

constexpr char key[] = "message";

}  // namespace

WireBytes message_bytes(const Json& content, const std::vector<OutTensor>& tensors) {
  return safetensors_bytes(tensors,
                           {{key, content.dump(-1, ' ', false, Json::error_handler_t::replace)}});
}

WireMessage read_message(std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop) {
  const auto size = static_cast<Index>(bytes->size());
  WireMessage message;
  message.tensors = read_safetensors("a message", bytes_in_memory(*bytes, bytes), size, stop);
  if (!message.tensors.metadata.contains(key))
    throw InputError("a message", "has no \"message\" in its metadata; expected an object of JSON");
  message.content = parse_json("a message", message.tensors.metadata.extract(key).mapped(), stop);
  if (!message.content.is_object())
    throw InputError("a message", "is " + kind_of(message.content) + "; expected an object");
  message.bytes = std::move(bytes);
  return message;
}

}  // namespace fovea
