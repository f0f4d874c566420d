#include "window/docks/effect_grid.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "drawing/colormap.h"
#include "figure/painter_ink.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr double header = 14, widest_side = 22;

/// "layers 0-1, 4", "head 3.1", "all heads".
QString heads_in_words(const std::string& heads) {
  if (heads == "all") return "all heads";
  const bool several = heads.find_first_of(",-*") != heads.npos;
  const QString what = heads.find('.') == heads.npos ? "layer" : "head";
  return what + (several ? "s " : " ") + to_qt(heads).replace(",", ", ");
}

}  // namespace

EffectGrid::EffectGrid(EffectRun& run) : run_(run) {
  setObjectName("effect_grid");
  setAccessibleName("Heads in which attention is replaced: a row for each layer");
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  connect(&run, &EffectRun::changed, this, [this] {
    largest_ = largest_estimate_ = 0;
    if (const auto& chosen = run_.chosen()) {  // perhaps of another model
      current_.layer = std::min(current_.layer, chosen->layers() - 1);
      current_.head = std::min(current_.head.value_or(0), chosen->heads() - 1);
    }
    if (const auto& chosen = run_.chosen(); chosen && run_.found().estimates)
      for (Index layer = 0; layer < chosen->layers(); ++layer)
        for (Index head = 0; head < chosen->heads(); ++head)
          largest_estimate_ =
              std::max(largest_estimate_, run_.found().estimates->of(layer, head).value_or(0));
    if (const auto& alone = run_.found().alone)
      for (const UnitEffect& unit : alone->found())
        if (std::isfinite(unit.change)) largest_ = std::max(largest_, std::abs(unit.change));
    update();
  });
}

void EffectGrid::set_colours(Colours colours) {
  colours_ = colours;
  update();
}

QString EffectGrid::scale() const {
  const EffectRun::Found& found = run_.found();
  if (colours_ == Colours::chosen || !run_.chosen()) return {};
  if (colours_ == Colours::change && found.estimates && (!found.alone || !found.alone->complete()))
    return "small cells are estimates: the share of the layer's output that the head changes";
  if (colours_ == Colours::change)
    return !found.alone
               ? QString("“Which matter” measures it")
               : "red: the change grows by up to " + number_text(largest_) +
                     ", blue: it shrinks; measured" + (found.alone->complete() ? "" : ", so far");
  QStringList names;
  const auto parts = policy_parts();
  if (parts.empty() && found.search)
    return found.search->complete() ? "exact in all heads: no policy stays within the budget"
                                    : "exact in all heads, so far";
  for (std::size_t i = 0; i < parts.size(); ++i)
    names << QString("<span style='color:%1'>■</span> %2: %3")
                 .arg(qcolor(drawing::opaque(category_colour(int(i) + 1))).name(),
                      to_qt(parts[i].variant->label).toHtmlEscaped(),
                      heads_in_words(parts[i].heads).toHtmlEscaped());
  return names.join("<br>");
}

double EffectGrid::left() const {
  return fontMetrics().horizontalAdvance("000") + 4;
}

QSizeF EffectGrid::cell() const {
  const auto& chosen = run_.chosen();
  if (!chosen) return {0, 0};
  return {std::min((width() - left()) / double(chosen->heads()), widest_side),
          std::min((height() - header) / double(chosen->layers()), widest_side)};
}

QRectF EffectGrid::box_of(Index layer, Index head) const {
  const QSizeF size = cell();
  const double gap = size.height() > 4 ? 1 : 0;
  return {left() + double(head) * size.width(), header + double(layer) * size.height(),
          size.width() - 1, size.height() - gap};
}

QPoint EffectGrid::centre_of(Index layer, Index head) const {
  return box_of(layer, head).center().toPoint();
}

