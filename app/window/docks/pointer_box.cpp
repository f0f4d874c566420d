#include "window/docks/pointer_box.h"

#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "figure/painter_ink.h"
#include "session/held_head.h"
#include "views/own_settings.h"
#include "window/docks/reading_words.h"
#include "window/widgets/copying.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr int two_numbers = 152, widest_name = 160;  // in the list of a pair

/// For the names of columns there, beside their numbers.
int name_room(const QWidget& dock) {
  const int page = dock.parentWidget() ? dock.parentWidget()->width() : dock.width();
  return std::clamp(page - 24 - two_numbers - 2 * rhythm, 48, widest_name);
}

// The rank of the block that holds the pair, where a rank panel of the column is on screen.
const RankBlock* rank_block_of(const Study& study, int column, Index query, Index key) {
  if (!study.model()) return nullptr;
  for (const auto& row : study.model()->cells) {
    if (column >= std::ssize(row)) continue;
    const auto& panel = row[column].panel;
    const auto* map = panel ? std::get_if<BlockMap>(&panel->body) : nullptr;
    if (!map) continue;
    for (const RankBlock& block : map->map.blocks)
      if (block.rows.contains(query) && block.cols.contains(key)) return &block;
  }
  return nullptr;
}

QString rank_text(const RankBlock& block) {
  return QString("%1 of %2").arg(block.rank).arg(std::min(block.rows.size(), block.cols.size()));
}

QString score_text(const PairInfo::Scored& block, double mass) {
  return QString("%1, mass %2").arg(number_text(double(block.score)), to_qt(format_percent(mass)));
}

QString smallest_text(const RankBlock& block) {
  const auto bounded = std::ssize(block.singular_values) - block.resolved;
  if (bounded > 0) return QString("the last %1: a bound").arg(bounded);
  return block.singular_values.empty() ? "–" : number_text(block.singular_values.back());
}

}  // namespace

SingularValues::SingularValues() {
  setFixedHeight(112);
  setAccessibleName("Singular values");
  setToolTip("Singular values, largest first, over seven decades; filled: within the rank at ε");
}

void SingularValues::show_values(const std::vector<float>& values, int rank) {
  values_ = values;
  rank_ = rank;
  QStringList said;
  for (std::size_t i = 0; i < std::min<std::size_t>(8, values_.size()); ++i)
    said << number_text(values_[i]);
  setAccessibleDescription("largest: " + said.join(", "));
  update();
}

void SingularValues::paintEvent(QPaintEvent*) {
  constexpr double decades = 7;  // single precision distinguishes no more
  constexpr int label_height = 16;
  if (values_.empty() || values_.front() <= 0) return;
  QPainter painter(this);
  const drawing::Style& style = window_style();
  const double bottom = height() - label_height, step = width() / double(values_.size());
  for (int i = 0; i < count(); ++i) {
    const double below = std::log10(std::max(1e-30, double(values_[i] / values_.front())));
    const double length = std::max(1.0, bottom * (1 + below / decades));
    painter.fillRect(
        QRectF(i * step, bottom - length, std::max(1.0, step - (step > 3 ? 1 : 0)), length),
        i < rank_ ? qcolor(style.accent) : qcolor(style.frame));
  }
  painter.setPen(qcolor(style.faint));
  const QRectF labels(0, bottom, width(), label_height);
  painter.drawText(labels, Qt::AlignLeft | Qt::AlignBottom, "σ₁");
  painter.drawText(labels, Qt::AlignRight | Qt::AlignBottom, QString("σ%1").arg(count()));
}

void SingularValues::contextMenuEvent(QContextMenuEvent* event) {
  MarkedTable table{.corner = "number", .titles = {"singular value"}, .rows = {}};
  for (const float value : values_)
    table.rows.push_back({std::to_string(table.rows.size() + 1),
                          {{number_text(value).toStdString(), int(table.rows.size()) < rank_}}});
  QStringList values;
  for (const float value : values_) values << number_text(value);
  make_copy_menu(*this, values.join('\n'), [table](TableFormat format) {
    return to_text(table, format);
  })->popup(event->globalPos());
}

