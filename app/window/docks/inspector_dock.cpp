#include "window/docks/inspector_dock.h"

#include <QVBoxLayout>
#include <algorithm>
#include <numeric>

#include "window/docks/singular_values.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

// The rank of the block that holds the pair, where a rank panel of the column is on screen.
const RankBlock* rank_block_of(const Study& study, int column, Index query, Index key) {
  if (!study.model()) return nullptr;
  for (const auto& row : study.model()->cells) {
    if (column >= static_cast<int>(row.size())) continue;
    const auto& panel = row[static_cast<std::size_t>(column)].panel;
    const auto* map = panel ? std::get_if<BlockMap>(&panel->body) : nullptr;
    if (!map) continue;
    for (const RankBlock& block : map->map.blocks)
      if (block.rows.contains(query) && block.cols.contains(key)) return &block;
  }
  return nullptr;
}

QString range_text(IndexRange range) {
  return QString("%1–%2").arg(range.begin).arg(range.end - 1);
}

QString smallest_text(const RankBlock& block) {
  const Index bounded = static_cast<Index>(block.singular_values.size()) - block.resolved;
  if (bounded > 0) return QString("the last %1: a bound").arg(bounded);
  return block.singular_values.empty() ? "–" : number_text(double(block.singular_values.back()));
}

}  // namespace

InspectorDock::InspectorDock(Study& study, QWidget* parent) : QWidget(parent), study_(study) {
  setObjectName("dock_page");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(12, rhythm, 12, 12);
  column->setSpacing(rhythm);
  column->addWidget(hint_ = make_note("Point at a pair of query and key."));
  column->addWidget(pair_ = new Readings("Under the cursor", this));
  column->addWidget(top_heading_ = make_heading("Top keys"));
  column->addWidget(top_keys_ = new Readings("Top keys", this));
  top_heading_->hide();
  column->addWidget(block_heading_ = make_heading("Rank block"));
  column->addWidget(block_ = new Readings("Rank block", this));
  column->addWidget(values_ = new SingularValues(this));
  refresh_block();
  column->addWidget(make_heading("Selection"));
  column->addWidget(selection_hint_ = make_note("Drag a rectangle in a panel for its statistics."));
  column->addWidget(selection_ = new Readings("Selection", this));
  column->addStretch(1);
}

QString InspectorDock::position_text(Index i) const {
  const auto source = study_.source();
  const bool named = source && (i < Index(source->sequence.tokens.size()) || source->sequence.grid);
  if (!named) return QString::number(i);
  const QString label = QString::fromStdString(source->sequence.label(i));
  return source->sequence.tokens.empty() ? QString("%1  %2").arg(i).arg(label)
                                         : QString("%1  “%2”").arg(i).arg(label.left(24));
}

void InspectorDock::show_row(std::shared_ptr<const RowReading> row) {
  if (row == row_) return;
  row_ = std::move(row);
  refresh_top_keys();
}

void InspectorDock::show_exact_row(std::shared_ptr<const RowReading> row) {
  if (row == exact_row_) return;
  exact_row_ = std::move(row);
  refresh_top_keys();
}

// By the exact weight; beside it what the selected column makes of it.
void InspectorDock::refresh_top_keys() {
  constexpr std::size_t shown = 6;
  const bool both = row_ && exact_row_ && row_->query == exact_row_->query &&
                    row_->values.size() == exact_row_->values.size();
  top_heading_->setVisible(both);
  if (!both) return top_keys_->set_rows({});
  top_heading_->setText(QString("Top keys of query %1").arg(row_->query));
  const auto& exact = exact_row_->values;
  std::vector<std::size_t> order(exact.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t count = std::min(shown, order.size());
  const auto heavier = [&](std::size_t a, std::size_t b) {
    return exact[a] > exact[b] || (exact[a] == exact[b] && a < b);
  };
  std::ranges::partial_sort(order, order.begin() + std::ptrdiff_t(count), heavier);
  const auto column = std::size_t(std::max(0, study_.selected_column()));
  const auto& columns = study_.session().columns;
  const bool reference = column < columns.size() && is_reference(columns[column].variant);
  std::vector<Reading> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t key = order[i];
    if (!(exact[key] > 0)) break;
    const auto short_text = [](double value) { return QString::number(value, 'g', 3); };
    const QString weight = short_text(double(exact[key]));
    QString name = position_text(Index(key));
    if (name.size() > 18) name.remove("patch ");  // its row and column say more
    rows.push_back({name.size() > 18 ? name.left(16) + "…" : name,
                    reference ? weight : weight + " → " + short_text(double(row_->values[key])),
                    position_text(Index(key)) +
                        (reference ? ": exact weight" : ": exact weight → selected column")});
  }
  top_keys_->set_rows(rows);
}

