#include "window/docks/sequence_view.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <algorithm>
#include <cmath>
#include <utility>

#include "drawing/colormap.h"
#include "figure/painter_ink.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr Index most_chips = 2048;  // of a longer text only a part is shown
constexpr int chip_height = 20, chip_gap = 4;

std::vector<bool> flags(const std::vector<Index>& tokens, Index n) {
  std::vector<bool> out(tokens.empty() ? 0 : n, false);
  for (const Index token : tokens)
    if (token < n) out[token] = true;
  return out;
}

bool holds(const std::vector<bool>& flags, Index token) {
  return token < std::ssize(flags) && flags[token];
}

}  // namespace

SequenceView::SequenceView(Study& study, SessionEditor& editor, Side side)
    : study_(study), editor_(editor), side_(side) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Tokens");
}

void SequenceView::set_source(std::shared_ptr<const Source> source) {
  source_ = std::move(source);
  row_.reset();
  picture_ = {};
  if (const auto& picture = source_->picture)
    picture_ = QImage(picture->rgb.data(), int(picture->width), int(picture->height),
                      int(3 * picture->width), QImage::Format_RGB888)
                   .copy();
  setAccessibleName(shows_image() ? "Image" : "Tokens");
  layer_ = 0;
  forget_tokens(count_in(0));
}

Index SequenceView::count_in(Index layer) const {
  const Lengths lengths = source_->layers[layer].lengths();
  return side_ == Side::queries ? lengths.queries : lengths.keys;
}

const Sequence& SequenceView::sequence_in(Index layer) const {
  return side_ == Side::queries ? sequence_of(*source_, layer) : key_sequence_of(*source_, layer);
}

void SequenceView::continue_source(std::shared_ptr<const Source> source) {
  const auto before = source_;
  const Sequence& tokens_before = sequence_in(layer_);
  source_ = std::move(source);
  if (sequence_in(layer_).tokens != tokens_before.tokens) forget_tokens(n_);
}

void SequenceView::set_layer(Index layer) {
  const Index n = count_in(layer);
  const bool same = n == n_ && sequence_in(layer).tokens == sequence_in(layer_).tokens;
  layer_ = layer;
  if (!same) forget_tokens(n);
}

void SequenceView::forget_tokens(Index n) {
  n_ = n;
  for (auto* tokens : {&marked_query_, &marked_key_, &found_}) tokens->clear();
  show_part(0);
}

void SequenceView::show_part(Index first) {
  first_ = first;
  chips_size_ = {};
  fit_height();
  update();
}

void SequenceView::set_row(std::shared_ptr<const RowReading> row) {
  if (row == row_) return;
  row_ = std::move(row);
  top_ = row_ && !row_->values.empty() ? *std::ranges::max_element(row_->values) : 0;
  update();
}

void SequenceView::set_numbers(std::vector<float> numbers) {
  if (numbers == numbers_) return;
  numbers_ = std::move(numbers);
  largest_number_ = 0;
  for (const float number : numbers_)
    if (std::isfinite(number)) largest_number_ = std::max(largest_number_, number);
  update();
}

void SequenceView::set_marked(const std::vector<Index>& queries, const std::vector<Index>& keys) {
  auto marked_query = flags(queries, n_), marked_key = flags(keys, n_);
  if (marked_query == marked_query_ && marked_key == marked_key_) return;
  marked_query_ = std::move(marked_query);
  marked_key_ = std::move(marked_key);
  update();
}

void SequenceView::set_found(const std::vector<Index>& tokens) {
  found_ = flags(tokens, n_);
  update();
}

void SequenceView::show_token(Index token) {
  if (token < 0 || token >= n_ || shows_image()) return;
  if (token < first_ || token >= first_ + most_chips) show_part(token / most_chips * most_chips);
  const QPoint at = lay_out(width())[token - first_].box.center().toPoint();
  for (QWidget* above = parentWidget(); above; above = above->parentWidget())
    if (auto* scroll = qobject_cast<QScrollArea*>(above)) {
      const QPoint inside = mapTo(scroll->widget(), at);
      scroll->ensureVisible(inside.x(), inside.y(), 0, 2 * chip_height);
      break;
    }
  update();
}

