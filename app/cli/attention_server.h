// An AttentionServer computes variants of heads for another process, which sends it messages:
//
//   {"id": 1, "do": "check", "variant": "hyper", "parameters": {"block": "256"}}
//   {"id": 2, "do": "attend", "variant": ..., "parameters": ..., "seed": 0, "heads": [0, 5]}
//   {"id": 3, "do": "cancel", "of": 2}
//
// "attend" comes with the tensors and the metadata of a file of one layer (q, k, v, mask, scale,
// causal, ...). "parameters" are those of --set, "heads" the query heads that are computed; without
// it all are. The server first sends {"hello": "fovea serve", "version": 1, "program": "0.1.0"}.
// Each request but "cancel" has one answer with its id: {}, or with the tensor z [heads, nq, dv] in
// the order of "heads", "seconds" and "notes"; {"error": "..."}; or {"cancelled": true}.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "backend/backend.h"
#include "live/message_channel.h"

namespace fovea {

class AttentionServer {
 public:
  AttentionServer(MessageChannel& channel, const Backend& backend);

  /// Answers requests, one after the other, until the other process closes its end; a running
  /// request is then cancelled. Throws InputError for bytes that are no message and
  /// UnavailableError for a message that does not fit into memory, both after an answer that says
  /// so; UnavailableError if the other process has gone; Cancelled.
  void run(const std::stop_token& stop = {});

 private:
  struct Request {
    Json id;
    WireMessage message;
    std::stop_source stop = {};
  };

  /// Receives messages until no more can come.
  void receive(const std::stop_token& stop);
  void take(WireMessage message);
  /// The next request; null if there will be none.
  std::shared_ptr<Request> next(const std::stop_token& stop);
  void answer(Request& request, const std::stop_token& stop);
  bool has_ended();

  MessageChannel& channel_;
  const Backend& backend_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Request>> waiting_;
  std::shared_ptr<Request> running_;
  std::exception_ptr
      /// Why no more can come; null if the other process has closed its end.
      fault_;
  bool ended_ = false;
};

}  // namespace fovea