void InspectorDock::show_pair(std::shared_ptr<const PairReading> reading, int column) {
  hint_->setVisible(!reading);
  if (!reading) {
    pair_->set_rows({});
    return;
  }
  const auto& columns = study_.columns();
  const ColumnState* state =
      column >= 0 && column < int(columns.size()) ? &columns[std::size_t(column)] : nullptr;
  std::vector<Reading> rows{{"query", position_text(reading->query), {}},
                            {"key", position_text(reading->key), {}},
                            {"exact", number_text(reading->exact), "P of exact attention"}};
  if (state && !is_reference(state->column.variant)) {
    const double error = reading->approximate - reading->exact;
    const QString percent = reading->exact > 0 ? QString("  (%1%2 %)")
                                                     .arg(error > 0 ? "+" : "")
                                                     .arg(100 * error / reading->exact, 0, 'g', 3)
                                               : "";
    rows.push_back({QString::fromStdString(find_variant(state->column.variant).label),
                    number_text(reading->approximate) + percent,
                    "P̃ of the column under the cursor"});
    rows.push_back({"error", number_text(error), "P̃ − P"});
    const PairInfo& info = reading->info;
    rows.push_back({"evaluated", info.covered ? "yes" : "no: masked", {}});
    if (info.covered) {
      rows.push_back(
          {"level", QString::number(info.level), "of the token pyramid that owns the pair"});
      rows.push_back({"weight", number_text(info.weight), "how many keys the entry stands for"});
    }
    if (!info.place.empty())
      rows.push_back(
          {"place", QString::fromStdString(info.place), "block, leaf, bucket or sample"});
  }
  if (const RankBlock* block = rank_block_of(study_, column, reading->query, reading->key))
    rows.push_back(
        {"block rank",
         QString("%1 of %2").arg(block->rank).arg(std::min(block->rows.size(), block->cols.size())),
         QString("rows %1, columns %2").arg(range_text(block->rows), range_text(block->cols))});
  pair_->set_rows(rows);
}

void InspectorDock::show_selection(std::shared_ptr<const SelectionReading> reading) {
  selection_hint_->setVisible(!reading);
  if (!reading) {
    selection_->set_rows({});
    return;
  }
  const auto pair = [](double exact, double approximate) {
    return number_text(exact) + " → " + number_text(approximate);
  };
  selection_->set_rows(
      {{"queries", range_text(reading->rows), {}},
       {"keys", range_text(reading->cols), {}},
       {"mass a row", pair(reading->exact_mass, reading->approximate_mass),
        "mean over the rows: exact → selected column"},
       {"mean",
        pair(reading->exact_mass / double(reading->cols.size()),
             reading->approximate_mass / double(reading->cols.size())),
        "of an entry: exact → selected column"},
       {"largest", pair(reading->exact_max, reading->approximate_max), "exact → selected column"},
       {"rms error", number_text(reading->rms_error) + (reading->sampled ? " (sampled)" : ""),
        "P̃ − P"}});
}

void InspectorDock::choose_block(int column, Index query, Index key) {
  chosen_ = {column, query, key};
  refresh_block();
}

void InspectorDock::refresh_block() {
  const RankBlock* block =
      chosen_ ? rank_block_of(study_, chosen_->column, chosen_->query, chosen_->key) : nullptr;
  for (QWidget* part : std::initializer_list<QWidget*>{block_heading_, block_, values_})
    part->setVisible(block != nullptr);
  if (!block) return;
  const auto full = std::min(block->rows.size(), block->cols.size());
  const double first = block->singular_values.empty() ? 0 : double(block->singular_values.front());
  block_->set_rows({{"queries", range_text(block->rows), {}},
                    {"keys", range_text(block->cols), {}},
                    {"rank", QString("%1 of %2").arg(block->rank).arg(full),
                     "numerical rank at the tolerance ε"},
                    {"largest σ", number_text(first), "the block's largest singular value"},
                    {"smallest σ", smallest_text(*block),
                     "what was cut off is given as equal values, whose sum bounds the true one"}});
  values_->show_values(block->singular_values, block->rank);
}

}  // namespace fovea
