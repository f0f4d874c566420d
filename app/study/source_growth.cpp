#include "study/source_growth.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "data/error.h"

namespace fovea {
namespace {

// A model may give a hundred layers a second, each of which would have to be drawn.
constexpr std::chrono::milliseconds between_deliveries{100};

}  // namespace

bool begins_with(const Source& all, const Source& first) {
  return all.layers.size() >= first.layers.size() &&
         std::ranges::equal(
             first.layers.begin(), first.layers.end(), all.layers.begin(),
             all.layers.begin() + std::ssize(first.layers), [](const Layer& a, const Layer& b) {
               return a.name == b.name && a.heads() == b.heads() && a.lengths() == b.lengths();
             });
}

/// What the thread has found, and the window has not taken yet.
struct SourceGrowth::Work {
  std::stop_source stop;
  std::mutex mutex;  // of all below
  std::shared_ptr<const Source> newest;
  bool ended = false;
  std::string error;

  /// Calls `tell` after each change.
  template <class Tell>
  void run(std::shared_ptr<const Source> there, const MoreLayers& more, Tell tell) {
    try {
      for (bool complete = false; !complete; tell()) {
        GrownSource now = more(stop.get_token());
        complete = now.complete;
        if (!complete && !begins_with(now.source, *there)) continue;
        there = std::make_shared<const Source>(std::move(now.source));
        const std::scoped_lock lock(mutex);
        newest = there;
        ended = complete;
      }
    } catch (const Cancelled&) {
    } catch (const std::exception& failure) {
      {
        const std::scoped_lock lock(mutex);
        error = failure.what();
        ended = true;
      }
      tell();
    }
  }
};

SourceGrowth::SourceGrowth() {
  thread_.setMaxThreadCount(1);
  timer_.setSingleShot(true);
  timer_.setInterval(between_deliveries);
  connect(&timer_, &QTimer::timeout, this, &SourceGrowth::deliver);
}

SourceGrowth::~SourceGrowth() {
  stop();
  thread_.waitForDone();
}

void SourceGrowth::start(std::shared_ptr<const Source> there, RestOfSource rest) {
  stop();
  work_ = std::make_shared<Work>();
  expected_ = rest.expected;
  path_ = there->path;
  thread_.start(
      [this, work = work_, there = std::move(there), more = std::move(rest.more)]() mutable {
        work->run(std::move(there), more, [&] {
          QMetaObject::invokeMethod(
              this,
              [this, work] {
                if (work == work_ && !timer_.isActive()) timer_.start();
              },
              Qt::QueuedConnection);
        });
        more = nullptr;  // which cancels what has not come, here and not in the window
      });
}

void SourceGrowth::stop() {
  if (!work_) return;
  work_->stop.request_stop();
  work_.reset();
  timer_.stop();
}

void SourceGrowth::deliver() {
  if (!work_) return;
  std::shared_ptr<const Source> newest;
  bool has_ended = false;
  QString error;
  {
    const std::scoped_lock lock(work_->mutex);
    newest = std::exchange(work_->newest, nullptr);
    has_ended = work_->ended;
    error = QString::fromStdString(work_->error);
  }
  if (has_ended) work_.reset();
  if (newest) emit grown(std::move(newest));
  if (has_ended) emit ended(error);
}

}  // namespace fovea

#include "moc_source_growth.cpp"
