#include "worker/hosted_model.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "data/error.h"
#include "data/stop.h"
#include "io/tensor_source.h"

namespace fovea {
namespace {

constexpr int protocol_version = 1;
constexpr auto patience = std::chrono::milliseconds(50);

std::string text_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// 0 if there is no such number.
Index count_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  constexpr std::uint64_t most = 1'000'000;
  if (found == object.end() || !found->is_number_unsigned()) return 0;
  const auto count = found->get<std::uint64_t>();
  return count <= most ? static_cast<Index>(count) : 0;
}

bool names(const Json& object, const char* name, const char* word) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return false;
  for (const Json& entry : *found)
    if (entry == word) return true;
  return false;
}

HostedDescription description_in(const Json& hello) {
  const Json model = hello.value("model", Json::object());
  return {.architecture = text_at(model, "architecture"),
          .computed_by = text_at(model, "computed_by"),
          .reads_texts = names(model, "reads", "text"),
          .reads_images = names(model, "reads", "image"),
          .layers = count_at(model, "layers"),
          .heads = count_at(model, "heads")};
}

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
  picture->rgb.resize(3 * picture->height * picture->width);
  tensor.bytes->read(tensor.begin, std::as_writable_bytes(std::span(picture->rgb)));
  return picture;
}

Source source_of(WireMessage message, const std::stop_token& stop) {
  TensorFile& tensors = message.tensors;
  tensors.path = "the model's answer";
  auto picture = take_picture(tensors);
  Source source = source_from_tensors(tensors, {}, stop);
  source.kind = "model";
  source.picture = std::move(picture);
  if (const auto notes = message.content.find("notes");
      notes != message.content.end() && notes->is_array())
    for (const Json& note : *notes)
      if (note.is_string()) source.notes.push_back(note.get<std::string>());
  return source;
}

}  // namespace

HostedModel::Lock HostedModel::lock(const std::stop_token& stop) {
  Lock held(mutex_, std::defer_lock);
  while (!held.try_lock_for(patience)) check_stop(stop);
  return held;
}

const HostedDescription& HostedModel::description(const std::stop_token& stop) {
  const Lock held = lock(stop);
  wait_until_loaded(stop);
  return *description_;
}

void HostedModel::wait_until_loaded(const std::stop_token& stop) {
  if (description_) return;
  const WireMessage hello = next(stop);
  if (const std::string error = text_at(hello.content, "error"); !error.empty()) end(error);
  if (text_at(hello.content, "hello") != "fovea model" ||
      hello.content.value("version", Json()) != protocol_version)
    end("the process that computes " + name_ +
        " uses another version of the Python package fovea; install the version that came with "
        "this program");
  description_ = description_in(hello.content);
}

WireMessage HostedModel::next(const std::stop_token& stop) {
  if (ended_) throw UnavailableError("the process that computes " + name_ + " has ended");
  try {
    if (auto message = line_->channel().receive(stop)) return *std::move(message);
  } catch (const InputError& error) {
    end("the process that computes " + name_ + " sent something that is not a message (" +
        error.what() + ")");
  } catch (const UnavailableError& error) {
    end(name_ + ": " + error.what() + "; fewer tokens need less (--max-tokens)");
  }
  end(name_ + ": " + line_->last_words());
}

void HostedModel::end(const std::string& why) {
  ended_ = true;
  throw UnavailableError(why);
}

void HostedModel::cancel(std::int64_t id) {
  constexpr auto moment = std::chrono::milliseconds(200);
  try {
    line_->channel().send({{"do", "cancel"}, {"of", id}}, {}, {},
                          MessageChannel::Clock::now() + moment);
  } catch (const UnavailableError&) {  // the process has gone or is stopped: another one is started
    ended_ = true;
  }
}

WireMessage HostedModel::ask(Json request, const std::vector<OutTensor>& tensors,
                             const std::stop_token& stop,
                             const std::function<void(double share)>& reached) {
  const Lock held = lock(stop);
  wait_until_loaded(stop);
  const std::int64_t id = ++last_id_;
  request["id"] = id;
  bool is_sent = false;
  try {
    try {
      line_->channel().send(request, tensors, stop);
    } catch (const UnavailableError&) {
      end(name_ + ": " + line_->last_words());
    }
    is_sent = true;
    for (;;) {
      WireMessage answer = next(stop);
      if (answer.content.value("id", Json()) != id) continue;  // of a request that was cancelled
      if (const auto error = text_at(answer.content, "error"); !error.empty())
        throw InputError(name_, error);
      const auto share = answer.content.find("reached");
      if (share == answer.content.end()) return answer;
      if (reached && share->is_number()) reached(share->get<double>());
    }
  } catch (const Cancelled&) {
    if (!is_sent) ended_ = true;  // half a message was sent, so none can follow
    if (!ended_) cancel(id);
    throw;
  }
}

Source HostedModel::read(const HostedInput& input, const std::stop_token& stop,
                         const std::function<void(double share)>& reached) {
  Json request{{"do", "heads"}};
  std::vector<OutTensor> tensors;
  if (input.picture) {
    tensors.push_back(
        {"picture", {input.picture->height, input.picture->width, 3}, input.picture->rgb});
  } else {
    request["text"] = input.text;
    request["max_tokens"] = input.most_tokens;
  }
  return source_of(ask(std::move(request), tensors, stop, reached), stop);
}

namespace {

/// The model that was asked for last.
struct Kept {
  std::mutex mutex;
  std::string key;
  std::shared_ptr<HostedModel> model;  // null: none
};

Kept& kept() {
  static Kept all;
  return all;
}

}  // namespace

std::shared_ptr<HostedModel> hosted_model(
    const std::string& key, const std::function<std::unique_ptr<HostedModel>()>& connect) {
  Kept& all = kept();
  const std::lock_guard held(all.mutex);
  if (!all.model || all.model->has_ended() || key != all.key) {
    all.model.reset();
    all.model = connect();
    all.key = key;
  }
  return all.model;
}

void forget_hosted_model() {
  Kept& all = kept();
  const std::lock_guard held(all.mutex);
  all.model.reset();
}

}  // namespace fovea
