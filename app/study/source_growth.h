// A SourceGrowth waits for the layers that the model of an opened source still gives, on a thread
// of its own: meanwhile the first layers are looked at.
#pragma once

#include <QObject>
#include <QString>
#include <QThreadPool>
#include <QTimer>
#include <memory>
#include <stop_token>

#include "input/open_source.h"

namespace fovea {

/// A source of which some layers are there, and what waits for the others.
struct RestOfSource {
  Index expected = 0;  // layers; 0 if that is not known
  MoreLayers more;     // null: all layers are there
};

/// Whether the layers of `first` are the first ones of `all`, by their names, heads and lengths.
bool begins_with(const Source& all, const Source& first);

class SourceGrowth : public QObject {
  Q_OBJECT

 public:
  SourceGrowth();
  /// Ends the waiting first.
  ~SourceGrowth() override;

  void start(std::shared_ptr<const Source> there, RestOfSource rest);
  /// The other layers are not wanted any more. Nothing is heard of them after that.
  void stop();
  bool runs() const { return work_ != nullptr; }
  /// 0 if that is not known.
  Index expected() const { return expected_; }
  /// The path of the source that grows, or has grown.
  const std::string& path() const { return path_; }

 signals:
  /// More layers are there, in the same order. At the end another order is possible: layers of
  /// which the names come before those that were there wait for all others.
  void grown(std::shared_ptr<const fovea::Source> source);
  /// After the last layers, or with why they do not come.
  void ended(const QString& error);

 private:
  struct Work;
  void deliver();

  std::shared_ptr<Work> work_;  // null: nothing is waited for
  Index expected_ = 0;
  std::string path_;
  QTimer timer_;
  QThreadPool thread_;
};

}  // namespace fovea
