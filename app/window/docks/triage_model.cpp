#include "window/docks/triage_model.h"

#include <cmath>
#include <map>
#include <utility>

#include "data/number_text.h"
#include "report/triaged_heads.h"
#include "window/widgets/sorted_table.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

/// The pattern whose recall a column has.
std::optional<HeadPattern> pattern_of(int column) {
  if (column < TriageModel::first_recall || column >= TriageModel::pairs) return {};
  return sparse_patterns[column - TriageModel::first_recall];
}

/// The heading of a column, and what it means.
std::pair<QString, QString> words_of(int column) {
  if (const auto pattern = pattern_of(column)) {
    static const std::map<HeadPattern, QString> meanings{
        {HeadPattern::streaming,
         "The mass of exact attention in the first keys and the nearest ones"},
        {HeadPattern::vertical_slash,
         "The mass of exact attention in columns and diagonals, those of the largest mass in the "
         "last 64 queries"},
        {HeadPattern::block,
         "The mass of exact attention in blocks of keys, those of the largest products of mean "
         "query and mean key"}};
    return {to_qt(pattern_name(*pattern)), meanings.at(*pattern)};
  }
  switch (column) {
    case TriageModel::layer:
      return {"layer", "The layer, as the file calls it"};
    case TriageModel::head:
      return {"head", "The head, counted from 0"};
    case TriageModel::pattern:
      return {"pattern", "The cheapest pattern whose recall is no different from the best one"};
    case TriageModel::sizes:
      return {"sizes", "The lines or blocks that the pattern keeps"};
    case TriageModel::pairs:
      return {"pairs kept", "The share of the admitted pairs that the pattern keeps"};
    default:
      return {"remarks",
              "Other patterns that are as good, and whether the error leaves the choice open"};
  }
}

}  // namespace

void TriageModel::refresh() {
  const int rows = int(run_.rows().size());
  if (rows != rows_ || run_.source() != source_.lock()) {
    beginResetModel();
    rows_ = rows;
    source_ = run_.source();
    endResetModel();
  } else if (rows > 0 && done_ != run_.done()) {
    emit dataChanged(index(0, 0), index(rows - 1, columnCount() - 1));
  }
  done_ = run_.done();
}

int TriageModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : rows_;
}

int TriageModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : remarks + 1;
}

QString TriageModel::text_at(const QModelIndex& index) const {
  const TriageRun::Row& its = row(index.row());
  if (index.column() == layer) return to_qt(layer_label(*run_.source(), its.head.layer));
  if (index.column() == head) return QString::number(its.head.head);
  if (!its.triage) return its.error.empty() ? "…" : "–";
  const TriagedHead& triage = *its.triage;
  switch (index.column()) {
    case pattern:
      return to_qt(pattern_name(triage.pattern));
    case sizes:
      return to_qt(to_text(triage.pattern, triage.sizes()));
    case pairs:
      return to_qt(format_share(triage.pairs()));
    case remarks:
      return to_qt(remark_of(triage, run_.rule()));
    default:
      return to_qt(recall_text(triage.patterns[index.column() - first_recall].recall));
  }
}

QVariant TriageModel::number_at(const QModelIndex& index) const {
  const TriageRun::Row& its = row(index.row());
  const int column = index.column();
  if (column == layer) return qlonglong(its.head.layer);
  if (column == head) return qlonglong(its.head.head);
  if (!its.triage) return {};
  if (column == pattern) return int(its.triage->pattern);
  if (column == pairs) return its.triage->pairs();
  if (is_words(column)) return text_at(index);
  const double recall = its.triage->patterns[column - first_recall].recall.value;
  return std::isnan(recall) ? QVariant() : QVariant(recall);
}

std::optional<OwnSetting> TriageModel::setting_at(const QModelIndex& cell) const {
  const auto& triage = row(cell.row()).triage;
  if (!triage) return {};
  const HeadPattern its = pattern_of(cell.column()).value_or(triage->pattern);
  if (its == HeadPattern::full) return {};
  return variant_of(its, triage->of(its).sizes, triage->n);
}

QString TriageModel::hint_at(const QModelIndex& index) const {
  const TriageRun::Row& its = row(index.row());
  QStringList lines;
  if (!its.error.empty()) lines << to_qt(its.error);
  if (its.triage) {
    if (const auto wanted = pattern_of(index.column())) {
      const PatternRecall& recall = its.triage->of(*wanted);
      lines << to_qt(to_text(*wanted, recall.sizes) + ": " + format_share(recall.pairs) +
                     " of the pairs");
    }
    if (its.triage->rows < its.triage->n)
      lines << QString("From %1 of %2 queries").arg(its.triage->rows).arg(its.triage->n);
  }
  lines << (setting_at(index) ? "Double-click: open this head, and show the pattern as a column"
                              : "Double-click: open this head");
  return lines.join("\n");
}

QVariant TriageModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= int(run_.rows().size())) return {};
  if (role == Qt::DisplayRole) return text_at(index);
  if (role == sort_role) return number_at(index);
  if (role == Qt::ToolTipRole) return plain_tip(hint_at(index));
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_words(index.column()));
  const TriageRun::Row& its = row(index.row());
  if (role == Qt::FontRole && its.triage && pattern_of(index.column()) == its.triage->pattern)
    return bold_font();
  return {};
}

QVariant TriageModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role == Qt::TextAlignmentRole) return cell_alignment(is_words(section));
  if (orientation != Qt::Horizontal) return {};
  if (role == Qt::DisplayRole) return words_of(section).first;
  if (role == Qt::ToolTipRole) return plain_tip(words_of(section).second);
  return {};
}

}  // namespace fovea

#include "moc_triage_model.cpp"
