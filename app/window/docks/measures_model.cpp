#include "window/docks/measures_model.h"

#include <algorithm>
#include <cmath>

#include "window/widgets/sorted_table.h"
#include "window/widgets/text.h"

namespace fovea {

void MeasuresModel::refresh() {
  const auto source = study_.source();
  if (source != source_.lock()) {
    beginResetModel();
    source_ = source;
    rows_.clear();
    for (Index l = 0; source && l < std::ssize(source->layers); ++l)
      for (Index h = 0; h < source->layers[l].heads(); ++h)
        rows_.push_back({{l, h}, nullptr, {}, layer_label(*source, l)});
    endResetModel();
  }
  const Head opened{study_.session().layer, study_.session().head},
      before = std::exchange(opened_, opened);
  for (int row = 0; row < rowCount(); ++row) {
    Row& now = rows_[row];
    auto measured = study_.measured_head(now.head.first, now.head.second);
    const bool other_font = opened != before && (now.head == opened || now.head == before);
    std::string error = measured ? "" : study_.why_not_measured(now.head.first, now.head.second);
    const bool other_error = std::exchange(now.error, error) != error;
    if (std::exchange(now.measured, measured) != measured || other_error || other_font)
      emit dataChanged(index(row, 0), index(row, columnCount() - 1));
  }
}

int MeasuresModel::row_of(const Head& head) const {
  const auto it = std::ranges::find(rows_, head, &Row::head);
  return it == rows_.end() ? -1 : int(it - rows_.begin());
}

int MeasuresModel::missing() const {
  return int(std::ranges::count_if(
      rows_, [](const Row& row) { return !row.measured && row.error.empty(); }));
}

int MeasuresModel::failed() const {
  return int(std::ranges::count_if(rows_, [](const Row& row) { return !row.error.empty(); }));
}

std::vector<MeasuredHeadRow> MeasuresModel::measured_rows() const {
  std::vector<MeasuredHeadRow> out;
  for (const Row& row : rows_)
    if (row.measured)
      out.push_back({.layer = row.head.first,
                     .head = row.head.second,
                     .layer_label = row.layer,
                     .inputs = {*row.measured}});
  return out;
}

int MeasuresModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : int(rows_.size());
}

int MeasuresModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : first_measure + int(head_measures().size());
}

const HeadValue* MeasuresModel::value_at(const QModelIndex& index) const {
  const auto& measured = rows_[index.row()].measured;
  if (!measured || index.column() < first_measure) return nullptr;
  return &measured->values[index.column() - first_measure];
}

QString MeasuresModel::text_at(const QModelIndex& index) const {
  const Head& head = rows_[index.row()].head;
  if (index.column() == 0) return to_qt(rows_[index.row()].layer);
  if (index.column() == 1) return QString::number(head.second);
  const HeadValue* value = value_at(index);
  if (!value) return rows_[index.row()].error.empty() ? "…" : "–";
  return to_qt(to_text(head_measures()[index.column() - first_measure], value->estimate));
}

QVariant MeasuresModel::number_at(const QModelIndex& index) const {
  const Head& head = rows_[index.row()].head;
  if (index.column() == 0) return qlonglong(head.first);
  if (index.column() == 1) return qlonglong(head.second);
  const HeadValue* value = value_at(index);
  return value && !std::isnan(value->estimate.value) ? QVariant(value->estimate.value) : QVariant();
}

QString MeasuresModel::hint_at(const QModelIndex& index) const {
  const HeadValue* value = value_at(index);
  QStringList lines;
  if (const std::string& error = rows_[index.row()].error; !error.empty()) lines << to_qt(error);
  if (value && !value->missing.empty()) lines << to_qt(value->missing);
  if (value && value->missing.empty() && value->queries > 0)
    lines << QString("From %1 of %2 queries")
                 .arg(value->queries)
                 .arg(rows_[index.row()].measured->lengths.queries);
  lines << "Double-click: open this head";
  return lines.join("\n");
}

QVariant MeasuresModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::DisplayRole) return text_at(index);
  if (role == sort_role) return number_at(index);
  if (role == Qt::ToolTipRole) return plain_tip(hint_at(index));
  if (role == Qt::TextAlignmentRole) return cell_alignment(index.column() == 0);
  if (role == Qt::FontRole && rows_[index.row()].head == opened_) return bold_font();
  return {};
}

QVariant MeasuresModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole) return cell_alignment(section == 0);
  if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
    return {};
  const bool hint = role == Qt::ToolTipRole;
  if (section == 0) return hint ? "The layer, as the file calls it" : "layer";
  if (section == 1) return hint ? "The head, counted from 0" : "head";
  const HeadMeasure& measure = head_measures()[section - first_measure];
  if (hint) return plain_tip(to_qt(measure.definition));
  QString label = to_qt(measure.label);
  if (const auto space = label.lastIndexOf(' '); space > 0) label[space] = '\n';  // two lines
  return label;
}

}  // namespace fovea

#include "moc_measures_model.cpp"
