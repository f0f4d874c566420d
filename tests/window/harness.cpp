#include "window/harness.h"

#include <QAction>
#include <QApplication>
#include <QDir>
#include <QSettings>
#include <QStatusBar>
#include <QTableWidget>
#include <QTest>
#include <QTimerEvent>
#include <algorithm>
#include <ctime>

#include "study/background.h"

namespace fovea::test {

bool wait_until(const std::function<bool()>& done, int limit_ms) {
  return QTest::qWaitFor(done, limit_ms);
}

Window::Window(const QString& what, QSize size) {
  QSettings().clear();  // of the tests' own organisation
  window_ = std::make_unique<MainWindow>(make_low_priority_backend());
  window_->resize(size);
  window_->show();
  window_->open(what);
  settle();
}

void Window::shoot(const QString& name) {
  QTest::qWait(100);  // two frames
  QDir().mkpath(FOVEA_SHOTS);
  window_->grab().save(QString(FOVEA_SHOTS) + "/" + name + ".png");
}

bool Window::is_written(const std::function<void()>& write) {
  window_->info_bar().hide();
  write();
  const auto message = [this] { return window_->info_bar().message(); };
  wait_until([&] {
    return window_->statusBar()->currentMessage().startsWith("Wrote") || !message().isEmpty();
  });
  return message().isEmpty();
}

bool Window::save(const QString& path) {
  return is_written([&] { window_->files().save_session_to(path); });
}

bool Window::export_to(const QString& path, const FigureStyle& style) {
  return is_written([&] { window_->files().export_to(path, style); });
}

void Window::trigger(const QString& action) {
  window_->findChild<QAction*>(action)->trigger();
}

QString Window::timing_text() {
  const QTableWidget& table = *window_->docks().timing;
  QStringList texts;
  for (int column = 0; column < table.columnCount(); ++column) {
    texts << table.horizontalHeaderItem(column)->toolTip();
    for (int row = 0; row < table.rowCount(); ++row)
      texts << table.item(row, column)->text() << table.item(row, column)->toolTip();
  }
  return texts.join("\n");
}

void Window::close() {
  window_->close();
  window_.reset();
}

namespace {
double worked_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return double(t.tv_sec) * 1e3 + double(t.tv_nsec) * 1e-6;
}
}  // namespace

GapMeter::GapMeter() : worked_(worked_ms()) {
  since_.start();
  startTimer(1, Qt::PreciseTimer);
}

void GapMeter::timerEvent(QTimerEvent*) {
  longest_ = std::max(longest_, double(since_.nsecsElapsed()) * 1e-6);
  since_.start();
  busiest_ = std::max(busiest_, worked_ms() - worked_);
  worked_ = worked_ms();
}

}  // namespace fovea::test
