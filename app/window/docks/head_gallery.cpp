#include "window/docks/head_gallery.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>
#include <QSettings>
#include <QStyledItemDelegate>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "figure/painter_ink.h"
#include "window/widgets/form.h"
#include "window/widgets/number_header.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"
#include "window/widgets/weight_picture.h"

namespace fovea {
namespace {

constexpr int flowing_side = 50;     // about: cells that flow fill their rows
constexpr double most_bytes = 64e6;  // of pictures: twice those of the largest screen
constexpr int sort_pause_ms = 250;   // cells that change places all the time cannot be read

class CellDelegate : public QStyledItemDelegate {
 public:
  explicit CellDelegate(HeadGallery& gallery) : QStyledItemDelegate(&gallery), gallery_(gallery) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override {
    gallery_.draw(*painter, option.rect, index);
  }

 private:
  HeadGallery& gallery_;
};

NumberHeader& numbers(QHeaderView* header) {
  return *static_cast<NumberHeader*>(header);
}

}  // namespace

HeadGallery::HeadGallery(Study& study, SessionEditor& editor)
    : study_(study), editor_(editor), bars_(study), cells_(study, bars_, this) {
  setObjectName("heads");
  setAccessibleName("Heads");
  setModel(&cells_);
  setHorizontalHeader(new NumberHeader(Qt::Horizontal, this));
  setVerticalHeader(new NumberHeader(Qt::Vertical, this));
  setItemDelegate(new CellDelegate(*this));
  setSelectionMode(NoSelection);
  setShowGrid(false);
  setCornerButtonEnabled(false);
  setTabKeyNavigation(false);
  setHorizontalScrollMode(ScrollPerPixel);
  setVerticalScrollMode(ScrollPerPixel);
  sort_timer_.setSingleShot(true);
  sort_timer_.setInterval(sort_pause_ms);
  const auto open = [this](const QModelIndex& cell) {
    if (const auto head = cells_.head_in(cell)) editor_.choose_head(head->first, head->second);
  };
  connect(this, &QTableView::clicked, this, open);
  connect(this, &QTableView::activated, this, open);
  connect(&sort_timer_, &QTimer::timeout, this, &HeadGallery::refresh);
  connect(&study, &Study::cards_changed, this, &HeadGallery::cards_changed);
  connect(&study, &Study::opened, this, [this](bool new_source) {
    if (new_source) pictures_.clear();  // else old ones stay until there are newer ones
  });
}

void HeadGallery::set_layer(std::optional<Index> layer) {
  Followed now{study_.source(), study_.session(), study_.selected_column()};
  now.session.viewport = {};  // each step of a pan changes it
  now.session.pinned_query.reset();
  if (std::exchange(layer_, layer) == layer && now == followed_) return;
  followed_ = std::move(now);
  refresh();
}

void HeadGallery::set_order(HeadOrder order) {
  order_ = order;
  refresh();
  if (order_ != HeadOrder::index) verticalScrollBar()->setValue(0);  // what leads the list
}

void HeadGallery::set_bars(std::optional<std::size_t> measure) {
  bars_.choose(measure);
  viewport()->update();
}

bool HeadGallery::fits_grid(const Source& source) const {
  return !layer_ && order_ == HeadOrder::index &&
         std::ssize(source.layers) + study_.layers_to_come() > 1 &&
         std::ranges::all_of(source.layers, [&](const Layer& layer) {
           return layer.heads() == source.layers.front().heads();
         });
}

// Heads without a card come last, and so do those whose measure is not defined.
double HeadGallery::measure(const Head& head) const {
  if (order_ == HeadOrder::error) {
    const double error = study_.head_error(head.first, head.second).value_or(-1);
    return std::isnan(error) ? -1 : error;
  }
  const auto card = study_.card(head.first, head.second);
  if (!card) return -1;
  const double measure = order_ == HeadOrder::entropy ? card->entropy : card->density;
  return std::isnan(measure) ? -1 : measure;
}

void HeadGallery::refresh() {
  const auto source = study_.source();
  if (!source) return;
  std::vector<std::pair<double, Head>> measured;
  for (Index l = 0; l < std::ssize(source->layers); ++l)
    for (Index h = 0; (!layer_ || *layer_ == l) && h < source->layers[l].heads(); ++h)
      measured.push_back({order_ == HeadOrder::index ? 0 : measure({l, h}), {l, h}});
  std::ranges::stable_sort(measured, std::greater{}, [](const auto& entry) { return entry.first; });
  std::vector<Head> heads;
  for (const auto& [_, head] : measured) heads.push_back(head);
  if (study_.session().settings.colormap != colormap_)
    for (auto& [_, picture] : pictures_) picture.image = {};
  colormap_ = study_.session().settings.colormap;
  lay_out(source, std::move(heads));
  const Head now{study_.session().layer, study_.session().head};
  if (std::exchange(opened_, now) != now) {
    const QModelIndex cell = cells_.cell_of(now);
    setCurrentIndex(cell);
    scrollTo(cell);
  }
  numbers(horizontalHeader()).mark(is_grid_ ? int(now.second) : -1);
  numbers(verticalHeader()).mark(is_grid_ ? int(now.first) : -1);
  viewport()->update();
  choose_cards();
  say_share();
}

// Only what changed is drawn again: thousands of cells can be in sight.
void HeadGallery::cards_changed() {
  if (order_ != HeadOrder::index && !sort_timer_.isActive()) sort_timer_.start();
  if (bars_.chosen()) {
    bars_.refresh();
    viewport()->update();
  }
  for_each_in_sight([this](const QModelIndex& cell, const Head& head) {
    const auto card = study_.card(head.first, head.second);
    const auto drawn = pictures_.find(head);
    if (card && (drawn == pictures_.end() || drawn->second.card != card)) update(cell);
  });
}

void HeadGallery::say_share() {
  const std::size_t missing = order_ == HeadOrder::index   ? 0
                              : order_ == HeadOrder::error ? study_.missing_head_errors()
                                                           : study_.missing_cards();
  const auto all = std::size_t(count());
  emit filled(missing == 0 || missing > all ? QString()
                                            : QString("%1 of %2").arg(all - missing).arg(all));
}

template <class Do>
void HeadGallery::for_each_in_sight(Do act) const {
  const QRect seen = viewport()->visibleRegion().boundingRect();
  const int top = rowAt(seen.top()), left = columnAt(seen.left());
  if (seen.isEmpty() || top < 0 || left < 0) return;
  const auto last = [](int found, int all) { return found < 0 ? all - 1 : found; };
  const int bottom = last(rowAt(seen.bottom()), cells_.rowCount()),
            right = last(columnAt(seen.right()), cells_.columnCount());
  for (int row = top; row <= bottom; ++row)
    for (int column = left; column <= right; ++column) {
      const QModelIndex cell = cells_.index(row, column);
      if (const auto head = cells_.head_in(cell)) act(cell, *head);
    }
}

void HeadGallery::choose_cards() {
  if (!study_.source()) return;
  std::vector<Head> heads{opened_};  // which says whether its mask may be causal
  const auto add = [&](const Head& head) {
    if (head != opened_) heads.push_back(head);
  };
  int first = count(), end = count();  // of the cells in sight, which lie together if sorted
  for_each_in_sight([&](const QModelIndex& cell, const Head& head) {
    add(head);
    const int place = cell.row() * cells_.columnCount() + cell.column();
    first = std::min(first, place);
    end = place + 1;
  });
  const std::size_t in_sight = heads.size();
  if (order_ != HeadOrder::index)
    for (int place = 0; place < count(); ++place)
      if (place < first || place >= end) add(head(place));
  study_.choose_cards(std::move(heads), order_ == HeadOrder::error ? in_sight : SIZE_MAX);
}

// Cells of a grid are as large as lets all of them be seen, those that flow about as large as a
// thumb. In a dock the gallery is no higher than what is seen of it.
void HeadGallery::lay_out(std::shared_ptr<const Source> source, std::vector<Head> heads) {
  if (!source) return;
  const auto cursor = cells_.head_in(currentIndex());
  is_grid_ = fits_grid(*source);
  for (QHeaderView* header : {horizontalHeader(), verticalHeader()}) header->setVisible(is_grid_);
  QSize room = size() - QSize(2 * frameWidth(), 2 * frameWidth());
  // Half of what is seen is for the tokens below it.
  if (around_) room.setHeight(std::max(160, around_->viewport()->height() / 2));
  const int all = int(heads.size());
  int columns = is_grid_ ? int(source->layers.front().heads()) : 1;
  QSize margins(0, 0);
  if (is_grid_) {
    const int to_come = int(study_.layers_to_come());
    cells_.lay_out(source, heads, columns, to_come);  // headers are as wide as their numbers
    margins = {numbers(verticalHeader()).room().width(),
               numbers(horizontalHeader()).room().height()};
    verticalHeader()->setFixedWidth(margins.width());
    horizontalHeader()->setFixedHeight(margins.height());
    room -= margins;
    const int rows = cells_.rowCount();
    side_ = zoomed_ ? zoomed_
                    : std::clamp(std::min(room.width() / std::max(1, columns),
                                          room.height() / std::max(1, rows)),
                                 least_side, most_side);
  } else {
    std::tie(side_, columns) = flow(room, all);
    cells_.lay_out(source, std::move(heads), columns);
  }
  for (QHeaderView* header : {horizontalHeader(), verticalHeader()})
    header->setDefaultSectionSize(side_);
  if (cursor) {  // which a new order may take out of sight
    const int scrolled = verticalScrollBar()->value();
    setCurrentIndex(cells_.cell_of(*cursor));
    verticalScrollBar()->setValue(scrolled);
  }
  if (!around_) return;
  const int bar = columns * side_ > room.width() ? horizontalScrollBar()->sizeHint().height() : 0;
  setFixedHeight(std::min(cells_.rowCount() * side_ + bar, room.height()) + margins.height() +
                 2 * frameWidth());
}

std::pair<int, int> HeadGallery::flow(QSize room, int all) const {
  const auto rows = [&](int columns) { return (all + columns - 1) / columns; };
  const auto columns_of = [](int width, int side) { return std::max(1, width / side); };
  if (!zoomed_ && !around_)
    for (int side = most_side; side > flowing_side; --side)
      if (rows(columns_of(room.width(), side)) * side <= room.height())
        return {side, columns_of(room.width(), side)};
  const int wanted = zoomed_ ? zoomed_ : flowing_side;
  int width = room.width();
  if (rows(columns_of(width, wanted)) * wanted > room.height())
    width -= verticalScrollBar()->sizeHint().width();
  const int columns = columns_of(width, wanted);
  return {zoomed_ ? zoomed_ : std::clamp(width / columns, least_side, most_side), columns};
}

QString HeadGallery::zoom_setting() const {
  return around_ ? "heads/cell" : "heads/cell_in_window";
}

void HeadGallery::zoom(double factor, QPoint around) {
  const auto head = cells_.head_in(indexAt(around));
  const QPointF share = head ? QPointF(around - place_of(*head).topLeft()) / side_ : QPointF();
  const int step = factor > 1 ? 1 : -1;
  zoomed_ = std::clamp(factor > 1 ? std::max(side_ + step, int(std::lround(side_ * factor)))
                                  : std::min(side_ + step, int(std::lround(side_ * factor))),
                       least_side, most_side);
  QSettings().setValue(zoom_setting(), zoomed_);
  lay_out(cells_.source(), cells_.heads());
  if (!head) return;
  updateGeometries();
  const QPoint moved = place_of(*head).topLeft() + (share * side_).toPoint() - around;
  horizontalScrollBar()->setValue(horizontalScrollBar()->value() + moved.x());
  verticalScrollBar()->setValue(verticalScrollBar()->value() + moved.y());
}

void HeadGallery::zoom_to_fit() {
  zoomed_ = 0;
  QSettings().remove(zoom_setting());
  lay_out(cells_.source(), cells_.heads());
}

void HeadGallery::leave_dock() {
  if (around_) around_->viewport()->removeEventFilter(this);
  around_ = nullptr;
  setMinimumHeight(0);
  setMaximumHeight(QWIDGETSIZE_MAX);
}

void HeadGallery::showEvent(QShowEvent* event) {
  QScrollArea* around = nullptr;
  for (QWidget* widget = this; widget && !widget->isWindow() && !around;
       widget = widget->parentWidget())
    around = qobject_cast<QScrollArea*>(widget->parentWidget());
  if (around_ != around) leave_dock();
  if (around) around->viewport()->installEventFilter(this);  // again is once
  around_ = around;
  const int kept = QSettings().value(zoom_setting()).toInt();
  zoomed_ = kept > 0 ? std::clamp(kept, least_side, most_side) : 0;
  lay_out(cells_.source(), cells_.heads());
  bars_.show(true);
  QTableView::showEvent(event);
}

void HeadGallery::hideEvent(QHideEvent* event) {
  QTableView::hideEvent(event);
  bars_.show(false);
  // Later: it is also hidden while it moves to another window, and at the end of its own.
  QTimer::singleShot(0, this, &HeadGallery::choose_cards);
}

bool HeadGallery::eventFilter(QObject* watched, QEvent* event) {
  if (around_ && watched == around_->viewport() && event->type() == QEvent::Resize)
    lay_out(cells_.source(), cells_.heads());
  return QTableView::eventFilter(watched, event);
}

void HeadGallery::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  lay_out(cells_.source(), cells_.heads());
}

