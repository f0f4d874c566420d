#include "study/probe.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

PairReading read_pair(const Computation& approximate, const Computation& exact, Index query,
                      Index key, Run& run) {
  const IndexRange row{query, query + 1}, col{key, key + 1};
  return {.query = query,
          .key = key,
          .exact = exact.op->tile(row, col, run)(0, 0),
          .approximate = approximate.op->tile(row, col, run)(0, 0),
          .info = pair_info(approximate.op->plan(), query, key)};
}

RowReading read_row(const Computation& computation, Index query, Run& run) {
  const Index n = computation.op->problem().n();
  const Matrix row = computation.op->tile({query, query + 1}, {0, n}, run);
  return {.query = query, .values = {row.row(0), row.row(0) + n}};
}

SelectionReading read_selection(const Computation& approximate, const Computation& exact,
                                IndexRange rows, IndexRange cols, Run& run) {
  SelectionReading reading{.rows = rows, .cols = cols};
  constexpr Index entries = 4'000'000;  // about .1 s
  const Index step = std::max<Index>(1, rows.size() * cols.size() / entries);
  reading.sampled = step > 1;
  double squares = 0;
  Index count = 0;
  for (Index i = rows.begin; i < rows.end; i += step, ++count) {
    const Matrix p = exact.op->tile({i, i + 1}, cols, run);
    const Matrix q = approximate.op->tile({i, i + 1}, cols, run);
    for (Index j = 0; j < cols.size(); ++j) {
      const double a = q(0, j), e = p(0, j);
      reading.exact_mass += e;
      reading.approximate_mass += a;
      reading.exact_max = std::max(reading.exact_max, e);
      reading.approximate_max = std::max(reading.approximate_max, a);
      squares += (a - e) * (a - e);
    }
  }
  reading.exact_mass /= static_cast<double>(count);
  reading.approximate_mass /= static_cast<double>(count);
  reading.rms_error = std::sqrt(squares / static_cast<double>(count * cols.size()));
  return reading;
}

}  // namespace

const Probe::RowCache::Answer* Probe::row(int column) {
  const ColumnState& exact = results_.exact();
  const ColumnState& its =
      column < 0 ? exact : results_.columns()[static_cast<std::size_t>(column)];
  const bool of_exact = column < 0 || (exact.computation && its.key == exact.key);
  const ColumnState& state = of_exact ? exact : its;
  const RowKey key{state.key, subject_.shown_query()};
  return requests_.ask(rows_, {RequestKind::row, 0, of_exact ? -1 : column}, key,
                       [key, computation = state.computation](const Backend&, Run& run) {
                         return read_row(*computation, key.query, run);
                       });
}

Probe::Readings Probe::update() {
  Readings readings;
  const Index n = subject_.length();
  const auto inside = [&](Index i) { return i >= 0 && i < n; };
  const auto& columns = results_.columns();
  const ColumnState& exact = results_.exact();
  const auto [query, key, pointed_column] = subject_.pointed;
  const auto pointed = static_cast<std::size_t>(std::max(0, pointed_column));
  if (inside(query) && inside(key) && pointed < columns.size() && columns[pointed].computation &&
      exact.computation) {
    const PairKey pair{columns[pointed].key, exact.key, query, key};
    const auto* answer = requests_.ask(
        pairs_, {RequestKind::pair}, pair,
        [pair, a = columns[pointed].computation, e = exact.computation](const Backend&, Run& run) {
          return read_pair(*a, *e, pair.query, pair.key, run);
        });
    if (answer) readings.pair = answer->result;
  }
  const auto selected = static_cast<std::size_t>(subject_.selected_column);
  if (selected >= columns.size() || !columns[selected].computation) return readings;
  if (const auto* answer = row(subject_.selected_column)) readings.row = answer->result;
  if (!exact.computation) return readings;
  if (const auto* answer = row(-1)) readings.exact_row = answer->result;
  if (!subject_.selection) return readings;
  const auto& [rows, cols] = *subject_.selection;
  const SelectionKey part{columns[selected].key, exact.key, rows, cols};
  const auto* answer = requests_.ask(
      selections_, {RequestKind::selection}, part,
      [part, a = columns[selected].computation, e = exact.computation](const Backend&, Run& run) {
        return read_selection(*a, *e, part.rows, part.cols, run);
      });
  if (answer) readings.selection = answer->result;
  return readings;
}

void Probe::clear() {
  pairs_.clear();
  rows_.clear();
  selections_.clear();
}

}  // namespace fovea
