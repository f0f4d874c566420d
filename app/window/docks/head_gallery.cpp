#include "window/docks/head_gallery.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "window/widgets/readings.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr int preferred_side = 44, gap = 6;
constexpr std::size_t most_heads = 512;  // more are chosen by number

}  // namespace

HeadGallery::HeadGallery(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Heads");
}

void HeadGallery::set_layer(std::optional<Index> layer) {
  layer_ = layer;
  refresh();
}

void HeadGallery::set_order(Order order) {
  order_ = order;
  refresh();
}

void HeadGallery::refresh() {
  const auto source = study_.source();
  if (!source) return;
  std::vector<Head> heads;
  for (Index l = 0; l < static_cast<Index>(source->layers.size()); ++l)
    for (Index h = 0; (!layer_ || *layer_ == l) && h < source->layers[std::size_t(l)].heads(); ++h)
      if (heads.size() < most_heads) heads.emplace_back(l, h);
  study_.choose_cards(heads);
  const auto measure = [&](const Head& head) {
    const auto card = study_.card(head.first, head.second);
    if (!card) return -1.0;
    if (order_ == Order::error) return card->error.value_or(-1);
    return order_ == Order::entropy ? card->entropy : card->density;
  };
  if (order_ != Order::index) {
    std::vector<std::pair<double, Head>> measured;
    for (const Head& head : heads) measured.emplace_back(-measure(head), head);
    std::ranges::stable_sort(measured, {}, &std::pair<double, Head>::first);
    for (std::size_t i = 0; i < heads.size(); ++i) heads[i] = measured[i].second;
  }
  heads_ = std::move(heads);
  fit_height();
  if (pictures_.size() > 2 * most_heads) pictures_.clear();
  describe();
  update();
}

int HeadGallery::per_row(int width) const {
  return std::max(1, (width + gap) / (preferred_side + gap));
}

// The preferred side, stretched until the row is full.
int HeadGallery::side(int width) const {
  return (width + gap) / per_row(width) - gap;
}

int HeadGallery::heightForWidth(int width) const {
  const int columns = per_row(width);
  const int rows = (static_cast<int>(heads_.size()) + columns - 1) / columns;
  return std::max(1, rows) * (side(width) + gap);
}

QRect HeadGallery::place(std::size_t i) const {
  const auto columns = static_cast<std::size_t>(per_row(width()));
  const int size = side(width());
  return {int(i % columns) * (size + gap), int(i / columns) * (size + gap), size, size};
}

int HeadGallery::at(QPoint point) const {
  for (std::size_t i = 0; i < heads_.size(); ++i)
    if (place(i).contains(point)) return static_cast<int>(i);
  return -1;
}

const QImage& HeadGallery::picture(const std::shared_ptr<const HeadCard>& card) {
  if (const std::string& map = study_.session().settings.colormap; map != colormap_) {
    pictures_.clear();
    colormap_ = map;
  }
  Drawn& drawn = pictures_[card.get()];
  QImage& image = drawn.image;
  if (!image.isNull()) return image;
  drawn.card = card;
  const Matrix& p = card->picture;
  const Colormap& map = colormap_for(Palette::sequential, study_.session().settings.colormap);
  float top = 0;
  for (Index r = 0; r < p.rows(); ++r)
    top = std::max(top, *std::max_element(p.row(r), p.row(r) + p.cols()));
  image = QImage(int(p.cols()), int(p.rows()), QImage::Format_RGB32);
  for (Index r = 0; r < p.rows(); ++r)
    for (Index c = 0; c < p.cols(); ++c) {
      const double t = std::clamp(normalised(p(r, c), 0, top, Norm::log, 1e-3), 0.0, 1.0);
      const Rgb rgb = map.steps[static_cast<std::size_t>(std::lround(t * 255))];
      image.setPixel(int(c), int(r), qRgb(rgb[0], rgb[1], rgb[2]));
    }
  return image;
}

// Scroll areas do not ask for a height that follows from the width: it is fixed here.
void HeadGallery::fit_height() {
  if (const int wanted = heightForWidth(width()); wanted != height()) setFixedHeight(wanted);
}
void HeadGallery::resizeEvent(QResizeEvent*) {
  fit_height();
}

