#include "window/harness.h"

#include <doctest/doctest.h>

#include <QAction>
#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QDropEvent>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QTableWidget>
#include <QTest>
#include <QUrl>
#include <algorithm>

#include "data/address.h"
#include "everything_in.h"
#include "study/background.h"
#include "temporary_directory.h"
#include "views/views.h"
#include "window/row_settings.h"

namespace fovea::test {

bool wait_until(const std::function<bool()>& done, int limit_ms) {
  return QTest::qWaitFor(done, limit_ms);
}

Window::Window(const QString& what, QSize size, const QString& look) {
  QSettings().clear();  // of the tests' own organisation
  QSettings().setValue("look", look);
  window_ = std::make_unique<MainWindow>(make_low_priority_backend());
  window_->resize(size);
  window_->show();
  // Where the last test left the pointer it would not move again.
  QCursor::setPos(window_->mapToGlobal(QPoint(0, 0)));
  window_->open(what);
  REQUIRE_MESSAGE(settle(), "not everything is drawn of " << what.toStdString());
  show_ranks();
}

// Most tests look at masks and ranks, too, which are not shown at first.
void Window::show_ranks() {
  constexpr Index longest = 1024;  // ranks of longer heads take many seconds
  Session session = study().session();
  if (session.views != first_views() || study().length() > longest) return;
  for (const char* view : {"mask", "rank"}) session.views.push_back(find_view(view));
  study().set_session(session);
  window_->editor().start();  // no step that can be undone
  REQUIRE_MESSAGE(settle(), "not every rank is drawn");
}

RowSettings& Window::row_settings(View view) {
  window_->row_settings().open_at({200, 200}, row_of(*this, view));
  return window_->row_settings();
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

// A session of a text elsewhere is opened without a question if it holds the SHA-256 of the text,
// which is known a moment after the text is opened.
bool Window::save(const QString& path) {
  const Study& study = window_->study();
  wait_until([&] {
    return !study.source() || is_address(study.session().source) || !study.content_hash().empty();
  });
  return is_written([&] { window_->files().save_session_to(path); });
}

bool Window::export_to(const QString& path, const FigureStyle& style) {
  const bool written = is_written([&] { window_->exports().export_to(path, style); });
  if (written && path.endsWith(".svg")) check_svg(read_bytes(path.toStdString()));
  return written;
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

int column_of(Window& window, const std::string& variant) {
  const auto& columns = window.study().session().columns;
  return int(std::ranges::find(columns, variant, &Column::variant) - columns.begin());
}

int row_of(Window& window, View view) {
  const auto& views = window.study().session().views;
  return int(std::ranges::find(views, view) - views.begin());
}

const Panel& panel(Window& window, View view, int column) {
  const CanvasModel& model = *window.study().model();
  const auto row = std::ranges::find(model.views, view) - model.views.begin();
  return *model.cells.at(std::size_t(row)).at(std::size_t(column)).panel;
}

void show(Window& window, const std::vector<View>& views,
          const std::vector<std::string>& variants) {
  window->change("columns", [&](Session& s) {
    s.views = views;
    s.columns.clear();
    for (const std::string& id : variants)
      s.columns.push_back(
          {.variant = id, .values = values_for_length(find_variant(id), window.study().length())});
  });
}

void leave_out(Window& window, std::initializer_list<Group> groups) {
  for (const Group group : groups)
    for (const Variant* variant : variants_of(group))
      window->findChild<QCheckBox*>("try_" + QString::fromStdString(variant->id))
          ->setChecked(false);
}

bool drop(Window& window, const QString& path) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(path)});
  QDragEnterEvent enter({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&*window, &enter);
  QDropEvent event({10, 10}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&*window, &event);
  return enter.isAccepted();
}

}  // namespace fovea::test
