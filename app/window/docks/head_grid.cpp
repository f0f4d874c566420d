#include "window/docks/head_grid.h"

#include <QSet>
#include <algorithm>

#include "window/widgets/text.h"

namespace fovea {
namespace {

/// Those of layers to come go on from 0.
QStringList numbers_of(const Source& source, int to_come) {
  QStringList named, counted;
  for (const Layer& layer : source.layers) {
    QString digits;
    for (const QChar c : to_qt(layer.name))
      if (c.isDigit()) digits += c;
    named << digits;
    counted << QString::number(counted.size());
  }
  const bool tells_apart = QSet<QString>(named.begin(), named.end()).size() == named.size();
  QStringList numbers = tells_apart && !named.contains("") ? named : counted;
  for (int i = 0; i < to_come; ++i) numbers << QString::number(numbers.size());
  return numbers;
}

}  // namespace

// While layers come one by one, rows without heads get heads, and nothing else moves.
void HeadGrid::lay_out(std::shared_ptr<const Source> source, std::vector<Head> heads, int columns,
                       int rows_to_come) {
  const QStringList numbers = numbers_of(*source, int(study_.layers_to_come()));
  const auto cells = [](std::size_t count, int to_come, int wide) {
    return int(count) + to_come * wide;
  };
  const bool same_shape =
      cells(heads.size(), rows_to_come, columns) == cells(heads_.size(), rows_to_come_, columns_) &&
      columns == columns_ && numbers == numbers_;
  if (!same_shape) beginResetModel();
  source_ = std::move(source);
  heads_ = std::move(heads);
  columns_ = columns;
  rows_to_come_ = rows_to_come;
  numbers_ = numbers;
  if (!same_shape)
    endResetModel();
  else if (!heads_.empty())
    emit dataChanged(index(0, 0), index(rowCount() - 1, columns - 1));
}

QModelIndex HeadGrid::cell_of(const Head& head) const {
  const auto it = std::ranges::find(heads_, head);
  return it == heads_.end() ? QModelIndex() : cell(int(it - heads_.begin()));
}

std::optional<HeadGrid::Head> HeadGrid::head_in(const QModelIndex& cell) const {
  const auto place = std::size_t(cell.row() * columns_ + cell.column());
  if (!cell.isValid() || place >= heads_.size()) return {};
  return heads_[place];
}

QString HeadGrid::number_of(Index layer) const {
  return numbers_.value(int(layer));
}

int HeadGrid::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : (int(heads_.size()) + columns_ - 1) / columns_ + rows_to_come_;
}

int HeadGrid::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || heads_.empty() ? 0 : columns_;
}

QString HeadGrid::caption(const Head& head) const {
  QString text = to_qt(layer_label(*source_, head.first)) + QString(", head %1").arg(head.second);
  const auto card = study_.card(head.first, head.second);
  if (!card) return text;
  text += QString("\nentropy %1 of the maximum\ndensity %2 of the entries above 1/n")
              .arg(to_qt(format_percent(card->entropy, 2)), number_text(card->density));
  if (const auto error = study_.head_error(head.first, head.second))
    text += "\nrelative output error of the selected variant " + number_text(*error);
  if (const QString bar = bars_.text(head); !bar.isEmpty()) text += "\n" + bar;
  if (card->sampled) text += "\npicture of evenly spaced rows";
  return text + "\nCtrl+click shows it beside the opened head";
}

QVariant HeadGrid::data(const QModelIndex& cell, int role) const {
  const auto head = head_in(cell);
  if (head && role == Qt::ToolTipRole) return plain_tip(caption(*head));
  if (head && role == Qt::AccessibleTextRole) return caption(*head);
  return {};
}

QVariant HeadGrid::headerData(int section, Qt::Orientation orientation, int role) const {
  const bool of_layer = orientation == Qt::Vertical;
  if (role == Qt::DisplayRole) return of_layer ? number_of(section) : QString::number(section);
  if (role == Qt::ToolTipRole && of_layer && source_ && section < std::ssize(source_->layers))
    return plain_tip(to_qt(layer_label(*source_, section)));
  return {};
}

Qt::ItemFlags HeadGrid::flags(const QModelIndex& cell) const {
  return head_in(cell) ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::NoItemFlags;
}

}  // namespace fovea