// What is drawn is what is seen, also when a dock is scrolled in which the gallery lies.
void HeadGallery::paintEvent(QPaintEvent* event) {
  QTableView::paintEvent(event);
  const double bytes = 4.0 * std::pow(side_ * devicePixelRatioF(), 2);
  if (double(pictures_.size()) * bytes > most_bytes) pictures_.clear();
  choose_cards();
}

void HeadGallery::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() != Qt::ControlModifier) return QTableView::wheelEvent(event);
  constexpr double step = 1.15, notch = 120;
  if (event->angleDelta().y() != 0)
    zoom(std::pow(step, event->angleDelta().y() / notch), event->position().toPoint());
  event->accept();
}

// The keys of the canvas zoom here while the gallery has the focus.
bool HeadGallery::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride && is_zoom(*static_cast<QKeyEvent*>(event)))
    event->accept();
  return QTableView::event(event);
}

bool HeadGallery::is_zoom(const QKeyEvent& event) {
  const bool plain = !(event.modifiers() & (Qt::ControlModifier | Qt::AltModifier));
  return plain &&
         (event.key() == Qt::Key_Plus || event.key() == Qt::Key_Minus || event.key() == Qt::Key_0);
}

void HeadGallery::keyPressEvent(QKeyEvent* event) {
  if (!is_zoom(*event)) return QTableView::keyPressEvent(event);
  if (event->key() == Qt::Key_0) return zoom_to_fit();
  const QRect current = visualRect(currentIndex());
  const QRect seen = viewport()->rect();
  constexpr double step = 1.25;
  zoom(event->key() == Qt::Key_Plus ? step : 1 / step,
       seen.intersects(current) ? current.center() : seen.center());
}

