#include "live/live_connection.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QPointer>
#include <new>
#include <utility>

#include "data/error.h"
#include "live/live_address.h"

namespace fovea {
namespace {

constexpr qint64 most_unread = 64 << 10;  // bytes of answers that a program has not read

QByteArray json_of(const QJsonObject& object) {
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

void write_answer(QIODevice& socket, const QByteArray& json) {
  socket.write(QByteArray::fromStdString(wire_length(json.size())));
  socket.write(json);
}

// Sends the last answer as far as the other end takes it at once, and closes.
void close_after_answer(QIODevice& socket) {
  constexpr int moment_ms = 10;
  socket.waitForBytesWritten(moment_ms);
  socket.close();
}

}  // namespace

LiveConnection::LiveConnection(QIODevice* socket, std::string token, LiveLink link,
                               std::function<std::string(LiveConnection*)> admit,
                               const LiveServerOptions& options, QObject* parent)
    : QObject(parent),
      socket_(socket),
      token_(std::move(token)),
      link_(std::move(link)),
      admit_(std::move(admit)),
      reader_(options.most_bytes),
      most_bytes_(options.most_bytes),
      silence_ms_(options.silence_ms) {
  socket_->setParent(this);
  silence_.setSingleShot(true);
  connect(&silence_, &QTimer::timeout, this, [this] {
    refuse(greeted_ ? "The program fell silent in the middle of a step."
                    : "No greeting came in time.");
  });
  silence_.start(options.greeting_ms);
  connect(socket_, &QIODevice::readyRead, this, &LiveConnection::read);
  connect(&link_.room, &FrameRoom::freed, this, &LiveConnection::read, Qt::QueuedConnection);
  QMetaObject::invokeMethod(this, &LiveConnection::read, Qt::QueuedConnection);
}

LiveConnection::~LiveConnection() {
  if (claimed_ > 0) link_.room.release(claimed_);
}

// Lets other connections have their turn after each frame.
void LiveConnection::read() {
  try {
    while (!ended_ && !opening_ && socket_->bytesAvailable() > 0) {
      if (!has_room()) return silence_.stop();
      const std::span<std::byte> room = reader_.room();
      const qint64 got = socket_->read(reinterpret_cast<char*>(room.data()), room.size());
      if (got <= 0) break;
      reader_.filled(got);
      if (const auto token = reader_.take_token()) take_token(*token);
      if (greeted_ && !reader_.is_in_the_middle())
        silence_.stop();
      else if (greeted_ && !ended_)
        silence_.start(silence_ms_);
      if (auto frame = reader_.take_frame()) take_frame(std::move(frame));
    }
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse("The window has too little memory for a step of this size: send fewer heads or tokens.");
  }
}

/// Claims the memory of a frame that begins.
bool LiveConnection::has_room() {
  const std::uint64_t bytes = reader_.frame_bytes();
  if (bytes == 0 || claimed_ > 0) return true;
  if (!link_.room.claim(bytes)) return false;
  claimed_ = bytes;
  silence_.start(silence_ms_);
  return true;
}

void LiveConnection::take_token(const std::string& token) {
  if (!token_.empty() && !same_token(token_, token))
    return refuse(
        "The token is not the one of this window: it is in the file that the window named when it "
        "was started.");
  if (const std::string why = admit_(this); !why.empty()) return refuse(why, true);
  greeted_ = true;
  answer(json_of({{"version", int(wire_version)}, {"most_bytes", qint64(most_bytes_)}}));
}

// A frame that has arrived whole is kept, even if its program has gone meanwhile.
void LiveConnection::take_frame(std::shared_ptr<const WireBytes> frame) {
  opening_ = true;
  const auto done = [self = QPointer(this), link = link_,
                     bytes = std::exchange(claimed_, 0)](StepReader::Opened opened) {
    QJsonObject json{{"error", QString::fromStdString(opened.error)}};
    if (opened.error.empty()) json = {{"step", qint64(link.streams->add(std::move(opened.step)))}};
    link.room.release(bytes);
    if (!self) return;
    self->answer(json_of(json));
    self->opening_ = false;
    self->read();
  };
  link_.steps.open(std::move(frame), done);
}

void LiveConnection::answer(const QByteArray& json) {
  if (ended_) return;
  write_answer(*socket_, json);
  if (socket_->bytesToWrite() > most_unread) end();
}

void LiveConnection::refuse(const std::string& why, bool busy) {
  if (ended_) return;
  QJsonObject json{{"error", QString::fromStdString(why)}};
  if (busy) json["busy"] = true;
  answer(json_of(json));
  end();
}

void LiveConnection::end() {
  if (std::exchange(ended_, true)) return;
  silence_.stop();
  socket_->disconnect(this);
  close_after_answer(*socket_);
  deleteLater();
}

}  // namespace fovea

#include "moc_live_connection.cpp"