std::optional<EffectGrid::Place> EffectGrid::place_at(QPointF at) const {
  const auto& chosen = run_.chosen();
  const QSizeF size = cell();
  if (!chosen || size.isEmpty()) return {};
  const auto layer = Index(std::floor((at.y() - header) / size.height()));
  const auto head = Index(std::floor((at.x() - left()) / size.width()));
  if (layer < 0 || layer >= chosen->layers() || head >= chosen->heads()) return {};
  return Place{layer, head < 0 ? std::nullopt : std::optional(head)};
}

bool EffectGrid::has(const Place& place) const {
  if (place.head) return run_.chosen()->has(place.layer, *place.head);
  for (Index head = 0; head < run_.chosen()->heads(); ++head)
    if (!run_.chosen()->has(place.layer, head)) return false;
  return true;
}

void EffectGrid::paint_over(const Place& place, bool chosen) {
  ChosenHeads next = *run_.chosen();
  for (Index head = 0; head < next.heads(); ++head)
    if (!place.head || *place.head == head) next.choose(place.layer, head, chosen);
  run_.choose(next);
}

const UnitEffect* EffectGrid::effect_of(Index layer, Index head) const {
  const auto& alone = run_.found().alone;
  if (!alone) return nullptr;
  for (const UnitEffect& unit : alone->found())
    if (unit.layer == layer &&
        ChosenHeads(unit.heads, alone->layers(), alone->heads()).has(layer, head))
      return &unit;
  return nullptr;
}

std::optional<double> EffectGrid::estimate_of(Index layer, Index head) const {
  const auto& estimates = run_.found().estimates;
  if (!estimates || effect_of(layer, head)) return {};
  return estimates->of(layer, head);
}

std::span<const ReplacedPart> EffectGrid::policy_parts() const {
  const auto& search = run_.found().search;
  if (run_.task() != EffectRun::Task::policy || !search) return run_.found().parts;
  const MeasuredPolicy* best = search->best();
  return best ? std::span<const ReplacedPart>(best->parts) : std::span<const ReplacedPart>();
}

const ReplacedPart* EffectGrid::part_of(Index layer, Index head, std::size_t* number) const {
  const auto parts = policy_parts();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (ChosenHeads(parts[i].heads, run_.chosen()->layers(), run_.chosen()->heads())
            .has(layer, head)) {
      if (number) *number = i;
      return &parts[i];
    }
  return nullptr;
}

QColor EffectGrid::colour_of(Index layer, Index head) const {
  const drawing::Style& style = window_style();
  const QColor exact = qcolor(style.raised);
  if (colours_ == Colours::chosen)
    return run_.chosen()->has(layer, head) ? qcolor(style.accent) : exact;
  if (colours_ == Colours::policy) {
    std::size_t number = 0;
    if (!part_of(layer, head, &number)) return exact;
    return qcolor(drawing::opaque(category_colour(int(number) + 1)));
  }
  const UnitEffect* effect = effect_of(layer, head);
  const auto estimate = estimate_of(layer, head);
  const double largest = effect ? largest_ : largest_estimate_;
  if ((!effect && !estimate) || largest <= 0) return exact;
  const ValueColours colours{.palette = Palette::diverging,
                             .map = &colormap_for(Palette::diverging, ""),
                             .low = -largest,
                             .high = largest};
  return qcolor(drawing::opaque(colours.colour(effect ? effect->change : *estimate)));
}

