#include "cli/bench/interaction.h"

#include <sys/resource.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QMouseEvent>
#include <QThread>
#include <algorithm>
#include <array>
#include <cmath>

#include "data/error.h"
#include "study/background.h"
#include "window/main_window.h"
#include "window/run_window.h"

namespace fovea {
namespace {

constexpr QSize window_size{1600, 1000};
constexpr double most_one_to_one = 512;  // tokens of a view entry by entry
constexpr int places = 3;                // where the path zooms in to single entries

double ms_of(const QElapsedTimer& clock) {
  return static_cast<double>(clock.nsecsElapsed()) * 1e-6;
}

// The longest time between two turns of the event loop.
class Gaps : public QObject {
 public:
  Gaps() {
    since_.start();
    startTimer(1);
  }
  double longest_ms() const { return longest_; }

 protected:
  void timerEvent(QTimerEvent*) override {
    longest_ = std::max(longest_, ms_of(since_));
    since_.restart();
  }

 private:
  QElapsedTimer since_;
  double longest_ = 0;
};

class Path {
 public:
  Path(const std::string& source, const BackendChoice& backend, std::function<bool()> stop)
      : stop_(std::move(stop)), window_(make_low_priority_backend(backend)) {
    figures_.source = source;
    window_.resize(window_size);
    window_.show();
    QObject::connect(&window_.canvas(), &Canvas::frame_painted, &window_, [this] {
      ++frames_;
      painted_ = study().model();
      longest_own_ = std::max(longest_own_, window_.canvas().last_frame_ms());
    });
  }

  InteractionFigures follow() {
    draw_empty();
    QElapsedTimer since_open;
    since_open.start();
    open(since_open);
    explore();
    zoom_at_rest();
    hover();
    wait_for_exact(since_open);
    change_heads();
    close();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    figures_.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
    return std::move(figures_);
  }

 private:
  Study& study() { return window_.study(); }

  template <class Done>
  void wait_until(Done done, const char* what, double limit_s) {
    QElapsedTimer clock;
    clock.start();
    while (!done()) {
      if (stop_()) throw Cancelled();
      if (clock.elapsed() > static_cast<qint64>(1000 * limit_s))
        throw UnavailableError(std::string("bench --interaction: no ") + what + " within " +
                               std::to_string(static_cast<int>(limit_s)) + " s");
      QApplication::processEvents();
      QThread::usleep(500);  // the cores are for the work that is waited for
    }
  }

  void draw_empty() {
    for (int i = 0; i < 40; ++i) {
      QElapsedTimer clock;
      clock.start();
      const int before = frames_;
      window_.canvas().update();
      wait_until([&] { return frames_ > before; }, "frame", 10);
      // The first frames make textures and fonts.
      if (i >= 10) figures_.empty_ms.push_back(ms_of(clock));
    }
    figures_.width = window_.canvas().width();
    figures_.height = window_.canvas().height();
  }

  bool is_painted() { return painted_ && painted_ == study().model(); }

  bool has_map() {
    const auto model = study().model();
    if (!model || model->lengths != study().lengths() || model->is_empty()) return false;
    for (const auto& row : model->cells)
      for (const CanvasCell& cell : row)
        if (cell.panel && std::holds_alternative<Raster>(cell.panel->body)) return true;
    return false;
  }

  void open(const QElapsedTimer& since) {
    QString problem;
    const auto report = QObject::connect(&study(), &Study::reported, &window_,
                                         [&](const QString& message) { problem = message; });
    double read_ms = 0;
    const auto arrived =
        QObject::connect(&study(), &Study::opened, &window_, [&] { read_ms = ms_of(since); });
    window_.open(QString::fromStdString(figures_.source));
    wait_until(
        [&] {
          if (!problem.isEmpty()) throw InputError("", problem.toStdString());
          return has_map() && is_painted();
        },
        "first map", 60);
    figures_.estimate_ms = ms_of(since);
    figures_.first_look_ms = figures_.estimate_ms - read_ms;
    QObject::disconnect(report);
    QObject::disconnect(arrived);
    figures_.n = study().length();
    figures_.d = study().problem() ? study().problem()->d() : 0;
    figures_.device = study().backend().device();
    wait_until([&] { return study().panels_ready() && is_painted(); }, "picture in every panel",
               120);
  }

  /// Milliseconds until `done`, from a change.
  template <class Change, class Done>
  double time_until(Change change, Done done, const char* what, double limit_s) {
    QElapsedTimer clock;
    clock.start();
    change();
    wait_until(done, what, limit_s);
    return ms_of(clock);
  }

  void look_at(double row, double col, double span) {
    const double n = figures_.n;
    span = std::min(span, n);
    row = std::clamp(row - span / 2, 0.0, n - span);
    col = std::clamp(col - span / 2, 0.0, n - span);
    const Viewport wanted{row, row + span, col, col + span};
    if (wanted == painted_->viewport) return;
    figures_.frame_ms.push_back(time_until(
        [&] { window_.change("path", [&](Session& session) { session.viewport = wanted; }); },
        [&] { return painted_->viewport == wanted; }, "frame", 10));
    figures_.own_ms.push_back(window_.canvas().last_frame_ms());
  }

  bool is_sharp() { return study().fully_refined() && study().panels_ready() && is_painted(); }

