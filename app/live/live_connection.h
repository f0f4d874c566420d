// A LiveConnection is one program that sends, over any kind of socket. It deletes itself when the
// program has gone, or when it misbehaves.
#pragma once

#include <QIODevice>
#include <QObject>
#include <QTimer>
#include <memory>

#include "live/live_server.h"
#include "live/wire_reader.h"

namespace fovea {

class LiveConnection : public QObject {
  Q_OBJECT

 public:
  /// Takes the open socket. `token`: that is asked for; empty: none is.
  LiveConnection(QIODevice* socket, std::string token, std::shared_ptr<LiveStreams> streams,
                 const LiveServerOptions& options, QObject* parent);

 private:
  void read();
  void take_frame(std::shared_ptr<const WireBytes> frame);
  void answer(const QByteArray& json);
  void refuse(const std::string& why);
  void end();

  QIODevice* socket_;
  std::string token_;
  std::shared_ptr<LiveStreams> streams_;
  WireReader reader_;
  QTimer silence_;
  std::uint64_t most_bytes_;
  int silence_ms_;
  bool greeted_ = false, ended_ = false;
};

}  // namespace fovea
