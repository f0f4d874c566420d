#include "window/docks/sequence_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QScrollArea>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr Index most_chips = 2048;  // of a longer text a part is shown
constexpr int chip_height = 20, chip_gap = 4;

QColor ink_on(const QColor& paper) {
  const double light = 0.299 * paper.redF() + 0.587 * paper.greenF() + 0.114 * paper.blueF();
  return light > 0.55 ? QColor("#101216") : QColor("#e8ebf0");
}

std::vector<bool> flags(const std::vector<Index>& tokens, Index n) {
  std::vector<bool> out(tokens.empty() ? 0 : std::size_t(n), false);
  for (const Index token : tokens)
    if (token < n) out[std::size_t(token)] = true;
  return out;
}

bool holds(const std::vector<bool>& flags, Index token) {
  return token < Index(flags.size()) && flags[std::size_t(token)];
}

QColor mapped(double t, const std::string& id) {
  const Rgb rgb = colormap_for(Palette::sequential, id)
                      .steps[std::size_t(std::lround(std::clamp(t, 0.0, 1.0) * 255))];
  return QColor(rgb[0], rgb[1], rgb[2]);
}

}  // namespace

SequenceView::SequenceView(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Tokens");
}

void SequenceView::set_source(std::shared_ptr<const Source> source) {
  source_ = std::move(source);
  row_.reset();
  n_ = source_ ? source_->layers.front().n() : 0;
  first_ = 0;
  chips_width_ = -1;
  marked_query_.clear();
  marked_key_.clear();
  found_.clear();
  picture_ = {};
  if (source_ && source_->picture) {
    const Picture& p = *source_->picture;
    picture_ =
        QImage(p.rgb.data(), int(p.width), int(p.height), int(3 * p.width), QImage::Format_RGB888)
            .copy();
  }
  setAccessibleName(shows_image() ? "Image" : "Tokens");
  fit_height();
  update();
}

void SequenceView::set_length(Index n) {
  if (n == n_) return;
  n_ = n;
  first_ = 0;
  chips_width_ = -1;
  for (auto* tokens : {&marked_query_, &marked_key_, &found_}) tokens->clear();
  fit_height();
  update();
}

void SequenceView::set_row(std::shared_ptr<const RowReading> row) {
  if (row == row_) return;
  row_ = std::move(row);
  top_ = row_ && !row_->values.empty() ? *std::ranges::max_element(row_->values) : 0;
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
  if (token < first_ || token >= first_ + most_chips) {
    first_ = token / most_chips * most_chips;
    chips_width_ = -1;
    fit_height();
  }
  std::vector<Chip> chips;
  lay_out(width(), &chips);
  for (QWidget* above = parentWidget(); above; above = above->parentWidget())
    if (auto* scroll = qobject_cast<QScrollArea*>(above)) {
      const QPoint at = chips[std::size_t(token - first_)].box.center();
      const QPoint inside = mapTo(scroll->widget(), at);
      scroll->ensureVisible(inside.x(), inside.y(), 0, 2 * chip_height);
      break;
    }
  update();
}

int SequenceView::lay_out(int width, std::vector<Chip>* chips) const {
  int x = 0, y = 0;
  const QFontMetrics metrics(font());
  for (Index i = first_; i < std::min(n_, first_ + most_chips); ++i) {
    QString text = QString::fromStdString(source_->sequence.label(i)).replace('\n', "↵").trimmed();
    if (text.isEmpty()) text = "␣";
    const int w = std::min(metrics.horizontalAdvance(text) + 10, width);
    if (x > 0 && x + w > width) {
      x = 0;
      y += chip_height + chip_gap;
    }
    if (chips)
      chips->push_back(
          {i, QRect(x, y, w, chip_height), metrics.elidedText(text, Qt::ElideRight, width - 10)});
    x += w + chip_gap;
  }
  return y + chip_height;
}

int SequenceView::heightForWidth(int width) const {
  if (!source_) return 24;
  if (shows_image())
    return std::clamp(width * picture_.height() / std::max(1, picture_.width()), 32, 2 * width);
  return lay_out(width, nullptr);
}

QRect SequenceView::image_box() const {
  const QSize size = picture_.size().scaled(width(), height(), Qt::KeepAspectRatio);
  return {QPoint((width() - size.width()) / 2, 0), size};
}

Index SequenceView::at(QPoint point) const {
  if (!source_) return -1;
  if (shows_image()) {
    const ImageGrid& grid = *source_->sequence.grid;
    const QRect box = image_box();
    if (!box.contains(point)) return -1;
    return grid.token_at(double(point.y() - box.top()) / box.height(),
                         double(point.x() - box.left()) / box.width());
  }
  for (const Chip& chip : chips_)
    if (chip.box.contains(point)) return chip.token;
  return -1;
}

