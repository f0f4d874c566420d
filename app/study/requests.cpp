#include "study/requests.h"

#include <QCoreApplication>
#include <cmath>
#include <new>
#include <utility>

#include "study/canvas_model.h"
#include "study/polite_backend.h"

namespace fovea {
namespace {

constexpr double let_finish_seconds = 0.25;  // a late picture while a slider moves beats none
constexpr double yield_seconds = 0.03;       // background work that has run longer makes way

/// Does the work and returns the message of its error. Cancellation and the loss of the device are
/// the engine's to handle.
template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const std::bad_alloc&) {
    return "not enough memory";
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace

Requests::Requests(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background)
    : background_(std::move(background)) {
  start_engine(std::move(backend));
}

Requests::~Requests() {
  end_engine();
}

void Requests::start_engine(std::unique_ptr<Backend> backend) {
  alive_ = std::make_shared<const int>();
  // Steps report their own errors, so that almost always the loss of the device gets here.
  const auto on_error = [this, post = poster()](const RequestId&, const std::string& message) {
    post([this, text = QString::fromStdString(message)] {
      if (status().device_lost)
        emit device_lost(text);
      else
        emit failed(text);
    });
  };
  engine_ = std::make_shared<Engine>(std::move(backend), on_error, lower_thread_priority);
}

// Its thread may take up to 200 ms to stop.
void Requests::end_engine() {
  alive_.reset();
  engine_->cancel_all();
  background_->run([engine = std::exchange(engine_, nullptr)]() mutable { engine.reset(); });
}

void Requests::use_backend(std::unique_ptr<Backend> backend) {
  pending_.clear();
  end_engine();
  start_engine(std::move(backend));
}

Requests::Post Requests::poster() {
  return [alive = std::weak_ptr(alive_)](std::function<void()> deliver) {
    const auto guarded = [alive, deliver = std::move(deliver)] {
      if (!alive.expired()) deliver();
    };
    QMetaObject::invokeMethod(QCoreApplication::instance(), guarded, Qt::QueuedConnection);
  };
}

void Requests::submit(const RequestId& id, std::any key, Step step, Done done,
                      std::optional<int> later) {
  const std::uint64_t number = ++submitted_;
  const bool of_round = wanted_.contains(id);
  pending_.insert_or_assign(id, Pending{std::move(key), number, of_round});
  const auto finished = [this, id, number, of_round,
                         done = std::move(done)](const std::string& error) {
    finish(id, number, of_round, done, error);
  };
  engine_->submit_pieces(
      id, priority_of(id.kind),
      [step = std::move(step), finished, post = poster()](
          const Backend& backend, std::stop_token stop, Progress& progress) {
        Profile profile;
        Run run{profile, stop, &progress};
        bool more = false;
        const std::string error = error_of([&] { more = step(backend, run); });
        if (more) return true;
        post([finished, error] { finished(error); });
        return false;
      },
      later);
}

void Requests::finish(const RequestId& id, std::uint64_t number, bool of_round, const Done& done,
                      const std::string& error) {
  done(error);
  if (const auto it = pending_.find(id); it != pending_.end() && it->second.number == number)
    pending_.erase(it);
  if (of_round) emit arrived();
}

bool Requests::leave_running(const RequestId& id) {
  const Engine::Status now = status();
  if (is_pending(id) && now.running == id && now.seconds < let_finish_seconds)
    return asks_again_ = true;
  if (now.running && in_background(now.running->kind) && !in_background(id.kind) &&
      now.seconds > yield_seconds)
    cancel(*now.running);
  if (id.kind == RequestKind::panel) interrupt_long_work();
  return false;
}

void Requests::interrupt_long_work() {
  const auto running = status().running;
  if (running && is_long(running->kind)) engine_->interrupt(*running);
}

bool Requests::any_pending(RequestKind kind) const {
  const auto first = pending_.lower_bound({kind, -1, -1});
  return first != pending_.end() && first->first.kind == kind;
}

void Requests::end_round() {
  std::erase_if(pending_, [this](const auto& entry) {
    const bool unwanted = entry.second.of_round && !wanted_.contains(entry.first);
    if (unwanted) engine_->cancel(entry.first);
    return unwanted;
  });
}

void Requests::cancel(const RequestId& id) {
  engine_->cancel(id);
  pending_.erase(id);
}

void Requests::cancel_all() {
  engine_->cancel_all();
  pending_.clear();
}

void Requests::pause() {
  paused_ = true;
  cancel_all();
}

void show_waiting(const Requests& requests, const RequestId& id, CanvasCell& cell) {
  const Engine::Status status = requests.status();
  if (requests.paused()) {
    cell.status = "cancelled: Compute > Compute again (F5) goes on";
  } else if (status.running != id) {
    cell.status = "waiting";
  } else {
    char text[32];
    std::snprintf(text, sizeof text, "computing %.0f %%", 100 * status.fraction);
    cell.status = text + time_left_text(requests, id);
    cell.progress = status.fraction;
  }
}

std::string time_left_text(const Requests& requests, const RequestId& id) {
  const Engine::Status status = requests.status();
  const double left = status.running == id ? seconds_left(status) : 0;
  return left > 1 ? ", " + std::to_string(std::lround(left)) + " s left" : "";
}

}  // namespace fovea
