#include "study/requests.h"

#include <QCoreApplication>
#include <array>
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

enum Flag : unsigned {
  in_background = 1,  // nobody waits for it; it stops for other requests
  apart = 2,          // from updates: asked for once, also while paused
  of_minutes = 4,     // its running piece stops for a new picture
  is_input = 8,       // pictures are made of it
};

struct Trait {
  RequestKind kind;
  int priority;
  const char* text;
  unsigned flags = 0;
};

constexpr std::array<Trait, 25> traits{{
    {RequestKind::open, 100, "Opening the source", apart},
    {RequestKind::problem, 90, "Reading the head", is_input},
    {RequestKind::pair, 60, "Reading the pair"},
    {RequestKind::row, 60, "Reading the row"},
    {RequestKind::selection, 60, "Measuring the selection"},
    {RequestKind::map, 52, "Drawing panels"},
    {RequestKind::panel, 50, "Drawing panels"},
    {RequestKind::curve, 50, "Drawing panels"},
    {RequestKind::exact, 45, "Computing exact attention", is_input},
    {RequestKind::column, 40, "Computing attention", is_input},
    {RequestKind::sweep, 36, "Measuring the sweep", in_background | apart},
    {RequestKind::trials, 36, "Trying settings", in_background | apart},
    {RequestKind::learning, 36, "Learning a tree", in_background | apart},
    {RequestKind::effect, 36, "Measuring the effect in the model", in_background | apart},
    {RequestKind::validation, 36, "Trying a learned tree", in_background | apart},
    {RequestKind::exact_rows, 35, "Computing exact attention", of_minutes},
    {RequestKind::spans, 38, "Measuring spans", in_background},
    {RequestKind::metrics, 30, "Comparing with exact", in_background | is_input},
    {RequestKind::bands, 28, "Refining maps", of_minutes},
    {RequestKind::diagnostics, 20, "Comparing with exact", in_background},
    {RequestKind::slow_panel, 22, "Computing panels that take long", in_background},
    {RequestKind::card, 10, "Summarising heads", in_background},
    {RequestKind::thumbnail, 32, "Drawing variants", in_background | apart},
    {RequestKind::hash, 5, "Hashing the file", apart},
    {RequestKind::timing, 0, "Timing variants", in_background | apart},
}};

constexpr const Trait& trait_of(RequestKind kind) {
  return traits[static_cast<std::size_t>(kind)];
}

constexpr bool in_order() {
  for (std::size_t i = 0; i < traits.size(); ++i)
    if (traits[i].kind != static_cast<RequestKind>(i)) return false;
  return true;
}
static_assert(in_order());

constexpr bool has(RequestKind kind, Flag flag) {
  return (trait_of(kind).flags & flag) != 0;
}

}  // namespace

int priority_of(RequestKind kind) {
  return trait_of(kind).priority;
}

const char* text_of(RequestKind kind) {
  return trait_of(kind).text;
}

std::string time_left_text(const Engine::Status& status) {
  const double left = status.seconds_left();
  return left > 1 ? ", " + std::to_string(std::lround(left)) + " s left" : "";
}

Requests::Requests(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background)
    : background_(std::move(background)) {
  yield_timer_.setSingleShot(true);
  connect(&yield_timer_, &QTimer::timeout, this, [this] {
    if (is_work_awaited()) end_background_work_soon();
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

bool Requests::may_start(RequestKind kind) const {
  return !paused_ || has(kind, apart);
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
    engine_->submit(id, priority_of(id.kind),
                    {.piece =
                         [step = std::move(step)](const Backend& backend, std::stop_token stop,
                                                  Progress& progress) {
                           Profile profile;
                           Run run{profile, stop, &progress};
                           return step(backend, run);
                         },
                     .on_end =
                         [finished, post = poster(), input = has(id.kind, is_input),
                          engine = engine_.get()](const std::string& error) {
                           // The update to come asks for pictures. What is less urgent than metrics
                           // does not begin before.
                           if (input)
                             engine->hold_back(Engine::Hold::ended_request,
                                               priority_of(RequestKind::metrics), longest_update);
                           post([=] { finished(error); });
                         },
                     .later = later});
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
  if (has(id.kind, apart)) return;
  input_ended_ = input_ended_ || has(id.kind, is_input);
  const bool is_awaited = input_ended_ && !has_urgent_work();
  emit arrived(std::exchange(ask_again_, false) || is_awaited);
}

bool Requests::has_urgent_work() const {
  return std::ranges::any_of(pending_, [](const auto& pending) {
    const RequestKind kind = pending.first.kind;
    return !has(kind, apart) && priority_of(kind) >= priority_of(RequestKind::metrics);
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
  if (!has(id.kind, in_background)) end_background_work_soon();
  if (id.kind == RequestKind::panel) interrupt_long_work();
}

void Requests::end_background_work_soon() {
  const Engine::Status now = status();
  if (!now.running || !has(now.running->kind, in_background)) return;
  if (now.seconds > yield_seconds) return cancel(*now.running);
  if (yield_timer_.isActive()) return;
  yield_timer_.start(1 + static_cast<int>(1000 * (yield_seconds - now.seconds)));
}

bool Requests::is_work_awaited() const {
  const auto running = status().running;
  return running && std::ranges::any_of(pending_, [&running](const auto& pending) {
           const RequestKind kind = pending.first.kind;
           return !has(kind, in_background) && priority_of(kind) > priority_of(running->kind);
         });
}

void Requests::interrupt_long_work() {
  const auto running = status().running;
  if (running && has(running->kind, of_minutes)) engine_->interrupt(*running);
}

bool Requests::any_pending(std::initializer_list<RequestKind> kinds) const {
  return std::ranges::any_of(kinds, [this](RequestKind kind) {
    const auto first = pending_.lower_bound({kind, -1, -1});
    return first != pending_.end() && first->first.kind == kind;
  });
}

void Requests::hold_back_for_view() {
  engine_->hold_back(Engine::Hold::moving_view, priority_of(RequestKind::column), view_rests);
}

void Requests::end_update() {
  std::vector<RequestId> unneeded;
  for (const auto& [id, pending] : pending_)
    if (!has(id.kind, apart) && !needed_.contains(id)) unneeded.push_back(id);
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
