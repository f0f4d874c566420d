// A LiveConnection is one program that sends, over any kind of socket. It deletes itself when the
// program has gone, or when it misbehaves.
#pragma once

#include <QIODevice>
#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>

#include "live/frame_room.h"
#include "live/live_server.h"
#include "live/step_reader.h"
#include "live/wire_reader.h"

namespace fovea {

/// What all connections of a server share.
struct LiveLink {
  std::shared_ptr<LiveStreams> streams;
  FrameRoom& room;
  StepReader& steps;
};

class LiveConnection : public QObject {
  Q_OBJECT

 public:
  /// Takes the open socket. `token` is asked for if it is not empty. `admit` is called after a good
  /// greeting, and says why the program cannot be taken; empty if it can.
  LiveConnection(QIODevice* socket, std::string token, LiveLink link,
                 std::function<std::string(LiveConnection*)> admit,
                 const LiveServerOptions& options, QObject* parent);
  ~LiveConnection() override;

  /// Answers with why, and closes the connection. `busy`: the program may try again later.
  void refuse(const std::string& why, bool busy = false);

 private:
  void read();
  bool has_room();
  void take_token(const std::string& token);
  void take_frame(std::shared_ptr<const WireBytes> frame);
  void answer(const QByteArray& json);
  void end();

  QIODevice* socket_;
  std::string token_;
  LiveLink link_;
  std::function<std::string(LiveConnection*)> admit_;
  WireReader reader_;
  std::uint64_t claimed_ = 0;  // bytes of the frame that is being read
  bool opening_ = false;       // a frame is being opened; the next one waits to keep the order
  QTimer silence_;
  std::uint64_t most_bytes_;
  int silence_ms_;
  bool greeted_ = false, ended_ = false;
};

}  // namespace fovea
