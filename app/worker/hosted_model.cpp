#include "worker/hosted_model.h"

#include <chrono>
#include <utility>

#include "data/error.h"
#include "data/stop.h"

namespace fovea {
namespace {

constexpr int protocol_version = 1;
constexpr auto patience = std::chrono::milliseconds(50);

std::string text_at(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
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

/// Whether the message says only how far the model is.
bool is_progress(const WireMessage& message, const std::function<void(double share)>& reached) {
  const auto share = message.content.find("reached");
  if (share == message.content.end()) return false;
  if (reached && share->is_number()) reached(share->get<double>());
  return true;
}

}  // namespace

HostedModel::Turn HostedModel::take_turn(const std::stop_token& stop) {
  while (!free_.try_acquire_for(patience)) check_stop(stop);
  return Turn(&free_);
}

const HostedDescription& HostedModel::description(const std::stop_token& stop) {
  const Turn turn = take_turn(stop);
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

std::int64_t HostedModel::send(Json request, const std::vector<OutTensor>& tensors,
                               const std::stop_token& stop) {
  const std::int64_t id = ++last_id_;
  request["id"] = id;
  try {
    line_->channel().send(request, tensors, stop);
  } catch (const UnavailableError&) {
    end(name_ + ": " + line_->last_words());
  } catch (const Cancelled&) {
    ended_ = true;  // half a message was sent, so none can follow
    throw;
  }
  return id;
}

WireMessage HostedModel::next_about(std::int64_t id, const std::stop_token& stop) {
  for (;;) {
    WireMessage message = next(stop);
    if (message.content.value("id", Json()) != id) continue;  // of a request that was cancelled
    if (const auto error = text_at(message.content, "error"); !error.empty())
      throw InputError(name_, error);
    return message;
  }
}

WireMessage HostedModel::ask(Json request, const std::vector<OutTensor>& tensors,
                             const std::stop_token& stop,
                             const std::function<void(double share)>& reached) {
  const Turn turn = take_turn(stop);
  wait_until_loaded(stop);
  const std::int64_t id = send(std::move(request), tensors, stop);
  try {
    for (;;)
      if (WireMessage answer = next_about(id, stop); !is_progress(answer, reached)) return answer;
  } catch (const Cancelled&) {
    cancel(id);
    throw;
  }
}

Source HostedModel::read(const HostedInput& input, const std::stop_token& stop,
                         const std::function<void(double share)>& reached) {
  HostedReading reading(*this, input, stop);
  while (!reading.is_complete()) reading.advance(stop, reached);
  return reading.source(stop);
}

HostedReading::HostedReading(HostedModel& model, const HostedInput& input,
                             const std::stop_token& stop)
    : model_(model), turn_(model_.take_turn(stop)) {
  model_.wait_until_loaded(stop);
  Json request{{"do", "heads"}, {"parts", true}};
  std::vector<OutTensor> tensors;
  if (input.picture) {
    tensors.push_back(
        {"picture", {input.picture->height, input.picture->width, 3}, input.picture->rgb});
  } else {
    request["text"] = input.text;
    request["max_tokens"] = input.most_tokens;
  }
  if (input.decoder_text) request["decoder_text"] = *input.decoder_text;
  id_ = model_.send(std::move(request), tensors, stop);
}

HostedReading::~HostedReading() {
  if (turn_ && !model_.ended_) model_.cancel(id_);
}

void HostedReading::advance(const std::stop_token& stop,
                            const std::function<void(double share)>& reached) {
  if (!turn_) return;
  try {
    WireMessage message = model_.next_about(id_, stop);
    while (is_progress(message, reached)) message = model_.next_about(id_, stop);
    try {
      layers_.take(std::move(message), model_.name_);
    } catch (const InputError& error) {  // what follows could not be believed
      model_.end("the process that computes " + model_.name_ + " " + error.what() +
                 "; install the Python package that came with this program");
    }
  } catch (const Cancelled&) {
    throw;
  } catch (const Error&) {
    if (!model_.ended_) model_.cancel(id_);
    turn_.reset();
    throw;
  }
  if (layers_.complete()) turn_.reset();
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
