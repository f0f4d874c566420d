// The LiveBar handles the streams that programs send to a window: it follows one step by step, goes
// back to earlier steps, and offers a stream while the window shows something else. An open source
// is never replaced unless a person asks for it; a window with nothing open shows a stream at once.
#pragma once

#include <QElapsedTimer>
#include <QFrame>
#include <QTimer>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "live/live_streams.h"

class QComboBox;
class QLabel;
class QPushButton;
class QToolButton;

namespace fovea {

class Exports;
class Files;
class Slider;
struct Workspace;

class LiveBar : public QFrame {
  Q_OBJECT

 public:
  LiveBar(Workspace& workspace, Files& files, Exports& exports);

  /// Sets the streams of this program; there are none before.
  void watch(std::shared_ptr<LiveStreams> streams);
  /// Opens the stream, or waits until a program sends it and opens it then.
  void open_stream(std::string name);
  /// Whether new steps of the shown stream are shown as they come.
  bool follows() const { return follow_; }
  void set_following(bool on);
  /// The step of the shown stream. Nothing if the window shows something else.
  std::optional<Index> shown_step() const;
  /// "live: train, step 12 of 40", or what the bar offers.
  QString text() const;

  void save_capture_by_dialog();
  /// Writes the bytes of the shown step as they came, and then calls `then`.
  void save_capture_to(const QString& path, std::function<void()> then = {});
  /// Sets whether programs reach this window, or another one that listens instead; the bar says so
  /// while it waits.
  void set_listening(std::function<bool()> listens) { listens_ = std::move(listens); }

 private:
  void make_widgets();
  bool is_shown() const;
  void take_news();
  void advance();
  void go_to(std::size_t kept);
  void show_step(const LiveStep& step);
  void choose(const std::string& name);
  void dismiss();
  void refresh();
  void refresh_names();
  void source_opened();
  /// Offers to save the shown step as a file, and the session of that file.
  void offer_capture();
  QString ask_capture_path();
  void open_and_save_session(const std::string& path);
  void write_capture(const QString& path, const LiveStep& step, std::function<void()> then);
  std::shared_ptr<const Source> find(const std::string& what);

  Workspace& workspace_;
  Files& files_;
  Exports& exports_;
  std::shared_ptr<LiveStreams> streams_;
  std::string name_;              // of the stream in the bar; empty if none
  LiveStream stream_;             // its kept steps, as they were last
  std::string awaited_;           // the stream that is opened when it comes
  std::set<std::string> hidden_;  // streams that were dismissed
  std::optional<Index> step_;     // that was shown last
  LiveStep shown_;                // the same with its bytes, which may no longer be kept
  bool follow_ = true;
  std::function<bool()> listens_;  // whether programs reach this window; empty if they do
  QTimer later_;
  QElapsedTimer since_;  // the last step was shown
  QComboBox* names_;
  QLabel *title_, *place_;
  Slider* slider_;
  QToolButton *follow_button_, *capture_;
  QPushButton* show_;
};

}  // namespace fovea