void EffectGrid::paintEvent(QPaintEvent*) {
  const auto& chosen = run_.chosen();
  if (!chosen) return;
  QPainter painter(this);
  const drawing::Style& style = window_style();
  const QSizeF size = cell();
  const double w = size.width(), h = size.height();
  painter.setPen(qcolor(style.faint));
  QFont small = font();
  small.setPointSizeF(std::min(small.pointSizeF(), 7.5));
  painter.setFont(small);
  const double line = QFontMetricsF(small).height();
  const auto every = [](double room, double one) {
    return std::max(Index{1}, Index(std::ceil(room / std::max(one, 0.5))));
  };
  for (Index head = 0; head < chosen->heads(); head += every(16, w))
    painter.drawText(QRectF(left() + double(head) * w - 20, 0, w + 40, header), Qt::AlignCenter,
                     QString::number(head));
  for (Index layer = 0; layer < chosen->layers(); ++layer) {
    const QRectF row(0, header + double(layer) * h, left() - 4, h);
    if (layer % every(line, h) == 0)
      painter.drawText(row.adjusted(0, -10, 0, 10), Qt::AlignRight | Qt::AlignVCenter,
                       QString::number(layer));
    for (Index head = 0; head < chosen->heads(); ++head) {
      const QRectF box = box_of(layer, head);
      const bool estimated = colours_ == Colours::change && estimate_of(layer, head);
      if (estimated) painter.fillRect(box, qcolor(style.raised));
      const double inset = estimated ? 0.2 : 0;  // an estimate is a smaller cell
      const double in_x = inset * box.width(), in_y = inset * box.height();
      painter.fillRect(box.adjusted(in_x, in_y, -in_x, -in_y), colour_of(layer, head));
      const bool replaced =
          colours_ == Colours::policy ? part_of(layer, head) != nullptr : chosen->has(layer, head);
      if (colours_ != Colours::chosen && replaced && h > 6)
        painter.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2),
                         qcolor(style.accent));
    }
  }
  if (!hasFocus()) return;
  painter.setPen(QPen(qcolor(style.text), 1));
  painter.drawRect(box_of(current_.layer, current_.head.value_or(0)));
}

void EffectGrid::mousePressEvent(QMouseEvent* event) {
  const auto place = place_at(event->position());
  if (!place || event->button() != Qt::LeftButton) return;
  current_ = *place;
  painted_as_ = !has(*place);
  paint_over(*place, painted_as_);
}

void EffectGrid::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) return;
  if (const auto place = place_at(event->position())) paint_over(*place, painted_as_);
}

void EffectGrid::keyPressEvent(QKeyEvent* event) {
  const auto& chosen = run_.chosen();
  if (!chosen) return QWidget::keyPressEvent(event);
  Index layer = current_.layer, head = current_.head.value_or(0);
  switch (event->key()) {
    case Qt::Key_Up:
      --layer;
      break;
    case Qt::Key_Down:
      ++layer;
      break;
    case Qt::Key_Left:
      --head;
      break;
    case Qt::Key_Right:
      ++head;
      break;
    case Qt::Key_Space:
      return paint_over({layer, head}, !chosen->has(layer, head));
    default:
      return QWidget::keyPressEvent(event);
  }
  current_ = {std::clamp<Index>(layer, 0, chosen->layers() - 1),
              std::clamp<Index>(head, 0, chosen->heads() - 1)};
  setAccessibleDescription(words(current_));
  update();
}

QString EffectGrid::words(const Place& place) const {
  QString text = QString("layer %1").arg(place.layer);
  if (!place.head) return text + ": click to choose or leave out all its heads";
  text += QString(", head %1").arg(*place.head);
  text += run_.chosen()->has(place.layer, *place.head) ? ", replaced" : ", exact";
  if (const UnitEffect* effect = effect_of(place.layer, *place.head)) {
    text += QString("\n%1 alone, measured: change %2")
                .arg(effect->head ? "This head" : "This layer", number_text(effect->change));
    if (effect->kl_mean) text += ", mean KL " + number_text(*effect->kl_mean);
  }
  if (const auto estimate = estimate_of(place.layer, *place.head))
    text += "\nestimate: it changes the layer's output by " + number_text(*estimate);
  if (colours_ == Colours::policy)
    if (const ReplacedPart* part = part_of(place.layer, *place.head)) {
      text += "\n" + to_qt(part->variant->label);
      for (const auto& [key, value] : part->settings) text += to_qt(", " + key + " " + value);
    }
  return text;
}

bool EffectGrid::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const auto place = place_at(help->pos());
  QToolTip::showText(help->globalPos(), place ? plain_tip(words(*place)) : QString(), this);
  return true;
}

}  // namespace fovea

#include "moc_effect_grid.cpp"
