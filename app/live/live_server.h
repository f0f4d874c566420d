// The LiveServer takes the steps that programs send and puts them into LiveStreams. It listens on a
// Unix socket of this user and, when asked to, on a TCP port of this machine alone. It reads on a
// thread of its own and opens frames on others: the window never waits for a program, nor a program
// for the window or for what another program sends.
//
// The first of the windows that are started one after the other listens. When it ends, another
// one takes its place within a few seconds. The socket of a program that has died is replaced.
//
// A program that sends what is no greeting, no frame or too much, or falls silent in the middle of
// one, loses its connection. A frame that cannot be opened is answered with what is wrong, and the
// connection stays. Each frame is answered once it is kept, {"step": 12}, before it is drawn.
#pragma once

#include <sys/types.h>

#include <QThread>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "live/live_streams.h"
#include "live/step_reader.h"

namespace fovea {

struct LiveServerOptions {
  std::string socket;                 // path of the Unix socket; empty if none
  std::optional<std::uint16_t> port;  // of 127.0.0.1; 0 means any that is free
  std::string token;                  // required over TCP; not empty if there is a port
  std::uint64_t most_bytes = std::uint64_t{1} << 30;  // of a frame
  int most_connections = 32;  // that have greeted, to the socket, and as many to the port
  int most_silent = 128;      // that have not greeted yet, of each kind: the oldest gives way
  int greeting_ms = 5000;     // until the whole greeting must be there
  int silence_ms = 20000;     // that may pass in the middle of a frame
  int takeover_ms = 3000;     // between two looks whether another window still listens
  /// The user at the other end of a Unix socket; nothing if unknown. Tests replace it.
  std::function<std::optional<uid_t>(int descriptor)> peer = {};
  /// Opens a frame, on any thread. Tests replace it.
  StepOpener open = read_live_step;
};

class LiveServer {
 public:
  /// Throws UnavailableError if the port cannot be had. It is no error if another window listens on
  /// the socket.
  LiveServer(std::shared_ptr<LiveStreams> streams, LiveServerOptions options);
  ~LiveServer();
  LiveServer(const LiveServer&) = delete;
  LiveServer& operator=(const LiveServer&) = delete;

  /// Whether it listens on the Unix socket now.
  bool has_socket() const;
  /// The TCP port; 0 if none.
  std::uint16_t port() const;

 private:
  class Listener;
  void end();
  QThread thread_;
  Listener* listener_;  // lives on the thread
};

}  // namespace fovea