// Another button or key than that which opens a head must not open it.
void HeadGallery::mousePressEvent(QMouseEvent* event) {
  const bool beside =
      event->button() == Qt::LeftButton && event->modifiers() == Qt::ControlModifier;
  const auto pointed = cells_.head_in(indexAt(event->position().toPoint()));
  if (beside && pointed) return show_beside(*pointed);
  if (event->button() == Qt::LeftButton) QTableView::mousePressEvent(event);
}

void HeadGallery::contextMenuEvent(QContextMenuEvent* event) {
  const auto chosen = cells_.head_in(
      event->reason() == QContextMenuEvent::Keyboard ? currentIndex() : indexAt(event->pos()));
  if (!chosen) return;
  QMenu menu;
  menu.addAction("Open", &menu, [&] { editor_.choose_head(chosen->first, chosen->second); });
  menu.addAction("Show beside the opened head\tCtrl+click", &menu, [&] { show_beside(*chosen); })
      ->setEnabled(can_be_beside(*chosen));
  menu.exec(event->globalPos());
}

bool HeadGallery::can_be_beside(const Head& head) const {
  const Layer& layer = study_.source()->layers[head.first];
  return !study_.shows_matrix() && layer.has_qk() && layer.lengths() == study_.lengths();
}

void HeadGallery::show_beside(const Head& head) {
  if (can_be_beside(head)) editor_.add_column_of(head.first, head.second);
}

