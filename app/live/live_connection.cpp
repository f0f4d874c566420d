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
  socket.write(QByteArray::fromStdString(wire_length(static_cast<std::uint64_t>(json.size()))));
  socket.write(json);
}

QByteArray error_json(const std::string& why) {
  return json_of({{"error", QString::fromStdString(why)}});
}

// The last answer goes out as far as the other end takes it at once.
void close_after_answer(QIODevice& socket) {
  constexpr int moment_ms = 10;
  socket.waitForBytesWritten(moment_ms);
  socket.close();
}

}  // namespace

void turn_away(QIODevice& socket, const std::string& why) {
  write_answer(socket, json_of({{"error", QString::fromStdString(why)}, {"busy", true}}));
  close_after_answer(socket);
}

LiveConnection::LiveConnection(QIODevice* socket, std::string token,
                               std::shared_ptr<LiveStreams> streams,
                               const LiveServerOptions& options, QObject* parent)
    : QObject(parent),
      socket_(socket),
      token_(std::move(token)),
      streams_(std::move(streams)),
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
  QMetaObject::invokeMethod(this, &LiveConnection::read, Qt::QueuedConnection);
}

// After each frame the other connections have their turn.
void LiveConnection::read() {
  try {
    while (!ended_ && socket_->bytesAvailable() > 0) {
      const std::span<std::byte> room = reader_.room();
      const qint64 got =
          socket_->read(reinterpret_cast<char*>(room.data()), static_cast<qint64>(room.size()));
      if (got <= 0) break;
      reader_.filled(static_cast<std::size_t>(got));
      if (const auto token = reader_.take_token()) {
        if (!token_.empty() && !same_token(token_, *token))
          return refuse(
              "The token is not the one of this window: it is in the file that the window named "
              "when it was started.");
        greeted_ = true;
        answer(json_of({{"version", int(wire_version)}, {"most_bytes", qint64(most_bytes_)}}));
      }
      if (greeted_ && !reader_.is_in_the_middle())
        silence_.stop();
      else if (greeted_)
        silence_.start(silence_ms_);
      if (auto frame = reader_.take_frame()) {
        take_frame(std::move(frame));
        QMetaObject::invokeMethod(this, &LiveConnection::read, Qt::QueuedConnection);
        return;
      }
    }
  } catch (const Error& error) {
    refuse(error.what());
  } catch (const std::bad_alloc&) {
    refuse("The window has too little memory for a step of this size: send fewer heads or tokens.");
  }
}

void LiveConnection::take_frame(std::shared_ptr<const WireBytes> frame) {
  try {
    const Index step = streams_->add(read_live_step(std::move(frame)));
    answer(json_of({{"step", qint64(step)}}));
  } catch (const std::exception& error) {
    answer(json_of({{"error", QString::fromUtf8(error.what())}}));
  }
}

void LiveConnection::answer(const QByteArray& json) {
  write_answer(*socket_, json);
  if (socket_->bytesToWrite() > most_unread) end();
}

void LiveConnection::refuse(const std::string& why) {
  if (ended_) return;
  answer(error_json(why));
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