  void zoom_at_rest() {
    const auto n = static_cast<double>(figures_.n);
    double span = n;
    for (int step = 0; step < 8; ++step) {
      span *= 0.9;
      wait_until([&] { return is_sharp(); }, "sharp view", 120);
      QElapsedTimer clock;
      clock.start();
      look_at(n / 3, n / 3, span);
      figures_.zoom_ms.push_back(ms_of(clock));
      wait_until([&] { return is_sharp(); }, "sharp view", 120);
      figures_.sharp_ms.push_back(ms_of(clock));
    }
    look_at(n / 2, n / 2, n);
  }

  void hover() {
    wait_until([&] { return is_sharp(); }, "sharp view", 120);
    Canvas& canvas = window_.canvas();
    const QRectF panel = canvas.panel_place(0, 1);
    for (int step = 1; step <= 30; ++step) {
      const QPointF at = panel.topLeft() +
                         QPointF(panel.width() * step / 31, panel.height() * (step * 7 % 31) / 31);
      const int before = frames_;
      figures_.hover_ms.push_back(time_until(
          [&] {
            QMouseEvent move(QEvent::MouseMove, at, canvas.mapToGlobal(at), Qt::NoButton,
                             Qt::NoButton, Qt::NoModifier);
            QCoreApplication::sendEvent(&canvas, &move);
          },
          [&] { return frames_ > before; }, "frame", 10));
    }
  }

  void change_heads() {
    const auto source = study().source();
    const Index layer = study().session().layer, heads = source->layers[layer].heads();
    if (heads < 2) return;
    for (Index step = 1; step <= 12; ++step) {
      wait_until([&] { return is_sharp(); }, "sharp view", 120);
      const Index head = step % heads;
      const auto before = study().model();  // stays on the screen for a moment
      const auto is_of_head = [&] {
        const auto exact = study().exact();
        return exact && exact->key.head.choice.head == head && is_painted() && painted_ != before;
      };
      QElapsedTimer clock;
      clock.start();
      window_.editor().choose_head(layer, head);
      wait_until(
          [&] {
            const CanvasCell& cell = painted_->cells[0][0];
            return is_of_head() && cell.panel && cell.status.empty() && !cell.stale;
          },
          "picture of another head", 120);
      figures_.head_ms.push_back(ms_of(clock));
      wait_until([&] { return is_of_head() && study().pictures_ready(); }, "all pictures", 120);
      figures_.all_of_head_ms.push_back(ms_of(clock));
    }
  }

  void explore() {
    const double n = figures_.n;
    const double one_to_one = std::min(most_one_to_one, std::max(8.0, std::floor(n / 4)));
    figures_.one_to_one = static_cast<Index>(one_to_one);
    for (int place = 0; place < places; ++place) {
      const double row = n * (place + 1) / (places + 1), col = n * (places - place) / (places + 1);
      double span = n;
      for (; span > one_to_one; span *= 0.8) look_at(row, col, span);
      for (int step = 0; step < 20; ++step)  // half a view to the right
        look_at(row, col + one_to_one * 0.025 * step, one_to_one);
      QElapsedTimer clock;
      clock.start();
      wait_until([&] { return study().fully_refined() && is_painted(); }, "settled view", 120);
      figures_.settled_ms.push_back(ms_of(clock));
      for (span = one_to_one; span < n; span *= 1.6) look_at(row, col, span);
      look_at(n / 2, n / 2, n);
    }
  }

  void wait_for_exact(const QElapsedTimer& since) {
    longest_own_ = 0;
    Gaps gaps;
    const auto exact = [&] { return study().exact() && study().exact()->computation->applied(); };
    wait_until([&] { return exact(); }, "exact attention", 1800);
    figures_.exact_s = ms_of(since) * 1e-3;
    figures_.filling_gap_ms = gaps.longest_ms();
    figures_.filling_own_ms = longest_own_;
  }

  // Closes the window while everything is computed again.
  void close() {
    window_.change("path", [&](Session& session) {
      session.conditions.causal =
          !session.conditions.causal.value_or(study().problem() && study().problem()->causal);
    });
    QElapsedTimer waiting;
    waiting.start();
    wait_until([&] { return waiting.elapsed() > 700; }, "work", 10);
    QElapsedTimer clock;
    clock.start();
    window_.close();
    wait_until([&] { return !study().status().busy(); }, "end of the work", 30);
    figures_.closing_ms = ms_of(clock);
  }

  std::function<bool()> stop_;
  InteractionFigures figures_;
  int frames_ = 0;
  std::shared_ptr<const CanvasModel> painted_;  // by the last of them
  double longest_own_ = 0;
  MainWindow window_;
};

}  // namespace

InteractionFigures measure_interaction(const std::string& source, const BackendChoice& backend,
                                       const std::function<bool()>& stop) {
  int argc = 1;
  std::array<char, 6> name{"fovea"};
  std::array<char*, 2> argv{name.data(), nullptr};
  const auto application = start_application(argc, argv.data());
  // Keeps away from the settings of the person at this machine.
  QApplication::setOrganizationName("Fovea bench");
  QApplication::setApplicationName("Fovea interaction");
  return Path(source, backend, stop).follow();
}

}  // namespace fovea
