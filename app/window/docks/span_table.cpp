#include "window/docks/span_table.h"

#include <QColor>
#include <algorithm>
#include <cmath>

#include "figure/painter_ink.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

double difference_of(const SpanMass::Cell& cell) {
  return cell.approximate.value - cell.exact.value;
}

QString signed_text(double value, int digits) {
  return (value > 0 ? "+" : "") + number_text(value, digits);
}

QString estimate_text(const Estimate& estimate, int digits) {
  QString text = number_text(estimate.value, digits);
  if (estimate.standard_error > 0) text += " ± " + number_text(estimate.standard_error, 2);
  return text;
}

QString queries_text(Index count) {
  return count == 1 ? "1 query" : QString("%1 queries").arg(count);
}

}  // namespace

QString tokens_text(IndexRange tokens) {
  const QString first = QString::number(tokens.begin);
  return tokens.size() == 1 ? first : first + "–" + QString::number(tokens.end - 1);
}

void SpanTable::show(std::shared_ptr<const SpanReading> reading, const QString& title,
                     SpanNumbers numbers) {
  if (reading == reading_ && title == title_ && numbers == numbers_) return;
  const bool same_groups = reading && reading_ &&
                           reading->mass.query_groups == reading_->mass.query_groups &&
                           reading->mass.key_groups == reading_->mass.key_groups;
  if (!same_groups) beginResetModel();
  reading_ = std::move(reading);
  title_ = title;
  numbers_ = numbers;
  most_mass_ = most_difference_ = 0;
  if (reading_)
    for (const SpanMass::Cell& cell : reading_->mass.cells) {
      most_mass_ = std::max({most_mass_, cell.exact.value, cell.approximate.value});
      most_difference_ = std::max(most_difference_, std::abs(difference_of(cell)));
    }
  if (!same_groups) return endResetModel();
  // The selection and the current cell stay.
  emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  emit headerDataChanged(Qt::Vertical, 0, rowCount() - 1);
  emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

int SpanTable::rowCount(const QModelIndex& parent) const {
  return reading_ && !parent.isValid() ? int(reading_->mass.query_groups) : 0;
}

int SpanTable::columnCount(const QModelIndex& parent) const {
  return reading_ && !parent.isValid() ? int(reading_->mass.key_groups) : 0;
}

QString SpanTable::text_of(const SpanMass::Cell& cell) const {
  constexpr int digits = 3;
  switch (numbers_) {
    case SpanNumbers::exact:
      return estimate_text(cell.exact, digits);
    case SpanNumbers::approximate:
      return estimate_text(cell.approximate, digits);
    case SpanNumbers::difference:
      return signed_text(difference_of(cell), digits);
    case SpanNumbers::both:
      break;
  }
  return number_text(cell.exact.value, digits) + " → " +
         number_text(cell.approximate.value, digits);
}

QString SpanTable::tip_of(Index query, Index key) const {
  const TokenGroup &from = reading_->queries[query], &to = reading_->keys[key];
  const SpanMass::Cell& cell = reading_->mass(query, key);
  constexpr int digits = 4;
  QString text =
      QString(
          "The mean over the queries of “%1” of the sum of their weights P on the keys of “%2”"
          "\n%3, %4\nexact %5\n%6 %7\ndifference %8")
          .arg(to_qt(from.name), to_qt(to.name), queries_text(from.count),
               to_qt(plural(to.count, "key")), estimate_text(cell.exact, digits), title_,
               estimate_text(cell.approximate, digits), signed_text(difference_of(cell), digits));
  if (reading_->mass.sampled)
    text += QString("\n± standard error, from %1 of %2")
                .arg(reading_->mass.rows[query])
                .arg(queries_text(from.count));
  return text;
}

// Words stay readable on it: it goes less than half the way to a colour. By the square root, small
// masses differ, too.
QVariant SpanTable::shade_of(const SpanMass::Cell& cell) const {
  constexpr double most = 0.45;
  const drawing::Style& style = window_style();
  const auto shade = [&](const drawing::Rgba& towards, double share) {
    return qcolor(mixed(style.paper, towards, most * std::sqrt(std::clamp(share, 0.0, 1.0))));
  };
  const double difference = difference_of(cell);
  if (numbers_ == SpanNumbers::difference)
    return most_difference_ > 0 ? shade(difference < 0 ? style.accent : style.error,
                                        std::abs(difference) / most_difference_)
                                : QVariant();
  const double mass =
      numbers_ == SpanNumbers::approximate ? cell.approximate.value : cell.exact.value;
  return most_mass_ > 0 ? shade(style.accent, mass / most_mass_) : QVariant();
}

QVariant SpanTable::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || !reading_) return {};
  const SpanMass::Cell& cell = reading_->mass(index.row(), index.column());
  switch (role) {
    case Qt::DisplayRole:
      return text_of(cell);
    case Qt::ToolTipRole:
      return tip_of(index.row(), index.column());
    case Qt::BackgroundRole:
      return shade_of(cell);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignCenter);
    default:
      return {};
  }
}

QVariant SpanTable::headerData(int section, Qt::Orientation orientation, int role) const {
  if (!reading_) return {};
  const bool queries = orientation == Qt::Vertical;
  const TokenGroup& group = (queries ? reading_->queries : reading_->keys)[section];
  if (role == Qt::DisplayRole) return to_qt(group.name);
  if (role == Qt::ToolTipRole)
    return QString("%1: %2\n%3")
        .arg(to_qt(group.name),
             group.tokens ? (group.count == 1 ? "token " : "tokens ") + tokens_text(*group.tokens)
                          : to_qt(plural(group.count, "token")),
             group.tokens ? QString("A click selects these %1.").arg(queries ? "queries" : "keys")
                          : "They are not adjacent: no rectangle selects them.");
  return {};
}

MarkedTable SpanTable::to_copy() const {
  MarkedTable table{.corner = "queries / keys", .titles = {}, .rows = {}};
  if (!reading_) return table;
  for (const TokenGroup& keys : reading_->keys) table.titles.push_back(keys.name);
  for (Index q = 0; q < rowCount(); ++q) {
    auto& row = table.rows.emplace_back(MarkedTable::Row{reading_->queries[q].name, {}});
    for (Index k = 0; k < columnCount(); ++k)
      row.cells.push_back({text_of(reading_->mass(q, k)).toStdString()});
  }
  return table;
}

}  // namespace fovea

#include "moc_span_table.cpp"