QString HeadGallery::name_of(const Head& head) const {
  if (layer_) return QString::number(head.second);
  const std::string& name = study_.source()->layers[std::size_t(head.first)].name;
  QString digits;
  for (const QChar c : QString::fromStdString(name))
    if (c.isDigit()) digits += c;
  return QString("%1·%2")
      .arg(digits.isEmpty() ? QString::number(head.first) : digits)
      .arg(head.second);
}

QString HeadGallery::label(const Head& head, const HeadCard* card) const {
  if (!card || order_ == Order::index) return name_of(head);
  const auto text = [](double value) { return QString::number(value, 'g', 2); };
  if (order_ == Order::error) return card->error ? text(*card->error) : "–";
  return text(order_ == Order::entropy ? card->entropy : card->density);
}

void HeadGallery::paint_card(QPainter& painter, const QRect& box, const Head& head) {
  const Theme& theme = Theme::current();
  const auto card = study_.card(head.first, head.second);
  if (card)
    painter.drawImage(box, picture(card));
  else
    painter.fillRect(box, theme.raised);
  const QString text = label(head, card.get());
  const QRect foot(box.left(), box.bottom() - 13, painter.fontMetrics().horizontalAdvance(text) + 6,
                   14);
  if (card) painter.fillRect(foot, QColor(0, 0, 0, 170));
  painter.setPen(card ? QColor("#f2f4f7") : theme.muted);
  painter.drawText(card ? foot : box, Qt::AlignCenter, text);
}

void HeadGallery::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  const Theme& theme = Theme::current();
  const Session& session = study_.session();
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.8);
  painter.setFont(small);
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const QRect box = place(i);
    paint_card(painter, box, heads_[i]);
    if (heads_[i] == Head{session.layer, session.head}) {
      painter.setPen(QPen(theme.accent, 3));
      painter.drawRect(box.adjusted(0, 0, -1, -1));
    }
  }
  if (hasFocus()) {
    painter.setPen(QPen(theme.accent, 1, Qt::DotLine));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

// For screen readers.
void HeadGallery::describe() {
  const Head now{study_.session().layer, study_.session().head};
  const auto card = study_.card(now.first, now.second);
  setAccessibleDescription(card ? caption(*card)
                                : QString("layer %1, head %2").arg(now.first).arg(now.second));
}

void HeadGallery::mousePressEvent(QMouseEvent* event) {
  const int i = at(event->pos());
  if (i >= 0) emit head_chosen(heads_[std::size_t(i)].first, heads_[std::size_t(i)].second);
}

void HeadGallery::keyPressEvent(QKeyEvent* event) {
  const Head now{study_.session().layer, study_.session().head};
  const auto here = std::ranges::find(heads_, now) - heads_.begin();
  int step = 0;
  if (event->key() == Qt::Key_Left) step = -1;
  if (event->key() == Qt::Key_Right) step = 1;
  if (event->key() == Qt::Key_Up) step = -per_row(width());
  if (event->key() == Qt::Key_Down) step = per_row(width());
  const auto next = here + step;
  if (step == 0) return QWidget::keyPressEvent(event);
  if (next >= 0 && next < std::ptrdiff_t(heads_.size()))
    emit head_chosen(heads_[std::size_t(next)].first, heads_[std::size_t(next)].second);
}

QString HeadGallery::caption(const HeadCard& card) const {
  QString text =
      QString("layer %1, head %2\nentropy %3 of log n\ndensity %4 of the entries above 1/n")
          .arg(card.layer)
          .arg(card.head)
          .arg(number_text(card.entropy), number_text(card.density));
  if (card.error) text += "\noutput error of the selected variant " + number_text(*card.error);
  if (card.sampled) text += "\npicture of evenly spaced rows";
  return text;
}

bool HeadGallery::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int i = at(help->pos());
  if (i < 0) return true;
  const auto [layer, head] = heads_[std::size_t(i)];
  const auto card = study_.card(layer, head);
  QToolTip::showText(help->globalPos(),
                     card ? caption(*card) : QString("layer %1, head %2").arg(layer).arg(head),
                     this);
  return true;
}

}  // namespace fovea
