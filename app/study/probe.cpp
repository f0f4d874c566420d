#include "study/probe.h"

namespace fovea {
namespace {

template <class Answer>
auto result_of(const Answer* answer) {
  return answer ? answer->result : nullptr;
}

}  // namespace

const Probe::RowCache::Answer* Probe::row(int column, Index query) {
  const ColumnState& its = results_.columns()[column];
  const ColumnState& exact = results_.exact_of(its);
  return its.key == exact.key ? exact_row(column, query) : read(its, column, query);
}

const Probe::RowCache::Answer* Probe::exact_row(int column, Index query) {
  const ColumnState& exact = results_.exact_of(results_.columns()[column]);
  return read(exact, -1 - static_cast<int>(exact.head), query);
}

const Probe::RowCache::Answer* Probe::read(const ColumnState& its, int place, Index query) {
  const int list = query == subject_.listed_query() ? 0 : 1;  // neither replaces the other
  return rows_.ask({RequestKind::row, list, place}, {its.key, query},
                   [query, computation = its.computation](const Backend&, Run& run) {
                     return read_row(*computation, query, run);
                   });
}

std::shared_ptr<const PairReading> Probe::pair(int column) {
  const auto inside = [](Index i, Index n) { return i >= 0 && i < n; };
  const auto [queries, keys] = subject_.lengths();
  const Index query = subject_.pointed.query, key = subject_.pointed.key;
  if (!inside(query, queries) || !inside(key, keys) || column >= std::ssize(results_.columns()))
    return nullptr;
  const ColumnState& its = results_.columns()[column];
  const ColumnState& exact = results_.exact_of(its);
  if (!its.computation || !exact.computation) return nullptr;
  return result_of(pairs_.ask({RequestKind::pair, 0, column}, {{its.key, exact.key}, query, key},
                              [approximate = its.computation, exact = exact.computation,
                               pair = std::pair(query, key)](const Backend&, Run& run) {
                                return read_pair(*approximate, *exact, pair.first, pair.second,
                                                 run);
                              }));
}

std::shared_ptr<const SelectionReading> Probe::selection(const ColumnState& column) {
  const ColumnState& exact = results_.exact_of(column);
  const auto& [rows, cols] = *subject_.selection;
  return result_of(selections_.ask({RequestKind::selection}, {{column.key, exact.key}, rows, cols},
                                   [approximate = column.computation, exact = exact.computation,
                                    part = *subject_.selection](const Backend&, Run& run) {
                                     return read_selection(*approximate, *exact, part.first,
                                                           part.second, run);
                                   }));
}

Probe::Readings Probe::update() {
  Readings readings;
  // What is asked for last is read first: the column that is pointed at, or the first if none is.
  const int pointed = std::max(0, subject_.pointed.column),
            columns = int(results_.columns().size());
  readings.pairs.resize(columns);
  for (int step = 1; step <= columns; ++step) {
    const int c = (pointed + step) % columns;
    readings.pairs[c] = pair(c);
  }
  if (pointed < columns) readings.pair = readings.pairs[pointed];
  const auto selected = static_cast<std::size_t>(subject_.selected_column);
  if (selected >= results_.columns().size()) return readings;
  const ColumnState& column = results_.columns()[selected];
  if (!column.computation) return readings;
  const Index query = subject_.listed_query();
  readings.row = result_of(row(subject_.selected_column, query));
  if (!results_.exact_of(column).computation) return readings;
  readings.exact_row = result_of(exact_row(subject_.selected_column, query));
  if (subject_.selection) readings.selection = selection(column);
  return readings;
}

}  // namespace fovea
