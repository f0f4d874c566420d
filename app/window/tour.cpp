#include "window/tour.h"

#include <QDockWidget>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QSettings>
#include <QToolBar>
#include <algorithm>
#include <array>

#include "figure/painter_ink.h"
#include "window/main_window.h"
#include "window/widgets/form.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

/// Draws a line around what a bubble is about, and lets the pointer through.
class Frame : public QWidget {
 public:
  explicit Frame(QWidget* parent) : QWidget(parent) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAttribute(Qt::WA_NoSystemBackground);
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(qcolor(window_style().accent), 2));
    painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
  }
};

QRect within(const MainWindow& window, const QWidget& part, const QRect& of_part) {
  return {part.mapTo(&window, of_part.topLeft()), of_part.size()};
}

QRect whole(const MainWindow& window, const QWidget* part) {
  return part && part->isVisible() ? within(window, *part, part->rect()) : QRect();
}

QRect canvas_part(MainWindow& window, const QRectF& part) {
  return within(window, window.canvas(), part.toAlignedRect() & window.canvas().rect());
}

QRect dock(MainWindow& window, const char* name) {
  return whole(window, window.findChild<QDockWidget*>(name));
}

/// The panel of a row in the column that is compared with exact attention first.
QRectF panel(MainWindow& window, int row) {
  return window.canvas().panel_place(row, 1);
}

struct Stop {
  QString title, text;
  QRect (*place)(MainWindow& window);
};

const std::array<Stop, 6>& all_stops() {
  static const std::array<Stop, 6> stops{
      Stop{"One head, several attentions",
           "Each column shows the same attention head. The first one is exact; the others "
           "approximate it as their papers do. The first row is the attention P, from each query "
           "down to each key across. The second row is the error: what an approximation gives too "
           "little or too much.",
           [](MainWindow& window) { return whole(window, &window.canvas()); }},
      Stop{"How wrong, and at what cost",
           "Two numbers lead each column: the relative error of the output, and the multiply-adds "
           "as a share of those of exact attention. Click the parameters below them to change "
           "them. A click on the title selects the column.",
           [](MainWindow& window) {
             const QRectF first = panel(window, 0);
             return canvas_part(window, {first.x() - 4, 0, first.width() + 8, first.y()});
           }},
      Stop{"Look closer",
           "Point at a panel: the same pair of tokens is marked in all of them. The wheel zooms, "
           "a drag with the right button moves, a double click enlarges. A click pins a query; "
           "hold Shift to see exact attention in every column. The name of a row opens its "
           "settings, and other views such as masks, ranks and trees.",
           [](MainWindow& window) { return canvas_part(window, panel(window, 0)); }},
      Stop{"Where it fails",
           "Here is all about the selected column: its error, cost and time, the query that it "
           "serves worst, and the keys that this query lost and gained. Q goes from one bad query "
           "to the next. The parameters are below.",
           [](MainWindow& window) { return dock(window, "Column"); }},
      Stop{"Your own text",
           "Type a text, or drop a text, an image, a model or a capture on the window. Every head "
           "of the model is here as a small picture; a click opens it.",
           [](MainWindow& window) { return dock(window, "Input"); }},
      Stop{"Decide, and show it",
           "“Which attention?” tries every variant and setting on this head, or on all heads. The "
           "strip below the canvas has tables, times and what a replacement does to the model's "
           "own output. “Export” makes the figure for your paper.",
           [](MainWindow& window) { return whole(window, window.findChild<QToolBar*>()); }}};
  return stops;
}

}  // namespace

Tour::Tour(MainWindow& window) : QFrame(&window), window_(window), frame_(new Frame(&window)) {
  setObjectName("tour");
  setAccessibleName("Tour");
  setAutoFillBackground(true);
  setFixedWidth(360);
  auto* column = make_inner<QVBoxLayout>(this);
  column->setContentsMargins(16, 12, 16, 12);
  column->addWidget(title_ = make_heading());
  column->addWidget(text_ = make_note());
  set_style(*text_, "value");
  auto* line = make_inner<QHBoxLayout>();
  line->addWidget(count_ = make_note(), 1);
  const auto add = [&](const QString& text, auto act) {
    auto* button = new QPushButton(text);
    button->setAutoDefault(true);  // Enter presses it
    connect(button, &QPushButton::clicked, this, act);
    line->addWidget(button);
    return button;
  };
  add("&Leave", [this] { leave(); });
  back_ = add("&Back", [this] { go_to(stop_ - 1); });
  next_ = add("&Next", [this] { go_to(stop_ + 1); });
  column->addLayout(line);
  frame_->hide();
  hide();
  window.installEventFilter(this);
  // What a bubble is about may come later than the bubble.
  connect(&window.study(), &Study::model_changed, this, &Tour::place);
}

int Tour::stops() {
  return int(all_stops().size());
}

void Tour::start() {
  QSettings().setValue("tour/seen", true);
  show();
  go_to(0);
}

void Tour::start_once() {
  if (!QSettings().value("tour/seen").toBool()) start();
}

void Tour::leave() {
  hide();
  frame_->hide();
  window_.canvas().setFocus();
}

void Tour::go_to(int stop) {
  if (stop < 0) return;
  if (stop >= stops()) return leave();
  stop_ = stop;
  const Stop& shown = all_stops()[stop];
  title_->setText(shown.title);
  text_->setText(shown.text);
  setAccessibleDescription(shown.title + ". " + shown.text);
  count_->setText(QString("%1 of %2").arg(stop + 1).arg(stops()));
  back_->setEnabled(stop > 0);
  next_->setText(stop + 1 == stops() ? "&Done" : "&Next");
  place();
  // Once more when the words have their lines.
  QMetaObject::invokeMethod(this, &Tour::place, Qt::QueuedConnection);
  next_->setFocus(Qt::OtherFocusReason);
}

/// Puts the bubble beside what it is about, where there is most room, inside of the window.
void Tour::place() {
  if (isHidden()) return;
  for (QLabel* label : findChildren<QLabel*>()) label->ensurePolished();  // fonts have their sizes
  layout()->invalidate();
  resize(width(), heightForWidth(width()));
  constexpr int gap = 12;
  const QRect room = window_.rect().adjusted(gap, gap, -gap, -gap);
  const QRect about = all_stops()[stop_].place(window_);
  frame_->setGeometry(about.adjusted(-3, -3, 3, 3));
  frame_->setVisible(!about.isEmpty());
  QPoint at{about.center().x() - width() / 2, about.bottom() - height() - 4 * gap};
  if (about.left() - gap - width() >= room.left())
    at = {about.left() - gap - width(), about.top() + gap};
  else if (about.right() + gap + width() <= room.right())
    at = {about.right() + gap, about.top() + gap};
  else if (about.bottom() + gap + height() <= room.bottom())
    at = {about.left() + gap, about.bottom() + gap};
  move(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() - width())),
       std::clamp(at.y(), room.top(), std::max(room.top(), room.bottom() - height())));
  frame_->raise();
  raise();
}

bool Tour::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) place();
  return QFrame::eventFilter(watched, event);
}

}  // namespace fovea

#include "moc_tour.cpp"
