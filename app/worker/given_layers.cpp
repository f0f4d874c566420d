#include "worker/given_layers.h"

#include <algorithm>
#include <span>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "io/tensor_source.h"

namespace fovea {
namespace {

constexpr Index most_parts = 100'000;  // a model has fewer layers

/// Takes the picture that the model saw out of an answer; null if there is none.
std::shared_ptr<const Picture> take_picture(TensorFile& tensors) {
  const auto found = std::ranges::find(tensors.tensors, "picture", &NamedTensor::name);
  if (found == tensors.tensors.end()) return nullptr;
  const NamedTensor tensor = *found;
  tensors.tensors.erase(found);
  if (tensor.dtype != "U8" || tensor.shape.size() != 3 || tensor.shape[2] != 3) return nullptr;
  auto picture = std::make_shared<Picture>();
  picture->height = tensor.shape[0];
  picture->width = tensor.shape[1];
  picture->rgb.resize(static_cast<std::size_t>(3 * picture->height * picture->width));
  tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(picture->rgb)));
  return picture;
}

std::vector<std::string> notes_in(const Json& answer) {
  std::vector<std::string> out;
  if (const auto notes = answer.find("notes"); notes != answer.end() && notes->is_array())
    for (const Json& note : *notes)
      if (note.is_string()) out.push_back(note.get<std::string>());
  return out;
}

[[noreturn]] void refuse_layers(const std::string& why) {
  throw InputError("", why);
}

}  // namespace

Index count_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  constexpr std::uint64_t most = 1'000'000;
  if (found == object.end() || !found->is_number_unsigned()) return 0;
  const auto count = found->get<std::uint64_t>();
  return count <= most ? static_cast<Index>(count) : 0;
}

GivenLayers::GivenLayers() : allowed_(static_cast<double>(allowed_memory())) {
  tensors_.path = "the model's answer";
}

void GivenLayers::take(WireMessage message, const std::string& name) {
  const bool is_part = message.content.contains("part");
  if (complete_ || parts_ == most_parts) refuse_layers("sends layers without end");
  if (is_part && message.content.at("part") != parts_)
    refuse_layers("sent its layers out of order (expected part " + std::to_string(parts_) + ")");
  if (!is_part && count_at(message.content, "parts") != parts_)
    refuse_layers("left layers out (" + std::to_string(parts_) + " parts of them came)");
  if (is_part && message.tensors.tensors.empty()) refuse_layers("sent a part without a layer");
  bytes_ += static_cast<double>(message.bytes->size());
  if (bytes_ > allowed_) require_memory(bytes_, "The layers of " + name, fewer_tokens);
  if (auto picture = take_picture(message.tensors); picture && !picture_)
    picture_ = std::move(picture);
  for (NamedTensor& tensor : message.tensors.tensors) add(std::move(tensor));
  add_same(message.content);
  if (!is_part) tensors_.metadata.clear();  // that of the whole takes the place of that of parts
  for (auto& [key, text] : message.tensors.metadata) tensors_.metadata[key] = std::move(text);
  if (is_part) {
    ++parts_;
    expected_ = count_at(message.content, "of");
    return;
  }
  notes_ = notes_in(message.content);
  complete_ = true;
}

void GivenLayers::add(NamedTensor tensor) {
  if (!places_.try_emplace(tensor.name, tensors_.tensors.size()).second)
    refuse_layers("sent " + fovea::quoted(tensor.name) + " twice");
  tensors_.tensors.push_back(std::move(tensor));
}

void GivenLayers::add_same(const Json& content) {
  const auto same = content.find("same");
  if (same == content.end()) return;
  if (!same->is_object()) refuse_layers("sent names of tensors that are no names");
  for (const auto& [name, known] : same->items()) {
    const auto place = known.is_string() ? places_.find(known.get<std::string>()) : places_.end();
    if (place == places_.end())
      refuse_layers("sent " + fovea::quoted(name) + " as a tensor that never came");
    NamedTensor tensor = tensors_.tensors[place->second];
    tensor.name = name;
    add(std::move(tensor));
  }
}

Source GivenLayers::source(const std::stop_token& stop) const {
  Source source = source_from_tensors(tensors_, {}, stop);
  source.kind = "model";
  source.picture = picture_;
  source.notes.insert(source.notes.end(), notes_.begin(), notes_.end());
  return source;
}

}  // namespace fovea
