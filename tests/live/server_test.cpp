// The server: good programs, and programs that misbehave, beside each other.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QLocalSocket>
#include <QTcpSocket>
#include <QTemporaryDir>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "data/error.h"
#include "live/blobs.h"
#include "live/connection.h"
#include "live/live_address.h"
#include "live/live_server.h"
#include "study/event_loop.h"
#include "writing_calls.h"

namespace fovea::test {
namespace {

struct Served {
  QTemporaryDir folder;
  std::shared_ptr<LiveStreams> streams = std::make_shared<LiveStreams>();
  LiveServerOptions options;
  std::unique_ptr<LiveServer> server;

  Served() { options.socket = folder.filePath("live.sock").toStdString(); }
  void start() { server = std::make_unique<LiveServer>(streams, options); }
  QString socket() const { return QString::fromStdString(options.socket); }
  Index last(const std::string& name) const {
    const LiveStream stream = streams->stream(name);
    return stream.steps.empty() ? -1 : stream.steps.back().step;
  }
};

/// A program over any socket; waits at most a minute for everything.
template <class Socket>
struct Program {
  Socket socket;

  void send(const std::string& text) {
    socket.write(text.data(), static_cast<qint64>(text.size()));
    while (socket.bytesToWrite() > 0 && socket.waitForBytesWritten(60000)) {
    }
  }
  bool wait_for(qint64 bytes) {
    while (socket.bytesAvailable() < bytes)
      if (!socket.waitForReadyRead(60000)) return socket.bytesAvailable() >= bytes;
    return true;
  }
  /// "": the connection ended.
  std::string answer() {
    if (!wait_for(8)) return "";
    const QByteArray length = socket.read(8);
    const auto bytes =
        static_cast<unsigned char>(length[0]) + 256 * static_cast<unsigned char>(length[1]);
    if (!wait_for(bytes)) return "";
    return socket.read(bytes).toStdString();
  }
  bool has_ended() {
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 60000) {
      if (socket.state() == decltype(socket.state())(0)) return true;  // unconnected, of both kinds
      socket.waitForReadyRead(20);
    }
    return false;
  }
};

struct LocalProgram : Program<QLocalSocket> {
  explicit LocalProgram(const QString& path) {
    socket.connectToServer(path);
    REQUIRE(socket.waitForConnected(60000));
  }
};

struct TcpProgram : Program<QTcpSocket> {
  explicit TcpProgram(quint16 port) {
    socket.connectToHost("127.0.0.1", port);
    REQUIRE(socket.waitForConnected(60000));
  }
};

void greet(LocalProgram& program) {
  program.send(wire_greeting(""));
  REQUIRE(program.answer().find("\"version\":1") != std::string::npos);
}

}  // namespace

TEST_CASE("two programs send, and each step is answered when it is kept") {
  Served served;
  served.start();
  LocalProgram a(served.socket()), b(served.socket());
  greet(a);
  greet(b);
  a.send(frame(blob("a", "3")));
  CHECK(a.answer() == R"({"step":3})");
  CHECK(served.last("a") == 3);
  b.send(frame(blob("b", "")) + frame(blob("b", "")));
  CHECK(b.answer() == R"({"step":0})");
  CHECK(b.answer() == R"({"step":1})");
  a.send(frame(blob("a", "4")));
  CHECK(a.answer() == R"({"step":4})");
}

TEST_CASE("a step that cannot be opened is answered with why, and the next one is taken") {
  Served served;
  served.start();
  LocalProgram program(served.socket());
  greet(program);
  program.send(frame("garbage, but of the length that was announced"));
  CHECK(program.answer().find("error") != std::string::npos);
  program.send(frame(blob("a", "minus one")));
  CHECK(program.answer().find("whole number from 0") != std::string::npos);
  program.send(frame(blob("a", "1")));
  CHECK(program.answer() == R"({"step":1})");
}

