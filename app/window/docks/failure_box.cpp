#include "window/docks/failure_box.h"

#include <QLabel>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "study/study.h"
#include "window/docks/reading_words.h"
#include "window/widgets/form.h"
#include "window/widgets/readings.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

constexpr std::size_t most_keys = 6, most_changed = 4, most_spans = 3;

/// Indices of the largest values; the lower index first among equal values.
std::vector<std::size_t> largest(const std::vector<float>& values, std::size_t count) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::ranges::partial_sort(order, order.begin() + std::ptrdiff_t(count), [&](auto a, auto b) {
    return values[a] > values[b] || (values[a] == values[b] && a < b);
  });
  order.resize(count);
  return order;
}

QString shortened(const QString& text, int length) {
  return text.size() > length ? text.left(length - 2) + "…" : text;
}

/// The attention of a group of queries to a group of keys.
struct LostSpan {
  std::size_t query = 0, key = 0;
  double exact = 0, approximate = 0;
  double lost() const { return exact - approximate; }
};

/// The pairs of groups that have lost most, the largest loss first.
std::vector<LostSpan> lost_spans(const SpanReading& reading) {
  std::vector<LostSpan> spans;
  for (std::size_t q = 0; q < reading.queries.size(); ++q)
    for (std::size_t k = 0; k < reading.keys.size(); ++k) {
      const SpanMass::Cell& cell = reading.mass(Index(q), Index(k));
      const LostSpan span{q, k, cell.exact.value, cell.approximate.value};
      constexpr double noticeable = 0.005;  // of a query's attention
      if (span.lost() > noticeable) spans.push_back(span);
    }
  std::ranges::stable_sort(spans, std::greater{}, &LostSpan::lost);
  spans.resize(std::min(spans.size(), most_spans));
  return spans;
}

}  // namespace

FailureBox::FailureBox(Study& study) : study_(study) {
  auto* column = make_inner<QVBoxLayout>(this);
  const auto add = [column](const char* name, const QString& tip) {
    QLabel* heading = make_subheading();
    heading->setToolTip(tip);
    column->addWidget(heading);
    auto* readings = new Readings(name);
    column->addWidget(readings);
    return std::pair(heading, readings);
  };
  column->addWidget(hint_ = make_note());
  column->addWidget(worst_ = new Readings("Worst query"));
  std::tie(lost_heading_, lost_) = add("Lost keys", "The keys with the largest P − P̃");
  std::tie(gained_heading_, gained_) = add("Gained keys", "The keys with the largest P̃ − P");
  std::tie(top_heading_, top_) = add("Top keys", "The keys with the largest P");
  std::tie(spans_heading_, spans_) =
      add("Lost spans",
          "The parts of the text whose attention to other parts has lost most, as the Spans below "
          "the canvas list them");
  connect(worst_, &Readings::link_activated, this,
          [this](const QString& query) { emit query_chosen(query.toLongLong()); });
  for (const Readings* keys : {top_, lost_, gained_})
    connect(keys, &Readings::link_activated, this, [this](const QString& key) {
      if (exact_row_) emit pair_chosen(exact_row_->query, key.toLongLong());
    });
  connect(&study, &Study::session_changed, this, &FailureBox::refresh);
  connect(&study, &Study::columns_changed, this, &FailureBox::refresh);
  connect(&study, &Study::spans_read, this, &FailureBox::refresh);
  connect(&study, &Study::row_read, this, [this](auto row) {
    if (std::exchange(row_, row) != row) show_keys();
  });
  connect(&study, &Study::exact_row_read, this, [this](auto row) {
    if (std::exchange(exact_row_, row) != row) show_keys();
  });
  refresh();
}

void FailureBox::refresh() {
  const ColumnState* state = study_.selected();
  if (!state) return;
  show_worst(*state);
  show_keys();
  show_spans(is_reference(state->column.variant));
}