std::vector<SequenceView::Chip> SequenceView::lay_out(int width) const {
  std::vector<Chip> chips;
  int x = 0, y = 0;
  const QFontMetrics metrics(font());
  for (Index i = first_; i < std::min(n_, first_ + most_chips); ++i) {
    QString text = to_qt(sequence_in(layer_).label(i)).replace('\n', "↵").trimmed();
    if (text.isEmpty()) text = "␣";
    const int w = std::min(metrics.horizontalAdvance(text) + 10, width);
    if (x > 0 && x + w > width) {
      x = 0;
      y += chip_height + chip_gap;
    }
    chips.push_back(
        {i, QRectF(x, y, w, chip_height), metrics.elidedText(text, Qt::ElideRight, width - 10)});
    x += w + chip_gap;
  }
  return chips;
}

int SequenceView::heightForWidth(int width) const {
  if (shows_image())
    return std::clamp(width * picture_.height() / std::max(1, picture_.width()), 32, 2 * width);
  return !source_ || n_ == 0 ? chip_height : int(lay_out(width).back().box.bottom());
}

QRect SequenceView::image_box() const {
  const QSize size = picture_.size().scaled(width(), height(), Qt::KeepAspectRatio);
  return {QPoint((width() - size.width()) / 2, 0), size};
}

std::vector<SequenceView::Chip> SequenceView::lay_out_patches() const {
  const ImageGrid& grid = *source_->sequence.grid;
  const QRectF box = image_box();
  const QSizeF size(box.width() / double(grid.cols), box.height() / double(grid.rows));
  std::vector<Chip> patches;
  for (Index r = 0; r < grid.rows; ++r)
    for (Index c = 0; c < grid.cols; ++c)
      patches.push_back({grid.token_of(r, c),
                         {box.topLeft() + QPointF(c * size.width(), r * size.height()), size}});
  return patches;
}

Index SequenceView::at(QPoint point) const {
  for (const Chip& chip : chips_)
    if (chip.box.contains(point)) return chip.token;
  return -1;
}

// A root, because weights span orders of magnitude and the few large ones should stand out. Tokens
// with less than about 1/1000 of the row's largest weight have no colour.
double SequenceView::shade(Index key) const {
  if (!numbers_.empty()) {
    if (key >= std::ssize(numbers_) || !(largest_number_ > 0)) return 0;
    const float number = numbers_[key];
    return std::isfinite(number) ? number / largest_number_ : 1;
  }
  if (!shows_row() || top_ <= 0) return 0;
  const double w = row_->values[key] / top_;
  const double t = std::pow(std::max(0.0, w), 0.35);
  return t < 0.09 ? 0 : t;
}

Rgb SequenceView::colour_of(double shade) const {
  const Colormap& map = colormap_for(Palette::sequential, study_.session().settings.colormap);
  return map.steps[std::lround(std::clamp(shade, 0.0, 1.0) * 255)];
}

// Scroll areas do not ask for a height that follows from the width: it is fixed here.
void SequenceView::fit_height() {
  if (const int wanted = heightForWidth(width()); wanted != height()) setFixedHeight(wanted);
}
void SequenceView::resizeEvent(QResizeEvent*) {
  fit_height();
}

void SequenceView::paintEvent(QPaintEvent*) {
  if (!source_) return;
  if (std::exchange(chips_size_, size()) != size())
    chips_ = shows_image() ? lay_out_patches() : lay_out(width());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (shows_image())
    paint_image(painter);
  else
    paint_text(painter);
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(qcolor(window_style().accent), 1, Qt::DotLine));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void SequenceView::paint_text(QPainter& painter) {
  const drawing::Style& style = window_style();
  const QRectF seen = visibleRegion().boundingRect();
  for (const Chip& chip : chips_) {
    if (!chip.box.intersects(seen)) continue;
    const double t = shade(chip.token);
    const bool query = side_ == Side::queries && row_ && row_->query == chip.token;
    const Rgb shaded = colour_of(t);
    painter.setBrush(qcolor(t > 0 ? drawing::opaque(shaded) : style.raised));
    painter.setPen(query ? QPen(qcolor(style.warning), 2) : QPen(Qt::NoPen));
    const QRectF box = chip.box.adjusted(1, 1, -1, -1);
    painter.drawRoundedRect(box, 3, 3);
    paint_marks(painter, box, chip.token);
    const drawing::Rgba plain = shows_row() ? style.faint : style.text;
    painter.setPen(qcolor(t > 0 ? drawing::readable_on(shaded) : plain));
    painter.drawText(chip.box, Qt::AlignCenter, chip.text);
  }
}

