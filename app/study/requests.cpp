#include "study/requests.h"

#include <QCoreApplication>
#include <cmath>
#include <vector>

#include "input/crash_report.h"

namespace fovea {

using namespace std::chrono_literals;

namespace {

constexpr double let_finish_seconds = 0.25;  // a late picture while a slider moves beats none
constexpr double yield_seconds = 0.03;       // background work that has run longer makes way
constexpr auto view_rests = 150ms;           // since it last moved
constexpr auto longest_update = 100ms;       // from a result to the end of the update it leads to

}  // namespace

std::string time_left_text(const Engine::Status& status) {
  const double left = status.seconds_left();
  return left > 1 ? ", " + std::to_string(std::lround(left)) + " s left" : "";
}

Requests::Requests(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background)
    : background_(std::move(background)) {
  yield_timer_.setSingleShot(true);
  connect(&yield_timer_, &QTimer::timeout, this, [this] {
    const Engine::Status now = status();
    const auto awaited = [&](const auto& pending) {
      return makes_way(*now.running, pending.first) &&
             priority_of(pending.first) > priority_of(*now.running);
    };
    if (now.running && std::ranges::any_of(pending_, awaited))
      end_background_work_soon(*now.running, now.seconds);
  });
  start_engine(std::move(backend));
}

Requests::~Requests() {
  end_engine();
}

void Requests::start_engine(std::unique_ptr<Backend> backend) {
  alive_ = std::make_shared<const int>();
  const auto on_device_lost = [this, post = poster()](const std::string& message) {
    post([this, text = QString::fromStdString(message)] { emit device_lost(text); });
  };
  const auto on_start = [] {
    lower_thread_priority();
    keep_stack_for_crash();
  };
  engine_ = std::make_shared<Engine>(std::move(backend), on_device_lost, on_start);
}

// Its thread stops when its running piece ends.
void Requests::end_engine() {
  alive_.reset();
  engine_->cancel_all();
  background_->devices.run(
      [engine = std::exchange(engine_, nullptr)]() mutable { engine.reset(); });
}

void Requests::use_backend(std::unique_ptr<Backend> backend) {
  pending_.clear();
  end_engine();
  ++engine_number_;
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

bool Requests::may_start(const RequestId& id) const {
  return !paused_ || traits_of(id).apart;
}

void Requests::submit(const RequestId& id, std::any key, Step step, Done done,
                      std::optional<int> later) {
  const std::uint64_t number = ++submitted_;
  const auto [it, added] = pending_.try_emplace(id);
  try {
    const auto finished = [this, id, number, cancelled = it->second.cancelled,
                           done = std::move(done)](const std::string& error) {
      if (!*cancelled) finish(id, number, done, error);
    };
    engine_->submit(id, priority_of(id),
                    {.piece =
                         [step = std::move(step)](const Backend& backend, std::stop_token stop,
                                                  Progress& progress) {
                           Profile profile;
                           Run run{profile, stop, &progress};
                           return step(backend, run);
                         },
                     .on_end =
                         [finished, post = poster(), input = traits_of(id).is_input,
                          engine = engine_.get()](const std::string& error) {
                           // The update to come asks for pictures. Metrics, and what is less
                           // urgent, do not begin before.
                           if (input)
                             engine->hold_back(Engine::Hold::ended_request,
                                               traits_of(RequestKind::metrics).priority + 1,
                                               longest_update);
                           post([=] { finished(error); });
                         },
                     .later = later ? std::optional(std::min(*later, priority_of(id))) : later});
  } catch (...) {  // memory may be refused: the engine has not got this request
    if (added) pending_.erase(it);
    throw;
  }
  it->second.key = std::move(key);
  it->second.number = number;
}

void Requests::finish(const RequestId& id, std::uint64_t number, const Done& done,
                      const std::string& error) {
  const auto forget = [&] {
    if (const auto it = pending_.find(id); it != pending_.end() && it->second.number == number)
      pending_.erase(it);
  };
  try {
    done(error);
  } catch (...) {  // memory may be refused there: whoever asks again must get an answer
    forget();
    throw;
  }
  forget();
  if (traits_of(id).apart) return;
  input_ended_ = input_ended_ || traits_of(id).is_input;
  const bool is_awaited = input_ended_ && !has_urgent_work();
  emit arrived(std::exchange(ask_again_, false) || is_awaited);
}

int Requests::priority_of(const RequestId& id) const {
  const RequestTraits& traits = traits_of(id);
  if (traits.if_selected && id.column == attended_.selected_column) return traits.if_selected;
  const bool seen = attended_.rows.contains(id.row) && attended_.columns.contains(id.column);
  return traits.if_unseen && !seen ? traits.if_unseen : traits.priority;
}

void Requests::attend(const Attended& attended) {
  if (attended == attended_) return;
  std::map<RequestId, int> before;
  for (const auto& [id, pending] : pending_) before[id] = priority_of(id);
  attended_ = attended;
  for (const auto& [id, priority] : before)
    if (priority_of(id) != priority) engine_->set_priority(id, priority_of(id));
}

bool Requests::has_urgent_work() const {
  return std::ranges::any_of(pending_, [](const auto& pending) {
    const RequestTraits& traits = traits_of(pending.first);
    return !traits.apart && traits.priority >= traits_of(RequestKind::metrics).priority;
  });
}

/// While a slider moves, the running request of an older key may finish, unless that takes long.
bool Requests::lets_older_finish(const RequestId& id) {
  const Engine::Status now = status();
  const bool lets = is_pending(id) && now.running == id && now.seconds < let_finish_seconds;
  ask_again_ = ask_again_ || lets;
  return lets;
}

void Requests::make_way_for(const RequestId& id) {
  const Engine::Status now = status();
  if (now.running && makes_way(*now.running, id))
    end_background_work_soon(*now.running, now.seconds);
  if (id.is_of(RequestKind::panel)) interrupt_long_work();
}

bool Requests::makes_way(const RequestId& running, const RequestId& id) const {
  const RequestTraits &its = traits_of(running), &other = traits_of(id);
  const bool waits =
      !other.in_background || (other.if_selected && priority_of(id) == other.if_selected);
  return its.in_background && waits && (its.apart || priority_of(id) > priority_of(running));
}

void Requests::end_background_work_soon(const RequestId& running, double seconds) {
  if (seconds > yield_seconds || traits_of(running).at_once) return cancel(running);
  if (yield_timer_.isActive()) return;
  yield_timer_.start(1 + static_cast<int>(1000 * (yield_seconds - seconds)));
}

void Requests::interrupt_long_work() {
  const auto running = status().running;
  if (running && traits_of(*running).of_minutes) engine_->interrupt(*running);
}

bool Requests::any_pending(std::initializer_list<RequestKind> kinds) const {
  return std::ranges::any_of(kinds, [this](RequestKind kind) {
    const auto first = pending_.lower_bound({kind, -1, -1});
    return first != pending_.end() && first->first.is_of(kind);
  });
}

void Requests::hold_back_for_view() {
  engine_->hold_back(Engine::Hold::moving_view, traits_of(RequestKind::column).priority,
                     view_rests);
}

void Requests::end_update() {
  std::vector<RequestId> unneeded;
  for (const auto& [id, pending] : pending_)
    if (!traits_of(id).apart && !needed_.contains(id)) unneeded.push_back(id);
  for (const RequestId& id : unneeded) cancel(id);
  engine_->hold_back(Engine::Hold::ended_request, 0, 0ms);
  input_ended_ = false;
  ++updates_;
}

void Requests::cancel(const RequestId& id) {
  engine_->cancel(id);
  if (const auto it = pending_.find(id); it != pending_.end()) {
    *it->second.cancelled = true;
    pending_.erase(it);
  }
}

void Requests::cancel_all() {
  engine_->cancel_all();
  for (auto& [id, pending] : pending_) *pending.cancelled = true;
  pending_.clear();
}

void Requests::pause() {
  paused_ = true;
  cancel_all();
}

void Requests::resume() {
  paused_ = false;
  for (AnyCache* cache : caches_) cache->forget_errors();
}

void Requests::clear_caches() {
  for (AnyCache* cache : caches_) cache->clear();
}

}  // namespace fovea

#include "moc_requests.cpp"
