#include "endurance/checks.h"

#include <QLabel>
#include <QRegularExpression>
#include <QTableWidget>
#include <algorithm>
#include <cmath>

#include "data/overloads.h"
#include "views/views.h"

namespace fovea::test {
namespace {

bool all_finite(const auto& numbers) {
  return std::ranges::all_of(numbers, [](auto x) { return std::isfinite(x); });
}

/// Masked entries are -inf; none of the sources has a NaN.
bool is_shown(float value) {
  return std::isfinite(value) || (std::isinf(value) && value < 0);
}

std::string wrong_in(const Raster& raster) {
  if (!std::isfinite(raster.low) || !std::isfinite(raster.high)) return "the range is not finite";
  for (Index i = 0; i < raster.values.rows(); ++i)
    for (Index j = 0; j < raster.values.cols(); ++j)
      if (!is_shown(raster.values(i, j)))
        return "pixel " + std::to_string(i) + ", " + std::to_string(j) + " is " +
               std::to_string(raster.values(i, j));
  return {};
}

std::string wrong_in(const BlockMap& blocks) {
  if (!std::isfinite(blocks.stored)) return "storage is not finite";
  // Where every block has rank 0 there is nothing to store, and the caption says so.
  return blocks.stored > 0 && !std::isfinite(blocks.compression) ? "compression is not finite" : "";
}

std::string wrong_in(const RowCurve& row) {
  return all_finite(row.exact) && all_finite(row.approximate) ? "" : "a weight is not finite";
}

std::string wrong_in(const Strip& strip) {
  return all_finite(strip.values) ? "" : "a value is not finite";
}

std::string wrong_in(const OutputPicture& picture) {
  return all_finite(picture.rgb) ? "" : "a colour is not finite";
}

std::string wrong_in(const FigureTable& table) {
  static const QRegularExpression odd("\\b(nan|inf)\\b", QRegularExpression::CaseInsensitiveOption);
  for (const auto& [label, value] : table.rows)
    if (odd.match(QString::fromStdString(value)).hasMatch()) return label + " is " + value;
  return {};
}

std::string wrong_in(const Message& message) {
  return message.text.empty() ? "it is blank and does not say why" : "";
}

std::string wrong_in(const auto&) {
  return {};
}

std::string wrong_in_cell(const CanvasCell& cell) {
  if (cell.failed) return "failed: " + cell.status;
  if (!cell.panel) return cell.status.empty() ? "it is blank and does not say why" : "";
  return std::visit([](const auto& body) { return wrong_in(body); }, cell.panel->body);
}

std::string wrong_in(const Metrics& m) {
  if (m.of_outputs() && !(all_finite(std::array{m.output_rel_fro, m.output_max_abs,
                                                m.row_rel_error_p50, m.row_rel_error_p90}) &&
                          all_finite(m.token_error)))
    return "an output error is not finite";
  if (m.of_attention() && !all_finite(std::array{m.attention_rel_fro.value, m.attention_tv.value,
                                                 m.mass_kept.value, m.density}))
    return "a measure of the weights is not finite";
  return {};
}

/// Whether the column is `hyper` in a mode that has no form for the head, and says so. The mode
/// stays, as a variant without a form does.
bool is_refused_mode(const ColumnState& column, const Problem& head) {
  const QString error = QString::fromStdString(column.error);
  if (column.column.variant != "hyper" || !error.contains("expected mode = practical"))
    return false;
  if (error.contains("mode is 'theory', which has no causal form")) return head.causal;
  return error.contains("mode is 'theory', which has no form with a window") &&
         (head.window > 0 || head.mask || head.rule);
}

/// Whether a column may fail: the variant or its mode has no form for the head, or values are each
/// in their range but do not go together, and it says so.
bool may_fail(const Study& study, const ColumnState& column) {
  static const QRegularExpression apart(
      "expected (summary|at most 2\\^20 leaves|at most 1024 in a tree that learns|h \\+ 1 = |an "
      "odd)");
  if (apart.match(QString::fromStdString(column.error)).hasMatch()) return true;
  const auto problem = study.head_of(column).problem;
  if (!problem || column.column.variant == imported_variant().id) return true;
  return is_refused_mode(column, *problem) ||
         !find_variant(column.column.variant).refusal(*problem).empty();
}

std::string place(const CanvasModel& model, std::size_t row, std::size_t column) {
  return to_text(model.views[row]) + " of column " + std::to_string(column) + " (" +
         model.column_titles[column] + ", " + model.column_subtitles[column] + ")";
}

void check_words(Desk& desk, const MainWindow& window) {
  static const QRegularExpression odd("(?<![\\w<&])-?(nan|inf)(?![\\w>])");
  for (const auto* label : window.findChildren<QLabel*>())
    if (label->isVisible() && odd.match(label->text()).hasMatch())
      desk.log().failure("a label says: " + label->text().toStdString());
  for (const auto* table : window.findChildren<QTableWidget*>())
    for (int row = 0; row < table->rowCount(); ++row)
      for (int column = 0; column < table->columnCount(); ++column)
        if (const auto* item = table->item(row, column); item && odd.match(item->text()).hasMatch())
          desk.log().failure("a table says: " + item->text().toStdString());
}

void check_columns(Desk& desk, const Study& study) {
  for (std::size_t c = 0; c < study.columns().size(); ++c) {
    const ColumnState& column = study.columns()[c];
    const std::string name = study.title_of(int(c));
    if (!column.error.empty() && !may_fail(study, column))
      desk.log().failure(name + " failed: " + column.error);
    if (column.metrics)
      if (const std::string wrong = wrong_in(*column.metrics); !wrong.empty())
        desk.log().failure(name + ": " + wrong);
  }
}

/// Whether work is missing that nobody does.
bool is_stuck(const Study& study) {
  const Engine::Status status = study.status();
  return study.source() && !study.settled() && !study.paused() && !study.opening() &&
         !status.busy() && status.waiting == 0;
}

}  // namespace

void check_session(Desk& desk, MainWindow& window) {
  const Study& study = window.study();
  if (!study.source()) return;
  const Session& s = study.session();
  const Lengths lengths = study.lengths();
  const Viewport& v = s.viewport;
  const bool inside = v.row_begin >= 0 && v.col_begin >= 0 &&
                      v.row_end <= double(lengths.queries) && v.col_end <= double(lengths.keys) &&
                      v.row_begin < v.row_end && v.col_begin < v.col_end;
  if (!inside) desk.log().failure("the visible part is not within the head");
  if (s.views.empty()) desk.log().failure("there is no view");
  if (s.columns.size() != study.columns().size() && !study.shows_matrix())
    desk.log().failure("the session has another number of columns than the study");
  if (s.pinned_query && (*s.pinned_query < 0 || *s.pinned_query >= lengths.queries))
    desk.log().failure("the pinned query is not within the head");
}

void check_results(Desk& desk, MainWindow& window) {
  const Study& study = window.study();
  const auto model = study.model();
  if (!model || model->is_empty()) return;
  for (std::size_t row = 0; row < model->cells.size(); ++row)
    for (std::size_t column = 0; column < model->cells[row].size(); ++column) {
      const CanvasCell& cell = model->cells[row][column];
      const std::string wrong = wrong_in_cell(cell);
      const bool may = cell.failed && column < study.columns().size() &&
                       may_fail(study, study.columns()[column]);
      if (!wrong.empty() && !may) desk.log().failure(place(*model, row, column) + ": " + wrong);
    }
  check_columns(desk, study);
  check_words(desk, window);
}

bool settle(Desk& desk, MainWindow& window, int limit_ms) {
  const QPointer<MainWindow> alive = &window;
  Study& study = window.study();
  // The event loop has gone round so often, and so long, that whatever was on its way has arrived.
  constexpr int many = 200, long_ms = 30000;
  int rounds = 0;
  QElapsedTimer since;
  const auto stuck = [&] { return rounds > many && since.elapsed() > long_ms; };
  const auto done = [&] {
    if (!alive) return true;
    ++rounds;
    if (!is_stuck(study)) {
      rounds = 0;
      since.start();
    }
    const bool nothing = !study.source() && !study.opening();
    return study.paused() || nothing || study.settled() || stuck();
  };
  since.start();
  const bool came = desk.wait_until(done, limit_ms);
  if (!alive) return false;
  if (stuck()) desk.log().failure("panels are missing and nothing computes them");
  if (came) return study.source() && study.settled();
  desk.log().line(std::string("  still at it: ") +
                  (study.status().running ? traits_of(*study.status().running).text : "opening"));
  cancel_all(desk, window);
  return false;
}

void cancel_all(Desk& desk, MainWindow& window) {
  const QPointer<MainWindow> alive = &window;
  window.exports().cancel();
  window.study().cancel();
  const auto idle = [&] { return !alive || !window.study().status().busy(); };
  if (desk.wait_until(idle, 60000)) return;
  const auto running = window.study().status().running;
  desk.log().failure(std::string("a job goes on after it was cancelled: ") +
                     (running ? traits_of(*running).text : "none"));
}

}  // namespace fovea::test
