#include "live/message_channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"

namespace fovea {
namespace {

constexpr int patience_ms = 50;  // until a stop is looked for
constexpr std::size_t piece = 1 << 20;

bool is_socket(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && S_ISSOCK(status.st_mode);
}

/// Whether the descriptor became ready within a moment.
bool wait_for(int descriptor, short events) {
  pollfd one{.fd = descriptor, .events = events, .revents = 0};
  return ::poll(&one, 1, patience_ms) > 0;
}

bool may_come_later(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

}  // namespace

MessageChannel::MessageChannel(Descriptor in, Descriptor out)
    : in_(std::move(in)),
      out_(std::move(out)),
      is_socket_(is_socket(out_ ? out_.get() : in_.get())) {}

void MessageChannel::send(const Json& content, const std::vector<OutTensor>& tensors,
                          const std::stop_token& stop, Clock::time_point deadline) {
  const WireBytes bytes = message_bytes(content, tensors);
  const std::string length = wire_length(bytes.size());
  const int descriptor = out_ ? out_.get() : in_.get();
  for (std::span<const std::byte> rest : {std::as_bytes(std::span(length)), std::span(bytes)}) {
    while (!rest.empty()) {
      const std::size_t part = std::min(rest.size(), piece);
      const ssize_t sent = is_socket_
                               ? ::send(descriptor, rest.data(), part, MSG_NOSIGNAL | MSG_DONTWAIT)
                               : ::write(descriptor, rest.data(), part);
      if (sent >= 0)
        rest = rest.subspan(sent);
      else if (may_come_later(errno)) {
        check_stop(stop);  // not before: after half a message none can follow
        if (Clock::now() >= deadline) throw UnavailableError("the other process takes no message");
        wait_for(descriptor, POLLOUT);
      } else
        throw UnavailableError(std::string("the other process has gone (") + std::strerror(errno) +
                               ")");
    }
  }
}

std::optional<WireMessage> MessageChannel::receive(const std::stop_token& stop) {
  if (!frame_) {
    if (!fill(length_, stop)) return {};
    have_ = 0;
    frame_ = std::make_shared<WireBytes>();
  }
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < length_.size(); ++i)
    size |= std::to_integer<std::uint64_t>(length_[i]) << (8 * i);
  if (size == 0 || size > most_message_bytes)
    throw InputError("a message", "would have " + std::to_string(size) + " bytes; from 1 to " +
                                      std::to_string(most_message_bytes) + " are expected");
  require_memory(size, "a message");
  while (have_ < size) {  // a length is only a claim: memory grows as bytes arrive
    if (frame_->size() == have_)
      frame_->resize(std::min<std::uint64_t>(size, std::max(2 * have_, piece)));
    if (!fill(*frame_, stop)) return {};
  }
  have_ = 0;
  // Cannot be cancelled, as the message would be lost.
  return read_message(std::exchange(frame_, nullptr));
}

bool MessageChannel::fill(std::span<std::byte> part, const std::stop_token& stop) {
  while (have_ < part.size()) {
    check_stop(stop);
    if (!wait_for(in_.get(), POLLIN)) continue;
    const ssize_t got = ::read(in_.get(), part.data() + have_, part.size() - have_);
    if (got == 0 || (got < 0 && !may_come_later(errno))) return false;
    if (got > 0) have_ += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace fovea
