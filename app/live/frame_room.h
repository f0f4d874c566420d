// The FrameRoom bounds the memory of frames that are under way, over all connections. A frame
// claims its whole length before its first byte is read; if there is no room, its connection waits,
// and what it sends stays in the socket. It lives on the link's thread.
#pragma once

#include <QObject>
#include <cstdint>

namespace fovea {

class FrameRoom : public QObject {
  Q_OBJECT

 public:
  FrameRoom(std::uint64_t bytes, QObject* parent) : QObject(parent), free_(bytes) {}

  /// Whether there was room.
  bool claim(std::uint64_t bytes) {
    if (bytes > free_) return false;
    free_ -= bytes;
    return true;
  }
  void release(std::uint64_t bytes) {
    free_ += bytes;
    emit freed();
  }

 signals:
  void freed();

 private:
  std::uint64_t free_;
};

}  // namespace fovea