// A found token is framed. One of the chosen leaf has a bar below it: on the left as a query, on
// the right as a key.
void SequenceView::paint_marks(QPainter& painter, const QRectF& box, Index token) const {
  const drawing::Style& style = window_style();
  if (holds(found_, token)) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(qcolor(style.key), 1.5));
    painter.drawRoundedRect(box, 3, 3);
  }
  const double half = box.width() / 2;
  if (holds(marked_query_, token))
    painter.fillRect(QRectF(box.left(), box.bottom() - 2, half, 3), qcolor(style.marked));
  if (holds(marked_key_, token))
    painter.fillRect(QRectF(box.left() + half, box.bottom() - 2, half, 3), qcolor(style.marked));
}

// Draws the image darkened, and coloured where the row has weight.
void SequenceView::paint_image(QPainter& painter) {
  const QRect box = image_box();
  painter.setRenderHint(QPainter::SmoothPixmapTransform);
  painter.drawImage(box, picture_);
  if (!row_ && numbers_.empty()) return;
  const drawing::Style& style = window_style();
  const Index query = row_ ? row_->query : -1;
  const ImageGrid& grid = *source_->sequence.grid;
  QImage veil(int(grid.cols), int(grid.rows), QImage::Format_ARGB32);
  for (const Chip& patch : chips_) {
    const double t = shade(patch.token);
    QColor colour = t > 0 ? qcolor(drawing::opaque(colour_of(t))) : Qt::black;
    colour.setAlphaF(float(0.35 + 0.45 * t));
    veil.setPixelColor(int(grid.col_of(patch.token)), int(grid.row_of(patch.token)), colour);
  }
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(box, veil);
  QColor lit = qcolor(style.marked);
  lit.setAlphaF(0.55f);
  painter.setBrush(Qt::NoBrush);
  for (const auto& [token, place, text] : chips_) {
    if (holds(marked_query_, token) || holds(marked_key_, token)) painter.fillRect(place, lit);
    if (token != query && token != study_.hovered_key()) continue;
    painter.setPen(QPen(token == query ? qcolor(style.warning) : qcolor(style.accent), 2));
    painter.drawRect(place);
  }
}

void SequenceView::mouseMoveEvent(QMouseEvent* event) {
  if (side_ == Side::keys) return;
  emit query_hovered(at(event->pos()));
}
void SequenceView::leaveEvent(QEvent*) {
  if (side_ == Side::keys) return;
  emit query_hovered(-1);
}
void SequenceView::mousePressEvent(QMouseEvent* event) {
  if (side_ == Side::keys || event->button() != Qt::LeftButton) return;
  if (const Index i = at(event->pos()); i >= 0) editor_.pin(i);
}

void SequenceView::contextMenuEvent(QContextMenuEvent* event) {
  const Index token = at(event->pos());
  if (token < 0) return;
  const Sequence& sequence = sequence_in(layer_);
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  if (side_ == Side::queries)
    menu->addAction(study_.session().pinned_query == token ? "Unpin query" : "Pin query", this,
                    [this, token] { editor_.pin(token); });
  menu->addAction("Copy", this, [text = to_qt(sequence.label(token))] {
    QGuiApplication::clipboard()->setText(text);
  });
  menu->popup(event->globalPos());
}

/// The token before or after another one; in an image the patch above or below; -1 if there is
/// none.
Index SequenceView::below(Index token, Index rows) const {
  const ImageGrid* grid = shows_image() ? &*source_->sequence.grid : nullptr;
  if (!grid || !grid->contains(token)) return token + rows;
  const Index row = grid->row_of(token) + rows;
  return row >= 0 && row < grid->rows ? grid->token_of(row, grid->col_of(token)) : -1;
}

void SequenceView::keyPressEvent(QKeyEvent* event) {
  if (side_ == Side::keys) return QWidget::keyPressEvent(event);
  const Index now = study_.session().pinned_query.value_or(study_.listed_query());
  Index next = -1;
  if (event->key() == Qt::Key_Left) next = now - 1;
  if (event->key() == Qt::Key_Right) next = now + 1;
  if (event->key() == Qt::Key_Up) next = below(now, -1);
  if (event->key() == Qt::Key_Down) next = below(now, 1);
  if (next < 0 || next >= n_) return QWidget::keyPressEvent(event);
  emit query_hovered(-1);  // the pointer may be on another token: it counts when it moves
  editor_.change("pin", [next](Session& s) { s.pinned_query = next; });
  show_token(next);
}

}  // namespace fovea

#include "moc_sequence_view.cpp"