TEST_CASE("garbage, silence and floods end their connection alone") {
  Served served;
  served.options.silence_ms = 150;
  served.options.greeting_ms = 300;
  served.options.most_bytes = 1 << 20;
  served.start();
  LocalProgram good(served.socket());
  greet(good);
  SUBCASE("no greeting") {
    LocalProgram bad(served.socket());
    bad.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(bad.answer().find("not the greeting") != std::string::npos);
    CHECK(bad.has_ended());
  }
  SUBCASE("another version") {
    LocalProgram bad(served.socket());
    bad.send(wire_greeting("", 7));
    CHECK(bad.answer().find("version 7") != std::string::npos);
    CHECK(bad.has_ended());
  }
  SUBCASE("silence before the greeting is complete") {
    LocalProgram bad(served.socket());
    bad.send("fove");
    CHECK(bad.answer().find("No greeting came in time") != std::string::npos);
    CHECK(bad.has_ended());
  }
  SUBCASE("silence in the middle of a step") {
    LocalProgram bad(served.socket());
    greet(bad);
    bad.send(frame(blob("a", "1")).substr(0, 100));
    CHECK(bad.answer().find("silent in the middle") != std::string::npos);
    CHECK(bad.has_ended());
  }
  SUBCASE("a step that is too long") {
    LocalProgram bad(served.socket());
    greet(bad);
    bad.send(wire_length(1 << 21));
    CHECK(bad.answer().find("2097152 bytes") != std::string::npos);
    CHECK(bad.has_ended());
  }
  SUBCASE("a flood of steps whose answers are never read") {
    Connection flood(served.options.socket);
    REQUIRE(flood.send_all(wire_greeting("")));
    std::string many;
    for (int i = 0; i < 1000; ++i) many += frame("x");
    const auto is_cut_off = [&] {
      constexpr int at_once = MSG_NOSIGNAL | MSG_DONTWAIT;
      return ::send(flood.descriptor(), many.data(), many.size(), at_once) < 0 && errno == EPIPE;
    };
    CHECK(wait_until(is_cut_off, 20000));
  }
  SUBCASE("too many connections") {
    served.server.reset();
    served.options.most_connections = 3;
    served.start();
    LocalProgram first(served.socket()), second(served.socket()), third(served.socket());
    for (LocalProgram* program : {&first, &second, &third}) greet(*program);
    LocalProgram fourth(served.socket());
    fourth.send(wire_greeting(""));
    const std::string why = fourth.answer();
    CHECK(why.find("3 programs are connected already") != std::string::npos);
    CHECK(why.find(R"("busy":true)") != std::string::npos);  // it may pass
    CHECK(fourth.has_ended());
    first.send(frame(blob("a", "5")));
    CHECK(first.answer() == R"({"step":5})");
    return;
  }
  run_events(400);  // a program that rests between two steps stays connected
  good.send(frame(blob("good", "1")));
  CHECK(good.answer() == R"({"step":1})");
}

TEST_CASE("a program of another user, or of an unknown one, is turned away") {
  Served served;
  std::optional<uid_t> user;
  SUBCASE("another") {
    user = ::geteuid() + 1;
  }
  SUBCASE("unknown") {}
  served.options.peer = [user](int) { return user; };
  served.start();
  LocalProgram program(served.socket());
  program.send(wire_greeting("") + frame(blob("a", "1")));
  CHECK(program.has_ended());
  CHECK(served.last("a") == -1);
}

TEST_CASE("only the user can reach the socket") {
  Served served;
  served.start();
  struct stat status {};
  REQUIRE(::stat(served.options.socket.c_str(), &status) == 0);
  CHECK((status.st_mode & 077) == 0);
}

TEST_CASE("over TCP the token is asked for") {
  Served served;
  served.options.port = 0;
  served.options.token = make_live_token();
  served.start();
  REQUIRE(served.server->port() > 0);
  TcpProgram good(served.server->port());
  good.send(wire_greeting(served.options.token));
  REQUIRE(good.answer().find("version") != std::string::npos);
  std::string other = served.options.token;
  other.back() = other.back() == '0' ? '1' : '0';
  for (const std::string& token : {std::string(), std::string("x"), other}) {
    TcpProgram bad(served.server->port());
    bad.send(wire_greeting(token));
    CHECK(bad.answer().find("token is not the one") != std::string::npos);
    CHECK(bad.has_ended());
  }
  good.send(frame(blob("a", "1")));
  CHECK(good.answer() == R"({"step":1})");
}

