#include "cli/attention_server.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "cli/version.h"
#include "data/error.h"
#include "data/source.h"
#include "evaluate/computation.h"
#include "io/tensor_source.h"
#include "session/session.h"

namespace fovea {
namespace {

constexpr int protocol_version = 1;
constexpr char a_request[] = "the request";

Json found_in(const Json& object, const char* name) {
  return object.value(name, Json());
}

InputError unexpected(const char* name, const Json& found, const std::string& expected) {
  return {a_request,
          std::string("\"") + name + "\" is " + kind_of(found) + "; expected " + expected};
}

const Variant& variant_of(const Json& request) {
  const Json id = found_in(request, "variant");
  if (!id.is_string()) throw unexpected("variant", id, "the id of a variant, as text");
  const Variant& variant = find_variant(id.get<std::string>());
  if (variant.imported)
    throw UsageError("the variant '" + variant.id +
                     "' is what a file holds, and cannot be computed from q, k and v");
  return variant;
}

std::uint64_t seed_of(const Json& request) {
  const Json seed = found_in(request, "seed");
  if (seed.is_null()) return 0;
  if (!seed.is_number_unsigned()) throw unexpected("seed", seed, "a whole number from 0");
  return seed.get<std::uint64_t>();
}

/// The values for a head of n tokens, with those that the request sets.
Values values_of(const Json& request, const Variant& variant, Index n) {
  const Json parameters = found_in(request, "parameters");
  if (!parameters.is_null() && !parameters.is_object())
    throw unexpected("parameters", parameters, "an object");
  std::map<std::string, std::string> settings;
  for (const auto& [key, value] : parameters.items())
    settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return values_for_length(variant, n, settings);
}

std::vector<Index> heads_of(const Json& request, Index count) {
  const Json chosen = found_in(request, "heads");
  std::vector<Index> heads;
  if (chosen.is_null())
    for (Index h = 0; h < count; ++h) heads.push_back(h);
  else if (!chosen.is_array())
    throw unexpected("heads", chosen, "a list of heads");
  for (const Json& entry : chosen) {
    const Index head = entry.is_number_integer() ? entry.get<Index>() : -1;
    if (head < 0 || head >= count)
      throw InputError(a_request, "\"heads\" has " + printable(entry.dump()) +
                                      "; expected whole numbers from 0 to " +
                                      std::to_string(count - 1));
    heads.push_back(head);
  }
  return heads;
}

struct Attended {
  OutTensor z;  // [heads, nq, dv]
  double seconds = 0;
  double multiply_adds = 0, exact_multiply_adds = 0;
  std::vector<std::string> notes;
};

Attended attend(WireMessage& message, const Backend& backend, const std::stop_token& stop) {
  const Json& request = message.content;
  const Variant& variant = variant_of(request);
  message.tensors.path = a_request;
  const Source source = source_from_tensors(message.tensors, {}, stop);
  const Layer& layer = source.layers.front();
  if (source.layers.size() != 1 || !layer.has_qk() || !layer.has_values())
    throw InputError(a_request, "does not hold q, k and v of one layer");
  const ComputeRequest compute{.variant = &variant,
                               .values = values_of(request, variant, layer.keys()),
                               .seed = seed_of(request)};
  const std::vector<Index> heads = heads_of(request, layer.heads());
  std::vector<float> z;
  z.reserve(heads.size() * static_cast<std::size_t>(layer.queries() * layer.dv()));
  Attended out;
  using Clock = std::chrono::steady_clock;
  for (const Index head : heads) {
    const Clock::time_point start = Clock::now();
    const Problem problem = problem_of(source, {.head = head}, stop);
    TimedRun timed;
    Profile profile;
    Run run{profile, stop};
    const auto op = plan_and_bind(problem, compute, backend, run, timed);
    const Output output = op->apply(run);
    out.seconds += std::chrono::duration<double>(Clock::now() - start).count();
    const Cost cost = count_cost(op->plan(), layer.d(), layer.dv(), stop);
    out.multiply_adds += cost.multiply_adds;
    out.exact_multiply_adds += cost.exact_multiply_adds;
    for (Index i = 0; i < output.z.rows(); ++i)
      z.insert(z.end(), output.z.row(i), output.z.row(i) + output.z.cols());
    for (const std::string& note : op->plan().notes)
      if (!std::ranges::count(out.notes, note)) out.notes.push_back(note);
  }
  out.z = {"z", {static_cast<Index>(heads.size()), layer.queries(), layer.dv()}, std::move(z)};
  return out;
}

}  // namespace

AttentionServer::AttentionServer(MessageChannel& channel, const Backend& backend)
    : channel_(channel), backend_(backend) {}

void AttentionServer::run(const std::stop_token& stop) {
  channel_.send(
      {{"hello", "fovea serve"}, {"version", protocol_version}, {"program", version_number()}}, {},
      stop);
  const std::jthread receiver([this](const std::stop_token& own) { receive(own); });
  while (const auto request = next(stop)) answer(*request, stop);
  check_stop(stop);
  if (!fault_) return;
  try {
    std::rethrow_exception(fault_);
  } catch (const Error& error) {
    channel_.send({{"error", error.what()}}, {}, stop);
    throw;
  }
}

void AttentionServer::receive(const std::stop_token& stop) {
  std::exception_ptr fault;
  try {
    while (auto message = channel_.receive(stop)) take(*std::move(message));
  } catch (const Error&) {
    fault = std::current_exception();
  } catch (const std::bad_alloc&) {
    fault = std::make_exception_ptr(UnavailableError("not enough memory for a message"));
  }
  const std::scoped_lock lock(mutex_);
  fault_ = fault;
  ended_ = true;
  if (running_) running_->stop.request_stop();
  changed_.notify_all();
}

void AttentionServer::take(WireMessage message) {
  const std::scoped_lock lock(mutex_);
  Json id = found_in(message.content, "id");
  if (found_in(message.content, "do") != "cancel") {
    waiting_.push_back(std::make_shared<Request>(Request{std::move(id), std::move(message)}));
    changed_.notify_all();
    return;
  }
  const Json of = found_in(message.content, "of");
  if (running_ && running_->id == of) running_->stop.request_stop();
  for (const auto& request : waiting_)
    if (request->id == of) request->stop.request_stop();
}

std::shared_ptr<AttentionServer::Request> AttentionServer::next(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  running_ = nullptr;
  changed_.wait(lock, stop, [&] { return ended_ || !waiting_.empty(); });
  if (ended_ || waiting_.empty()) return nullptr;
  running_ = waiting_.front();
  waiting_.pop_front();
  return running_;
}

void AttentionServer::answer(Request& request, const std::stop_token& stop) {
  const std::stop_callback also(stop, [&] { request.stop.request_stop(); });
  Json reply{{"id", request.id}};
  std::vector<OutTensor> tensors;
  const Json& content = request.message.content;
  const Json what = found_in(content, "do");
  try {
    check_stop(request.stop.get_token());
    if (what == "check") {
      const Variant& variant = variant_of(content);
      values_of(content, variant, default_length);
    } else if (what == "attend") {
      Attended attended = attend(request.message, backend_, request.stop.get_token());
      reply["seconds"] = attended.seconds;
      reply["multiply_adds"] = attended.multiply_adds;
      reply["exact_multiply_adds"] = attended.exact_multiply_adds;
      reply["notes"] = attended.notes;
      tensors.push_back(std::move(attended.z));
    } else {
      throw UsageError("the request " + printable(what.dump()) +
                       " is not known; expected \"attend\", \"check\" or \"cancel\"");
    }
  } catch (const Cancelled&) {
    reply["cancelled"] = true;
  } catch (const Error& error) {
    reply["error"] = error.what();
  } catch (const std::bad_alloc&) {
    reply["error"] = "not enough memory";
  } catch (const std::exception& error) {
    reply["error"] = "internal error: " + printable(error.what());
  }
  if (!has_ended()) channel_.send(reply, tensors, stop);
}

bool AttentionServer::has_ended() {
  const std::scoped_lock lock(mutex_);
  return ended_;
}

}  // namespace fovea
