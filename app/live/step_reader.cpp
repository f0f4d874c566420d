#include "live/step_reader.h"

#include <exception>
#include <utility>

namespace fovea {
namespace {

constexpr int most_threads = 4;

}  // namespace

StepReader::StepReader(StepOpener opener, QObject* parent)
    : QObject(parent), opener_(std::move(opener)) {
  threads_.setMaxThreadCount(most_threads);
}

StepReader::~StepReader() {
  stop_.request_stop();
  threads_.clear();
  threads_.waitForDone();
}

void StepReader::open(std::shared_ptr<const WireBytes> frame, std::function<void(Opened)> done) {
  threads_.start([this, frame = std::move(frame), done = std::move(done)]() mutable {
    Opened opened;
    try {
      opened.step = opener_(std::move(frame), stop_.get_token());
    } catch (const std::exception& error) {
      opened.error = error.what();
    }
    QMetaObject::invokeMethod(
        this,
        [done = std::move(done), opened = std::move(opened)]() mutable { done(std::move(opened)); },
        Qt::QueuedConnection);
  });
}

}  // namespace fovea

#include "moc_step_reader.cpp"