// By a root: weights span orders of magnitude, yet the few large ones should stand out. Tokens
// with less than about 1/1000 of the row's largest weight stay without colour.
double SequenceView::shade(Index key) const {
  if (!row_ || key >= Index(row_->values.size()) || top_ <= 0) return 0;
  const double w = row_->values[std::size_t(key)] / top_;
  const double t = std::pow(std::max(0.0, w), 0.35);
  return t < 0.09 ? 0 : t;
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
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (shows_image())
    paint_image(painter);
  else
    paint_tokens(painter);
  if (hasFocus()) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(Theme::current().accent, 1, Qt::DotLine));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void SequenceView::paint_tokens(QPainter& painter) {
  if (chips_width_ != width()) {
    chips_.clear();
    lay_out(width(), &chips_);
    chips_width_ = width();
  }
  const Theme& theme = Theme::current();
  const QRect seen = visibleRegion().boundingRect();
  for (const Chip& chip : chips_) {
    if (!chip.box.intersects(seen)) continue;
    const double t = shade(chip.token);
    const bool query = row_ && row_->query == chip.token;
    const QColor paper = t > 0 ? mapped(t, study_.session().settings.colormap) : theme.raised;
    painter.setBrush(paper);
    painter.setPen(query ? QPen(theme.warning, 2) : QPen(Qt::NoPen));
    const QRectF box = QRectF(chip.box).adjusted(1, 1, -1, -1);
    painter.drawRoundedRect(box, 3, 3);
    paint_marks(painter, box, chip.token);
    painter.setPen(t > 0 ? ink_on(paper) : row_ ? theme.muted : theme.text);
    painter.drawText(chip.box, Qt::AlignCenter, chip.text);
  }
}

/// A found token is framed; one of the chosen leaf has a bar below: left as a query, right as a
/// key.
void SequenceView::paint_marks(QPainter& painter, const QRectF& box, Index token) const {
  const Theme& theme = Theme::current();
  if (holds(found_, token)) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.series[2], 1.5));
    painter.drawRoundedRect(box, 3, 3);
  }
  const double half = box.width() / 2;
  if (holds(marked_query_, token))
    painter.fillRect(QRectF(box.left(), box.bottom() - 2, half, 3), theme.marked);
  if (holds(marked_key_, token))
    painter.fillRect(QRectF(box.left() + half, box.bottom() - 2, half, 3), theme.marked);
}

QRectF SequenceView::patch_box(Index token) const {
  const ImageGrid& grid = *source_->sequence.grid;
  if (!grid.contains(token)) return {};
  const QRectF box = image_box();
  const double w = box.width() / double(grid.cols), h = box.height() / double(grid.rows);
  return {box.left() + double(grid.col_of(token)) * w, box.top() + double(grid.row_of(token)) * h,
          w, h};
}

void SequenceView::paint_image(QPainter& painter) {
  const QRect box = image_box();
  painter.setRenderHint(QPainter::SmoothPixmapTransform);
  painter.drawImage(box, picture_);
  const Theme& theme = Theme::current();
  const ImageGrid& grid = *source_->sequence.grid;
  if (!row_) return;
  QImage veil(int(grid.cols), int(grid.rows), QImage::Format_ARGB32);
  for (Index p = 0; p < grid.rows * grid.cols; ++p) {
    const double t = shade(grid.prefix + p);
    QColor colour = mapped(t, study_.session().settings.colormap);
    if (t <= 0) colour = Qt::black;
    colour.setAlphaF(0.35 + 0.45 * t);
    veil.setPixelColor(int(p % grid.cols), int(p / grid.cols), colour);
  }
  painter.setRenderHint(QPainter::SmoothPixmapTransform, false);
  painter.drawImage(box, veil);
  QColor lit = theme.marked;
  lit.setAlphaF(0.55f);
  for (Index token = 0;
       token < std::max<Index>(Index(marked_query_.size()), Index(marked_key_.size())); ++token)
    if (holds(marked_query_, token) || holds(marked_key_, token))
      painter.fillRect(patch_box(token), lit);
  painter.setBrush(Qt::NoBrush);
  const auto outline = [&](Index token, const QColor& colour) {
    const QRectF patch = token >= 0 ? patch_box(token) : QRectF();
    if (patch.isEmpty()) return;
    painter.setPen(QPen(colour, 2));
    painter.drawRect(patch);
  };
  outline(study_.hovered_key(), theme.accent);
  outline(row_->query, theme.warning);
}

void SequenceView::mouseMoveEvent(QMouseEvent* event) {
  emit query_hovered(at(event->pos()));
}
void SequenceView::leaveEvent(QEvent*) {
  emit query_hovered(-1);
}
void SequenceView::mousePressEvent(QMouseEvent* event) {
  if (const Index i = at(event->pos()); i >= 0) emit query_chosen(i);
}

void SequenceView::keyPressEvent(QKeyEvent* event) {
  const Index now = study_.session().pinned_query.value_or(study_.shown_query());
  const Index down = shows_image() ? source_->sequence.grid->cols : 1;
  Index next = -1;
  if (event->key() == Qt::Key_Left) next = now - 1;
  if (event->key() == Qt::Key_Right) next = now + 1;
  if (event->key() == Qt::Key_Up) next = now - down;
  if (event->key() == Qt::Key_Down) next = now + down;
  if (next < 0 || next >= n_) return QWidget::keyPressEvent(event);
  emit query_hovered(-1);  // the pointer may lie on another one: it counts when it moves
  emit query_stepped(next);
  show_token(next);
}

}  // namespace fovea