TEST_CASE("programs that connect and stay silent keep nobody from the port") {
  Served served;
  served.options.port = 0;
  served.options.token = make_live_token();
  served.options.most_silent = 3;
  served.options.greeting_ms = 600000;
  served.start();
  std::vector<std::unique_ptr<TcpProgram>> silent;
  for (int i = 0; i < 40; ++i)
    silent.push_back(std::make_unique<TcpProgram>(served.server->port()));
  TcpProgram good(served.server->port());
  good.send(wire_greeting(served.options.token));
  CHECK(good.answer().find("version") != std::string::npos);
  CHECK(silent.front()->answer().find("send no greeting") != std::string::npos);
  CHECK(silent.front()->has_ended());
}

TEST_CASE("a frame that takes long to open holds up no other program") {
  Served served;
  std::promise<void> may_go_on;
  const std::shared_future<void> gate = may_go_on.get_future().share();
  const std::thread::id here = std::this_thread::get_id();
  std::atomic<bool> elsewhere = true;
  served.options.open = [&](std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop) {
    elsewhere = elsewhere && std::this_thread::get_id() != here;
    LiveStep step = read_live_step(std::move(bytes), stop);
    if (step.stream == "slow") gate.wait();
    return step;
  };
  served.start();
  LocalProgram slow(served.socket()), quick(served.socket());
  greet(slow);
  greet(quick);
  slow.send(frame(blob("slow", "1")) + frame(blob("quick", "9")));
  for (const char* number : {"1", "2", "3"}) {
    quick.send(frame(blob("quick", number)));
    CHECK(quick.answer() == R"({"step":)" + std::string(number) + "}");
  }
  CHECK(slow.socket.bytesAvailable() == 0);
  may_go_on.set_value();
  CHECK(slow.answer() == R"({"step":1})");
  CHECK(slow.answer() == R"({"step":9})");  // in the order in which they were sent
  CHECK(elsewhere);
}

TEST_CASE("frames under way have one room for all connections") {
  Served served;
  served.options.most_bytes = 1 << 20;  // and a room of one and a half times that
  served.start();
  LocalProgram first(served.socket()), second(served.socket()), third(served.socket());
  for (LocalProgram* program : {&first, &second, &third}) greet(*program);
  const std::string large = frame(std::string(1 << 20, 'x'));
  first.send(large.substr(0, large.size() / 2));
  // What the window knows of the first frame is known when a later small one was answered.
  third.send(frame(blob("a", "1")));
  CHECK(third.answer() == R"({"step":1})");
  second.send(large);
  third.send(frame(blob("a", "2")));
  CHECK(third.answer() == R"({"step":2})");
  CHECK(second.socket.bytesAvailable() == 0);  // waits
  first.send(large.substr(large.size() / 2));
  CHECK(first.answer().find("error") != std::string::npos);
  CHECK(second.answer().find("error") != std::string::npos);  // had its turn
}

TEST_CASE("a step that has arrived whole is kept, even if its program has gone") {
  Served served;
  std::promise<void> arrived, may_go_on;
  served.options.open = [&](std::shared_ptr<const WireBytes> bytes, const std::stop_token& stop) {
    arrived.set_value();
    may_go_on.get_future().wait();
    return read_live_step(std::move(bytes), stop);
  };
  served.start();
  {
    LocalProgram program(served.socket());
    greet(program);
    program.send(frame(blob("a", "7")));
    arrived.get_future().wait();
  }
  LocalProgram later(served.socket());
  greet(later);  // by now the server knows that the other one has gone
  may_go_on.set_value();
  CHECK(wait_until([&] { return served.last("a") == 7; }, 60000));
}

TEST_CASE("a port that is in use is said so") {
  Served first, second;
  first.options.port = 0;
  first.options.token = second.options.token = "t";
  first.start();
  second.options.port = first.server->port();
  CHECK_THROWS_WITH_AS(second.start(), doctest::Contains("--listen"), UnavailableError);
}