// Left and right continue in the next row.
QModelIndex HeadGallery::moveCursor(CursorAction action, Qt::KeyboardModifiers modifiers) {
  const int by = action == MoveLeft ? -1 : action == MoveRight ? 1 : 0;
  const QModelIndex now = currentIndex();
  if (by == 0 || !now.isValid()) return QTableView::moveCursor(action, modifiers);
  const int place = now.row() * cells_.columnCount() + now.column();
  return cells_.cell(std::clamp(place + by, 0, count() - 1));
}

/// The newest picture that is there.
const HeadGallery::Picture& HeadGallery::picture(const Head& head, int side) {
  Picture& picture = pictures_[head];
  const auto card = study_.card(head.first, head.second);
  if (card && card != picture.card) picture = {card, {}};
  picture.old = picture.card && !card;
  const int pixels = qRound(side * devicePixelRatioF());
  if (!picture.card || picture.image.width() == pixels) return picture;
  const QImage image =
      weight_picture(picture.card->picture, colormap_for(Palette::sequential, colormap_));
  // Where pixels are left out, each counts.
  picture.image =
      image.scaled(pixels, pixels, Qt::IgnoreAspectRatio,
                   pixels < image.width() ? Qt::SmoothTransformation : Qt::FastTransformation);
  return picture;
}

