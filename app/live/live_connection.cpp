#include "live/live_connection.h"

#include <QJsonDocument>
#include <QJsonObject>
#include <QPointer>
#include <utility>

#include "data/error.h"
#include "live/live_address.h"

namespace fovea {
namespace {

constexpr qint64 most_unread = 64 << 10;  // bytes of answers that a program has not read

QByteArray json_of(const QJsonObject& object) {
  return QJsonDocument(object).toJson(QJsonDocument::Compact);
}

}  // namespace

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
  socket_->write(QByteArray::fromStdString(wire_length(static_cast<std::uint64_t>(json.size()))));
  socket_->write(json);
  if (socket_->bytesToWrite() > most_unread) end();
}

void LiveConnection::refuse(const std::string& why) {
  if (ended_) return;
  answer(json_of({{"error", QString::fromStdString(why)}}));
  end();
}

// The last answer goes out as far as the other end takes it at once.
void LiveConnection::end() {
  if (std::exchange(ended_, true)) return;
  silence_.stop();
  socket_->disconnect(this);
  constexpr int moment_ms = 10;
  socket_->waitForBytesWritten(moment_ms);
  socket_->close();
  deleteLater();
}

}  // namespace fovea