PointerBox::PointerBox(Study& study) : study_(study) {
  QVBoxLayout* column = make_page(*this);
  column->addWidget(pair_hint_ = make_note(
                        "Point at a pair of query and key. Drag a rectangle to compare its sums."));
  column->addWidget(pair_ = new Readings("Under the cursor"));
  column->addWidget(block_heading_ = make_subheading("Rank block"));
  column->addWidget(block_ = new Readings("Rank block"));
  column->addWidget(values_ = new SingularValues);
  column->addStretch(1);
  show_block();
  connect(&study, &Study::pairs_read, this, [this](const auto& pairs) {
    pairs_ = pairs;
    columns_ = study_.session().columns;
  });
  connect(&study, &Study::session_changed, this, [this] {
    const Session& session = study_.session();
    if (head_ != choice_of(session) || (!columns_.empty() && columns_ != session.columns))
      forget_pair();
    show_pair(nullptr);
  });
  connect(&study, &Study::pair_read, this, &PointerBox::show_pair);
  for (const auto signal : {&Study::leaving, &Study::source_continued})
    connect(&study, signal, this, &PointerBox::forget_pair);
  connect(&study, &Study::opened, this, &PointerBox::forget_pair);
  connect(&study, &Study::model_changed, this, &PointerBox::show_block);
  connect(&study, &Study::block_chosen, this, &PointerBox::show_block);
}

// Beside the names of columns.
QString PointerBox::on_a_line(const QString& text) const {
  const int room = two_numbers + rhythm - 12;
  return fontMetrics().elidedText(text, Qt::ElideRight, room);
}

/// The pair was of another head.
void PointerBox::forget_pair() {
  pair_reading_.reset();
  pair_hint_->show();
  pair_->set_rows({});
}

// The last pair stays when the pointer leaves the panels, so that it can be read and copied.
void PointerBox::show_pair(const std::shared_ptr<const PairReading>& reading) {
  if (reading) {
    pair_reading_ = reading;
    column_ = study_.hovered_column();
    head_ = choice_of(study_.session());
    pair_hint_->hide();
  }
  if (!pair_reading_) return;
  const QString query = query_text(study_, pair_reading_->query),
                key = key_text(study_, pair_reading_->key);
  std::vector<Reading> rows{{"query", on_a_line(query), query}, {"key", on_a_line(key), key}};
  std::ranges::move(rows_of_columns(), std::back_inserter(rows));
  // What the pair does not have leaves its room at the end: nothing below moves.
  std::vector<Reading> its = details(*pair_reading_);
  const auto unknown = std::ranges::stable_partition(
      its, [](const Reading& detail) { return detail.value != not_known; });
  for (Reading& detail : unknown) detail.label = detail.value = QChar(QChar::Nbsp);
  std::ranges::move(its, std::back_inserter(rows));
  pair_->set_rows(rows);
}

