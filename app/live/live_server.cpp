#include "live/live_server.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QLocalServer>
#include <QLocalSocket>
#include <QTcpServer>
#include <QTcpSocket>
#include <QTimer>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <list>
#include <set>
#include <utility>

#include "data/error.h"
#include "live/live_address.h"
#include "live/live_connection.h"

namespace fovea {
namespace {

constexpr qint64 read_ahead = 4 << 20;  // bytes; a program that sends faster waits in the kernel

/// A lock that ends with its process, however that ends.
class OwnLock {
 public:
  explicit OwnLock(const std::string& path)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)),
        held_(file_ >= 0 && ::flock(file_, LOCK_EX | LOCK_NB) == 0),
        error_(held_ ? 0 : errno) {}
  ~OwnLock() {
    if (file_ >= 0) ::close(file_);
  }
  OwnLock(const OwnLock&) = delete;
  OwnLock& operator=(const OwnLock&) = delete;
  bool held() const { return held_; }
  bool held_by_another() const { return error_ == EWOULDBLOCK; }
  int error() const { return error_; }

 private:
  int file_;
  bool held_;
  int error_;
};

/// Lets in programs of this user alone.
class OwnUsersServer : public QLocalServer {
 public:
  explicit OwnUsersServer(const LiveServerOptions& options) : options_(options) {}

 protected:
  void incomingConnection(quintptr descriptor) override {
    const auto user = options_.peer ? options_.peer(int(descriptor)) : user_at(int(descriptor));
    if (user && *user == ::geteuid()) return QLocalServer::incomingConnection(descriptor);
    ::close(int(descriptor));
  }

 private:
  const LiveServerOptions& options_;
};

}  // namespace

class LiveServer::Listener : public QObject {
 public:
  Listener(std::shared_ptr<LiveStreams> streams, LiveServerOptions options)
      : streams_(std::move(streams)),
        options_(std::move(options)),
        room_(new FrameRoom(options_.most_bytes + options_.most_bytes / 2, this)),
        steps_(new StepReader(options_.open, this)) {}
  ~Listener() override {
    qDeleteAll(findChildren<LiveConnection*>());  // deleted before the room that they claim
    delete local_;                                // removes the socket while the lock is held
  }

  /// Returns why the port cannot be had; empty if it can.
  QString start() {
    if (!options_.socket.empty()) take_socket();
    if (!options_.port) return {};
    tcp_ = new QTcpServer(this);
    connect(tcp_, &QTcpServer::newConnection, this, [this] {
      while (QTcpSocket* socket = tcp_->nextPendingConnection()) {
        socket->setSocketOption(QAbstractSocket::LowDelayOption, 1);
        socket->setReadBufferSize(read_ahead);
        take(socket, options_.token, SIGNAL(disconnected()), at_port_);
      }
    });
    if (!tcp_->listen(QHostAddress::LocalHost, *options_.port)) return tcp_->errorString();
    port = tcp_->serverPort();
    return {};
  }

  std::atomic<bool> has_socket = false;
  std::atomic<std::uint16_t> port = 0;

 private:
  void take_socket() {
    auto lock = std::make_unique<OwnLock>(options_.socket + ".lock");
    if (lock->held_by_another()) return try_later();
    if (!lock->held())
      return qWarning("fovea: %s.lock cannot be locked: %s; programs cannot send to this window",
                      options_.socket.c_str(), std::strerror(lock->error()));
    lock_ = std::move(lock);
    const QString path = QString::fromStdString(options_.socket);
    QLocalServer::removeServer(path);  // the socket of a program that has died, as its lock is free
    local_ = new OwnUsersServer(options_);
    local_->setSocketOptions(QLocalServer::UserAccessOption);
    connect(local_, &QLocalServer::newConnection, this, [this] {
      while (QLocalSocket* socket = local_->nextPendingConnection()) {
        socket->setReadBufferSize(read_ahead);
        take(socket, {}, SIGNAL(disconnected()), at_socket_);
      }
    });
    if (local_->listen(path)) {
      has_socket = true;
      return;
    }
    qWarning("fovea: %s cannot be listened on: %s", options_.socket.c_str(),
             qPrintable(local_->errorString()));
    delete std::exchange(local_, nullptr);
    lock_.reset();
  }

  void try_later() {
    QTimer::singleShot(options_.takeover_ms, this, [this] { take_socket(); });
  }

  /// Connections of one kind. Anybody on this machine may connect to the port. Such connections
  /// must not keep the user's programs from the socket, nor, by silence, from the port.
  struct Guests {
    std::list<LiveConnection*> silent;  // that have not greeted yet, the oldest first
    std::set<LiveConnection*> greeted;
  };

  void take(QIODevice* socket, const std::string& token, const char* disconnected, Guests& guests) {
    if (std::ssize(guests.silent) >= options_.most_silent) {
      guests.silent.front()->refuse("Too many programs connect and send no greeting: try again.",
                                    true);
      guests.silent.pop_front();
    }
    const auto admit = [this, &guests](LiveConnection* program) -> std::string {
      if (std::ssize(guests.greeted) >= options_.most_connections)
        return std::to_string(guests.greeted.size()) +
               " programs are connected already: close one of them, or send from fewer processes.";
      guests.silent.remove(program);
      guests.greeted.insert(program);
      return {};
    };
    auto* connection =
        new LiveConnection(socket, token, {streams_, *room_, *steps_}, admit, options_, this);
    guests.silent.push_back(connection);
    connect(socket, disconnected, connection, SLOT(deleteLater()));
    connect(connection, &QObject::destroyed, this, [&guests, connection] {
      guests.silent.remove(connection);
      guests.greeted.erase(connection);
    });
  }

  std::shared_ptr<LiveStreams> streams_;
  const LiveServerOptions options_;
  std::unique_ptr<OwnLock> lock_;
  QLocalServer* local_ = nullptr;
  QTcpServer* tcp_ = nullptr;
  Guests at_socket_, at_port_;
  FrameRoom* room_;  // for one frame of the largest size, and half of it for others
  StepReader* steps_;
};

LiveServer::LiveServer(std::shared_ptr<LiveStreams> streams, LiveServerOptions options)
    : listener_(new Listener(std::move(streams), std::move(options))) {
  thread_.setObjectName("live link");
  listener_->moveToThread(&thread_);
  thread_.start();
  QString error;
  QMetaObject::invokeMethod(
      listener_, [&] { error = listener_->start(); }, Qt::BlockingQueuedConnection);
  if (error.isEmpty()) return;
  end();
  throw UnavailableError("--listen: the port cannot be had: " + error.toStdString() +
                         "; choose another one");
}

LiveServer::~LiveServer() {
  end();
}

void LiveServer::end() {
  if (!listener_) return;
  QMetaObject::invokeMethod(
      listener_, [this] { delete std::exchange(listener_, nullptr); },
      Qt::BlockingQueuedConnection);
  thread_.quit();
  thread_.wait();
}

bool LiveServer::has_socket() const {
  return listener_->has_socket;
}

std::uint16_t LiveServer::port() const {
  return listener_->port;
}

}  // namespace fovea
