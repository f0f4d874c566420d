#include "window/docks/heads_model.h"

#include "session/settings.h"
#include "window/widgets/sorted_table.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString amount_text(const Quantity& quantity, const Trial* trial) {
  const auto amount = trial ? quantity.of(*trial) : std::nullopt;
  return amount ? to_qt(to_text(quantity.measure(), Measured{.value = *amount})) : "–";
}

QVariant amount(const Quantity& quantity, const Trial* trial) {
  const auto value = trial ? quantity.of(*trial) : std::nullopt;
  return value ? QVariant(*value) : QVariant();
}

}  // namespace

void HeadsModel::show_table(std::shared_ptr<const std::vector<Trial>> trials, HeadTable table,
                            std::shared_ptr<const Source> source) {
  const bool same_shape = table.rows.size() == table_.rows.size() &&
                          table.variants == table_.variants && source == source_;
  if (!same_shape) beginResetModel();
  trials_ = std::move(trials);
  table_ = std::move(table);
  source_ = std::move(source);
  if (!same_shape)
    endResetModel();
  else if (rowCount() > 0)
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
  emit headerDataChanged(Qt::Horizontal, 0, columnCount() - 1);
}

int HeadsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : int(table_.rows.size());
}

int HeadsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : first_variant + int(table_.variants.size());
}

const Trial* HeadsModel::trial_at(const QModelIndex& index) const {
  if (!index.isValid() || index.row() >= rowCount()) return nullptr;
  const HeadTable::Row& row = table_.rows[index.row()];
  return index.column() < first_variant ? row.choice : row.best_of[index.column() - first_variant];
}

QString HeadsModel::text_at(const HeadTable::Row& row, int column) const {
  const Trial& trial = *row.choice;
  switch (column) {
    case layer:
      return to_qt(layer_label(*source_, row.head.layer));
    case head:
      return QString::number(row.head.head);
    case choice:
      return to_qt(trial.variant->label) + (row.kept ? "" : " (none keeps it)");
    case parameters:
      return to_qt(setting_text(*trial.variant, trial.values, trial.n));
    case error:
      return amount_text(table_.error(), &trial);
    case cost:
      return amount_text(table_.cost(), &trial);
    default:
      return amount_text(table_.wanted(), row.best_of[column - first_variant]);
  }
}

QVariant HeadsModel::number_at(const HeadTable::Row& row, int column) const {
  switch (column) {
    case layer:
      return qlonglong(row.head.layer);
    case head:
      return qlonglong(row.head.head);
    case choice:
    case parameters:
      return text_at(row, column);
    case error:
      return amount(table_.error(), row.choice);
    case cost:
      return amount(table_.cost(), row.choice);
    default:
      return amount(table_.wanted(), row.best_of[column - first_variant]);
  }
}

QString HeadsModel::hint_at(const QModelIndex& index) const {
  const Trial* trial = trial_at(index);
  if (!trial) return "No setting of this variant that was tried keeps the budget.";
  QStringList lines{
      to_qt(trial->variant->label + ", " + setting_text(*trial->variant, trial->values, trial->n))};
  for (const Quantity* quantity : {&table_.error(), &table_.cost()})
    lines << to_qt(quantity->measure().label) + ": " + amount_text(*quantity, trial);
  if (!trial->refused.empty()) lines << to_qt(trial->refused);
  lines << "Double-click: show this head with this setting.";
  return lines.join("\n");
}

QVariant HeadsModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const HeadTable::Row& row = table_.rows[index.row()];
  const int column = index.column();
  if (role == Qt::DisplayRole) return text_at(row, column);
  if (role == sort_role) return number_at(row, column);
  if (role == Qt::ToolTipRole) return plain_tip(hint_at(index));
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_words(column));
  if (role == Qt::FontRole && column >= first_variant && row.kept && trial_at(index) == row.choice)
    return bold_font();
  return {};
}

QVariant HeadsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_words(section));
  if (orientation != Qt::Horizontal || (role != Qt::DisplayRole && role != Qt::ToolTipRole))
    return {};
  const bool hint = role == Qt::ToolTipRole;
  const auto of_quantity = [&](const Quantity& quantity) {
    return to_qt(hint ? quantity.measure().definition : quantity.measure().label);
  };
  switch (section) {
    case layer:
      return hint ? "The layer, as the file calls it" : "layer";
    case head:
      return hint ? "The head, counted from 0" : "head";
    case choice:
      return hint ? "The setting that keeps the budget best" : "best choice";
    case parameters:
      return hint ? "Its parameters" : "parameters";
    case error:
      return of_quantity(table_.error());
    case cost:
      return of_quantity(table_.cost());
    default:
      break;
  }
  const Variant& variant = *table_.variants[section - first_variant];
  return hint ? to_qt(variant.label + ": " + table_.wanted().measure().label +
                      " of its best setting within the budget")
              : to_qt(variant.label);
}

}  // namespace fovea

#include "moc_heads_model.cpp"
