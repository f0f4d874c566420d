// The StepReader opens frames on threads of its own, so that a frame that takes long holds up
// neither the link nor the frames of other programs.
#pragma once

#include <QObject>
#include <QThreadPool>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "live/live_step.h"

namespace fovea {

using StepOpener =
    std::function<LiveStep(std::shared_ptr<const WireBytes> frame, const std::stop_token& stop)>;

class StepReader : public QObject {
  Q_OBJECT

 public:
  StepReader(StepOpener opener, QObject* parent);
  /// Abandons the frames that are being opened.
  ~StepReader() override;

  /// The step of a frame, or why it cannot be opened.
  struct Opened {
    LiveStep step;
    std::string error;
  };
  /// Calls `done` on the thread of this object.
  void open(std::shared_ptr<const WireBytes> frame, std::function<void(Opened)> done);

 private:
  const StepOpener opener_;
  std::stop_source stop_;
  QThreadPool threads_;
};

}  // namespace fovea