void FailureBox::show_worst(const ColumnState& state) {
  const bool reference = is_reference(state.column.variant);
  QString hint;
  if (reference)
    hint = "Exact attention makes no error. Select another column.";
  else if (state.metrics && !state.metrics->of_outputs())
    hint = QString("Output errors are not known: ") + no_values;
  else if (!state.metrics || state.stale)
    hint = "Not compared yet.";
  hint_->setText(hint);
  hint_->setVisible(!hint.isEmpty());
  const std::optional<Index> worst = study_.worst_query();
  if (!hint.isEmpty() || !worst) return worst_->set_rows({});
  const Index query = *worst;
  const std::vector<float>& errors = state.metrics->token_error;
  const QString name = query_text(study_, query);
  worst_->set_rows({{"worst: " + shortened(name, 18), number_text(errors[query], 3),
                     name + ": the query with the largest output error |z̃ − z|. A click goes "
                            "there; Q goes to the next worst.",
                     QString::number(query)}});
}

// Sorted by their exact weights, with the weights in the selected column beside them.
void FailureBox::show_keys() {
  const ColumnState* state = study_.selected();
  // A column that is not computed yet has no row: the last one was of another column.
  const bool both = state && state->computation && row_ && exact_row_ &&
                    row_->query == exact_row_->query &&
                    row_->values.size() == exact_row_->values.size();
  top_heading_->setVisible(both);
  most_lost_.reset();
  if (!both) {
    top_->set_rows({});
    show_changed(*lost_heading_, *lost_, {}, {});
    return show_changed(*gained_heading_, *gained_, {}, {});
  }
  const bool reference = is_reference(state->column.variant);
  const QString of = " query " + shortened(query_text(study_, row_->query), 16);
  top_heading_->setText("Top keys of" + of);
  std::vector<Reading> rows;
  for (const std::size_t key : largest(exact_row_->values, most_keys)) {
    const float weight = exact_row_->values[key];
    if (!(weight > 0)) break;
    rows.push_back(key_row({Index(key), weight, row_->values[key]}, reference));
  }
  top_->set_rows(rows);
  const LostKeys changed =
      reference ? LostKeys{} : lost_keys(exact_row_->values, row_->values, most_changed);
  show_changed(*lost_heading_, *lost_, "Lost by" + of, changed.lost);
  show_changed(*gained_heading_, *gained_, "Gained by" + of, changed.gained);
  if (!changed.lost.empty()) most_lost_ = {row_->query, changed.lost.front().key};
  emit keys_listed(row_->query);
}

// A key of the shown query with its weights; a click on it goes there.
Reading FailureBox::key_row(const ChangedKey& key, bool exact_only) const {
  const QString position = key_text(study_, key.key);
  QString name = position;
  if (name.size() > 18) name.remove("patch ").remove("tokens ");  // the numbers say more
  QString weights = number_text(key.exact, 3);
  if (!exact_only) weights += " → " + weight_text(key.approximate, 3);
  return {shortened(name, 18), weights,
          position + ": weight, " + compared(study_) + ". A click goes there.",
          QString::number(key.key)};
}

void FailureBox::show_changed(QLabel& heading, Readings& readings, const QString& title,
                              const std::vector<ChangedKey>& keys) {
  heading.setText(title);
  std::vector<Reading> rows;
  constexpr float rounding = 1e-5f;  // of weights in single precision
  for (const ChangedKey& key : keys)
    if (std::abs(key.exact - key.approximate) > rounding) rows.push_back(key_row(key, false));
  heading.setVisible(!rows.empty());
  readings.set_rows(rows);
}

void FailureBox::show_spans(bool reference) {
  const auto& state = study_.spans();
  std::vector<Reading> rows;
  const bool is_of_column = study_.wants_spans() && !state.stale &&
                            state.title == study_.title_of(study_.selected_column());
  if (!reference && is_of_column && state.reading && !state.reference)
    for (const LostSpan& span : lost_spans(*state.reading)) {
      const QString from = to_qt(state.reading->queries[span.query].name),
                    to = to_qt(state.reading->keys[span.key].name);
      rows.push_back({shortened(from, 12) + " → " + shortened(to, 12),
                      number_text(span.exact, 3) + " → " + number_text(span.approximate, 3),
                      "The attention that the queries of “" + from + "” pay to the keys of “" + to +
                          "”, on average: " + compared(study_)});
    }
  spans_heading_->setText("Spans that lost attention");
  spans_heading_->setVisible(!rows.empty());
  spans_->set_rows(rows);
}

}  // namespace fovea

#include "moc_failure_box.cpp"