// Names and numbers as on the card at the pointer, but of the pair itself where a pixel of the
// panels stands for several.
std::vector<Reading> PointerBox::rows_of_columns() const {
  const ErrorKind kind = error_kind(study_.session().settings);
  const QString quantity = to_qt(quantity_of(kind));
  const QString weight_tip =
      "P: the weight that the query gives the key, in each column; of exact attention softmax of "
      "the scaled products or what the recurrence of the head gives, of the others their "
      "approximation P̃";
  const QString error_tip = "error: " + quantity + " of the pair, as chosen for error maps";
  std::vector<Reading> rows{{.label = {},
                             .value = "P",
                             .tip = weight_tip,
                             .second = "error",
                             .second_tip = error_tip,
                             .name = "column",
                             .faint = true}};
  const bool read = columns_ == study_.session().columns;
  for (int c = 0; c < std::ssize(study_.columns()); ++c) {
    const QString title = to_qt(study_.title_of(c));
    const bool exact = is_reference(study_.columns()[c].column.variant);
    Reading& row = rows.emplace_back();
    row.label = fontMetrics().elidedText(title, Qt::ElideMiddle, name_room(*this));
    row.name = title;
    row.tip = title + "\n" + weight_tip;
    row.second_tip = title + "\n" + (exact ? "exact attention has none" : error_tip);
    row.faint = c != column_;
    row.value = row.second = not_known;
    const auto* pair = read && std::size_t(c) < pairs_.size() ? pairs_[c].get() : nullptr;
    if (!pair || pair->query != pair_reading_->query || pair->key != pair_reading_->key) continue;
    row.value = to_qt(format_drawn(pair->approximate));
    if (exact) continue;
    row.second = to_qt(format_drawn(error_of(pair->approximate, pair->exact, kind)));
    if (pair->exact > 0)
      row.second_tip += "\n" +
                        to_qt(format_percent((pair->approximate - pair->exact) / pair->exact)) +
                        " of the exact weight";
  }
  return rows;
}

std::vector<Reading> PointerBox::details(const PairReading& reading) const {
  const int column = column_;
  const bool known = column >= 0 && column < std::ssize(study_.columns());
  const bool approximate = known && !is_reference(study_.columns()[column].column.variant);
  const PairInfo& info = reading.info;
  const bool covered = approximate && info.covered;
  const RankBlock* block =
      known ? rank_block_of(study_, column, reading.query, reading.key) : nullptr;
  const QString of = known ? " in " + to_qt(study_.title_of(column)) : "";
  const QString place = approximate && !info.place.empty() ? to_qt(info.place) : not_known;
  const QString score =
      approximate && info.block ? score_text(*info.block, reading.block_mass) : not_known;
  const bool shared = covered && info.level > 0;
  QString entry_tip =
      "The pair belongs to a level of the token pyramid: its keys share one entry. The last "
      "cluster of a level may have fewer.";
  if (shared) entry_tip = QString("Level %1. ").arg(info.level) + entry_tip;
  return {
      {"attended",
       !approximate      ? not_known
       : covered         ? QString("yes")
       : info.admissible ? QString("no, but available")
                         : QString("no, masked"),
       "Whether the query attends to the key" + of +
           ", the variant leaves the pair out, or the conditions of the head exclude it"},
      {"entry", shared ? QString("mean of %1 keys").arg(1 << info.level) : not_known, entry_tip},
      {"weight", covered ? number_text(info.weight) : not_known,
       "How many keys the entry stands for: a sampled key represents others."},
      {"place", on_a_line(place), "block, leaf, bucket or sample: " + place},
      {"score", on_a_line(score),
       "What the selector gave the block of the key, and how much of the exact mass of the query "
       "the block has: " +
           score},
      {"block rank", block ? on_a_line(rank_text(*block)) : not_known,
       block ? QString("rows %1, columns %2").arg(range_text(block->rows), range_text(block->cols))
             : "The rank of the block that holds the pair, where a rank map is shown"}};
}

void PointerBox::show_block() {
  const auto& chosen = study_.chosen_block();
  const RankBlock* block =
      chosen ? rank_block_of(study_, chosen->column, chosen->query, chosen->key) : nullptr;
  for (QWidget* part : std::initializer_list<QWidget*>{block_heading_, block_, values_})
    part->setVisible(block);
  if (!block) return;
  const double first = block->singular_values.empty() ? 0 : block->singular_values.front();
  block_->set_rows({{"queries", range_text(block->rows), {}},
                    {"keys", range_text(block->cols), {}},
                    {"rank", rank_text(*block), "numerical rank at the tolerance ε"},
                    {"largest σ", number_text(first), "the block's largest singular value"},
                    {"smallest σ", smallest_text(*block),
                     "values that were cut off are given as equal ones, whose sum bounds theirs"}});
  values_->show_values(block->singular_values, block->rank);
}

}  // namespace fovea

#include "moc_pointer_box.cpp"