QString HeadGallery::label(const Head& head) const {
  if (order_ == HeadOrder::index || !study_.card(head.first, head.second)) return name(head);
  const double value = measure(head);
  return value < 0 ? "–" : number_text(value, 2);
}

QString HeadGallery::name(const Head& head) const {
  return (layer_ ? QString() : cells_.number_of(head.first) + "·") + QString::number(head.second);
}

void HeadGallery::draw_label(QPainter& painter, QRect box, const Head& head, bool on_picture) {
  painter.setFont(smaller(font()));
  const QString text = label(head), its_name = name(head);
  constexpr int height = 14;
  const auto write = [&](const QString& words, int top) {
    const int width = painter.fontMetrics().horizontalAdvance(words) + 6;
    if (width > box.width() || 2 * height > box.height()) return;
    const QRect line(box.left(), top, width, height);
    if (on_picture) painter.fillRect(line, QColor(0, 0, 0, 170));
    painter.setPen(on_picture ? QColor("#f2f4f7") : qcolor(window_style().faint));
    painter.drawText(on_picture ? line : box, Qt::AlignCenter, words);
  };
  write(text, box.bottom() + 1 - height);
  if (on_picture && text != its_name) write(its_name, box.top());
}

void HeadGallery::draw(QPainter& painter, QRect cell, const QModelIndex& index) {
  const auto head = cells_.head_in(index);
  constexpr double dimmed = 0.4;
  const drawing::Style& style = window_style();
  const int gap = std::clamp(side_ / 8, 1, 6), before = gap / 2;
  QRect box = cell.adjusted(before, before, before - gap, before - gap);
  if (!head) {
    if (!is_grid_) return;
    painter.fillRect(box, qcolor(style.raised));  // its layer is still to come
    const auto old = pictures_.find({index.row(), index.column()});
    if (old == pictures_.end() || old->second.image.isNull()) return;
    painter.setOpacity(dimmed);
    painter.drawImage(box, old->second.image);
    return painter.setOpacity(1);
  }
  const bool opened = *head == Head{study_.session().layer, study_.session().head};
  if (opened) {  // around the picture, whose colours may be those of the frame
    const int frame = side_ < 32 ? 2 : 3;
    painter.fillRect(cell, qcolor(style.accent));
    painter.fillRect(cell.adjusted(frame, frame, -frame, -frame), qcolor(style.paper));
    const int inner = side_ < 32 ? frame : frame + 1;
    box = cell.adjusted(inner, inner, -inner, -inner);
  }
  const Picture& shown = picture(*head, box.width());
  if (!shown.card || shown.old) painter.fillRect(box, qcolor(style.raised));
  if (shown.old) painter.setOpacity(dimmed);
  if (shown.card) painter.drawImage(box, shown.image);
  if (shown.old) painter.setOpacity(1);
  bars_.draw(painter, box, *head);
  if (!is_grid_) draw_label(painter, box, *head, shown.card != nullptr);
  if (!hasFocus() || index != currentIndex()) return;
  painter.setPen(QPen(qcolor(style.paper), 1));
  painter.drawRect(box.adjusted(0, 0, -1, -1));
  painter.setPen(QPen(qcolor(style.text), 1, Qt::DotLine));
  painter.drawRect(box.adjusted(0, 0, -1, -1));
}

}  // namespace fovea

#include "moc_head_gallery.cpp"
