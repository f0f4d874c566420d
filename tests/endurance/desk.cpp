#include "endurance/desk.h"

#include <QElapsedTimer>
#include <QTest>

#include "window/run_window.h"

namespace fovea::test {
namespace {

// Small limits: streams reach them within minutes and then add no more to memory.
constexpr LiveLimits limits{.most_bytes = 512u << 10, .most_streams = 8, .most_steps = 30};
constexpr std::size_t most_windows = 3;

}  // namespace

Desk::Desk(RunLog& log, const QString& folder, int slow)
    : log_(log),
      files_(folder),
      slow_(slow),
      socket_(folder + "/live.sock"),
      draws_(std::make_unique<Draws>(0, 0)),
      streams_(std::make_shared<LiveStreams>(limits)),
      server_(std::make_shared<LiveServer>(streams_,
                                           LiveServerOptions{.socket = socket_.toStdString()})) {}

void Desk::begin_action(int number, const std::string& name, std::uint64_t seed) {
  log_.begin_action(number, name);
  draws_ = std::make_unique<Draws>(seed, std::uint64_t(number));
}

std::vector<MainWindow*> Desk::windows() const {
  std::vector<MainWindow*> open;
  for (const auto& window : windows_)
    if (window && window->isVisible()) open.push_back(window);
  return open;
}

MainWindow& Desk::window() {
  if (windows().empty()) open_windows({});
  return *draws_->one_of(windows());
}

void Desk::open_windows(const std::vector<std::string>& what) {
  if (windows().size() >= most_windows) return;
  for (MainWindow* window : fovea::open_windows(what, {}, background_, streams_)) {
    window->live_bar().set_listening([server = server_] { return server->has_socket(); });
    windows_.emplace_back(window);
  }
  std::erase_if(windows_, [](const auto& window) { return window.isNull(); });
}

void Desk::close(MainWindow& window) {
  const QPointer<MainWindow> closed = &window;
  window.close();
  if (!wait_until([&] { return closed.isNull(); }, 60000))
    log_.failure("a window that was closed is still there");
}

bool Desk::wait_until(const std::function<bool()>& done, int limit_ms) {
  return QTest::qWaitFor(done, limit_ms * slow_);
}

void Desk::wait(int ms) {
  QTest::qWait(ms);
}

}  // namespace fovea::test