TEST_CASE("a stale socket is replaced, a living one is not, and its place is taken later") {
  Served served;
  served.options.takeover_ms = 30;
  {  // a program that died: its socket lies there and nobody listens
    const int dead = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = unix_address(served.options.socket);
    REQUIRE(::bind(dead, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    ::close(dead);
  }
  served.start();
  REQUIRE(served.server->has_socket());
  const auto others = std::make_shared<LiveStreams>();
  LiveServer second(others, served.options);
  CHECK_FALSE(second.has_socket());
  {
    LocalProgram program(served.socket());
    greet(program);
    program.send(frame(blob("a", "1")));
    CHECK(program.answer() == R"({"step":1})");
    CHECK(served.last("a") == 1);
  }
  served.server.reset();
  REQUIRE(wait_until([&] { return second.has_socket(); }));
  LocalProgram program(served.socket());
  greet(program);
  program.send(frame(blob("a", "2")));
  CHECK(program.answer() == R"({"step":2})");
  CHECK(others->stream("a").steps.back().step == 2);
}

TEST_CASE("the folder of the socket must be the user's own") {
  const QTemporaryDir runtime;
  const QByteArray before = qgetenv("XDG_RUNTIME_DIR");
  qputenv("XDG_RUNTIME_DIR", runtime.path().toUtf8());
  const std::string folder = live_folder();
  CHECK(folder == runtime.path().toStdString() + "/fovea");
  struct stat status {};
  REQUIRE(::stat(folder.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0700);
  auto token = std::make_unique<LiveTokenFile>(folder, 7, "secret");
  REQUIRE(::stat(token->path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  ::chmod(folder.c_str(), 0755);
  CHECK_THROWS_WITH_AS(live_folder(), doctest::Contains("can be entered by others"),
                       UnavailableError);
  token.reset();
  REQUIRE(::rmdir(folder.c_str()) == 0);
  REQUIRE(::symlink("/tmp", folder.c_str()) == 0);
  CHECK_THROWS_WITH_AS(live_folder(), doctest::Contains("is not a folder"), UnavailableError);
  qputenv("XDG_RUNTIME_DIR", before);
  if (before.isEmpty()) qunsetenv("XDG_RUNTIME_DIR");
}

TEST_CASE("the file of a token goes with its window, or when the next one starts") {
  const QTemporaryDir runtime;
  const std::string folder = runtime.path().toStdString(), killed = folder + "/token-9";
  std::ofstream(killed) << "of a window that was killed\n";
  std::ofstream(folder + "/other") << "of another program\n";
  std::string path;
  {
    const LiveTokenFile token(folder, 8, "secret");
    path = token.path();
    remove_old_live_tokens(folder);
    CHECK(::access(path.c_str(), F_OK) == 0);
    CHECK(::access(killed.c_str(), F_OK) != 0);
    CHECK(::access((folder + "/other").c_str(), F_OK) == 0);
  }
  CHECK(::access(path.c_str(), F_OK) != 0);
}

TEST_CASE("the file of a token needs no locks, and is made again where another window takes it") {
  constexpr int many = 1000;
  const QTemporaryDir runtime;
  const std::string folder = runtime.path().toStdString();
  for (const auto& [error, times] : {std::pair{ENOLCK, many}, std::pair{EWOULDBLOCK, 3}}) {
    writing_calls = {.lock_error = error, .bad_locks = times};
    const LiveTokenFile token(folder, 8, "secret");
    std::ifstream file(token.path());
    std::string kept;
    std::getline(file, kept);
    CHECK(kept == "secret");
  }
  writing_calls = {.lock_error = EWOULDBLOCK, .bad_locks = many};
  CHECK_THROWS_WITH_AS(LiveTokenFile(folder, 8, "secret"), doctest::Contains("token-8 cannot be"),
                       UnavailableError);
  CHECK(writing_calls.bad_locks > many - 100);
  writing_calls = {};
}

TEST_CASE("tokens are long, different each time, and compared whole") {
  CHECK(make_live_token().size() == 64);
  CHECK(make_live_token() != make_live_token());
  CHECK(same_token("abc", "abc"));
  CHECK_FALSE(same_token("abc", "abd"));
  CHECK_FALSE(same_token("abc", "ab"));
}

}  // namespace fovea::test
