// A Study is what the window looks at: the opened source, the Session, and every result. A change
// requests what is missing and nothing else; results are immutable and arrive on the window's
// thread, which never computes and never waits.
#pragma once

#include <QTimer>
#include <chrono>

#include "input/backend_choice.h"
#include "study/continued_session.h"
#include "study/head_cards.h"
#include "study/leaf_marks.h"
#include "study/panel_cells.h"
#include "study/source_opening.h"
#include "study/span_readings.h"
#include "study/timings.h"

namespace fovea {

class Study : public QObject {
  Q_OBJECT

 public:
  /// `background`: for what would make the window wait; null means its own.
  explicit Study(std::unique_ptr<Backend> backend, std::shared_ptr<Background> background = {},
                 QObject* parent = nullptr);

  /// Opens on the engine's thread; then `opened`, or `reported` and everything stays as it was.
  /// `session`: to restore; else the standard one. `expected_hash`: of the content that a session
  /// was made with; another one is reported, or `ask_for_other_content` is called instead of
  /// showing it.
  void open(const std::string& what, std::optional<Session> session = {},
            const std::string& expected_hash = {}, std::function<void()> ask_for_other_content = {},
            std::vector<ColumnTree> trees = {});
  /// Opens a source that is there already, by its path.
  void open(std::shared_ptr<const Source> source);
  /// The opened source goes on, as a live stream does with another step: this is no step of undo.
  /// The Session stays, and pictures stay until there are newer ones; where heads or tokens are not
  /// as many, the columns, views and look stay.
  void continue_source(std::shared_ptr<const Source> source);
  /// The source of a path that is there already; null if it is to be read. The window sets it.
  std::function<std::shared_ptr<const Source>(const std::string& what)> find_source;
  /// The learned trees that the columns of the session show.
  std::vector<ColumnTree> trees() const { return results_.shown_trees(); }
  bool opening() const { return opening_.pending().has_value(); }
  /// Whether a source is being opened with this Session.
  bool is_opening(const Session& session) const {
    return opening_.opens_source() && opening_.pending()->session == session;
  }
  /// Another source that is being opened is not wanted any more.
  void cancel_opening();
  /// More layers of the opened source are still to come.
  bool growing() const { return opening_.growth().runs(); }
  /// How many of them are expected; 0 also if that is not known.
  Index layers_to_come() const;
  /// "layer 5 of 30" while a model gives its layers one by one; empty otherwise.
  std::string layers_text() const;
  /// SHA-256 of the source's content: found, or expected by its session; empty until it is known.
  const std::string& content_hash() const { return opening_.content_hash(); }
  /// The model that the opened source is of, for other things that it reads.
  const std::shared_ptr<LastModel>& last_model() const { return opening_.last_model(); }

  const Session& session() const { return subject_.session; }
  /// Other patches of an image open it again, and so does what a model reads: then the Session
  /// changes when they are there. Without other content it is a change of what is shown and of
  /// what is being opened.
  void set_session(Session session);
  /// The Session as far as it fits the opened source; as it is where it opens other patches.
  Session fitting(Session session) const;
  /// What such a change makes of the Session, once other patches that are being opened are there.
  Session when_reopened(const Session& session) const;
  /// The Session that a person will see: with other patches, or the text for a model, that are
  /// still being opened. What is saved is this one, so that nothing that was typed is lost.
  const Session& wanted_session() const {
    return opening_.content() ? *opening_.content()->session : session();
  }
  /// Other patches that are being opened are not wanted any more.
  void keep_content();
  std::shared_ptr<const Source> source() const { return subject_.source; }
  /// Whether the source was opened with the columns, views and look of the one before.
  bool continued() const { return continued_; }
  /// Columns that come back once a source that they fit is opened.
  const std::vector<WaitingColumn>& waiting_columns() const { return waiting_; }
  void keep_waiting(std::vector<WaitingColumn> columns) { waiting_ = std::move(columns); }
  /// What the queries of the opened layer are, and its keys; a source is open.
  const Sequence& sequence() const { return sequence_of(*subject_.source, subject_.session.layer); }
  const Sequence& key_sequence() const {
    return key_sequence_of(*subject_.source, subject_.session.layer);
  }
  bool shows_matrix() const { return subject_.shows_matrix(); }
  /// The lengths of the opened layer. 0 if nothing is open.
  Lengths lengths() const { return subject_.lengths(); }
  /// The length for which parameters are chosen: that of the keys.
  Index length() const { return lengths().keys; }
  /// Whether the keys of the opened head are other tokens than its queries.
  bool has_own_keys() const { return source() && fovea::has_own_keys(*source(), session().layer); }

  /// The problem of the opened head.
  std::shared_ptr<const Problem> problem() const { return results_.opened().problem; }
  const std::vector<ColumnState>& columns() const { return results_.columns(); }
  /// Exact attention of the opened head. Null if not there yet.
  const ColumnState* exact() const {
    return results_.opened().exact.computation ? &results_.opened().exact : nullptr;
  }
  /// The head that a column shows: the opened one, or that which it holds.
  const HeadState& head_of(const ColumnState& column) const { return results_.head_of(column); }
  /// The first column that shows exact attention of a column's head; nothing if none does.
  std::optional<int> exact_column(const ColumnState& column) const {
    return results_.exact_column(column.head);
  }
  std::shared_ptr<const CanvasModel> model() const { return model_; }
  std::string title_of(int column) const { return results_.title_of(column); }

  const Backend& backend() const { return requests_.backend(); }
  Engine::Status status() const { return requests_.status(); }
  /// Computes everything again on another back end; source and session stay.
  void use_backend(std::unique_ptr<Backend> backend);
  /// The same, of a back end that is made in the background. An error is reported.
  void use_backend(const BackendChoice& choice);

  /// Every panel of the Session is there and up to date, or failed.
  bool panels_ready() const { return !opening() && subject_.source && cells_.ready(); }
  /// The same but for panels that take long: ranks, and reach.
  bool pictures_ready() const { return !opening() && subject_.source && cells_.ready(false); }
  /// Whether the model is still that of the step before continue_source(), or of the text before an
  /// edit of it: a step is shown as a whole, unless it takes long.
  bool holds_step() const { return held_since_.has_value(); }
  /// The panels are ready, and no change waits for an update.
  bool settled() const {
    return !update_timer_.isActive() && panels_ready() && !reads_drawn_pairs();
  }
  /// A map becomes finer or exact, or exact attention of a long head is being computed.
  bool refining() const {
    return (cells_.refining() || maps_.computes_exact()) && !opening() && !paused();
  }
  /// Settled, and every map is exact, and as fine as the screen.
  bool fully_refined() const { return settled() && !cells_.refining(); }

  /// Pairs are read on which a person draws.
  bool reads_drawn_pairs() const { return requests_.is_pending({RequestKind::drawn_pairs}); }
  /// There is work that a person waits for.
  bool can_cancel() const {
    return opening() || growing() || reads_drawn_pairs() ||
           (!paused() && source() && (!panels_ready() || refining()));
  }
  /// Stops all work; what is there stays. The next change, or `resume`, computes again.
  void cancel();
  /// Computes what is missing, and what has failed again.
  void resume();
  /// The same, and every column is timed again.
  void measure_again();
  /// To be called after other work in the background: columns that waited for it are timed.
  void go_on_measuring() { update_later(); }
  bool paused() const { return requests_.paused(); }

  /// What a column will be, on the head that it shows: the next Session with it needs no work.
  void put_computation(std::size_t column, const Column& next,
                       std::shared_ptr<const Computation> computation) {
    const HeadKey& head = results_.head_of(results_.columns()[column]).key;
    results_.put({head, without_head(next)}, std::move(computation), "");
  }

  int selected_column() const { return subject_.selected_column; }
  /// The selected column; null if there is none.
  const ColumnState* selected() const {
    const int column = selected_column();
    return column >= 0 && column < std::ssize(columns()) ? &columns()[column] : nullptr;
  }
  void select_column(int column);
  void set_dark(bool dark);
  /// The side of a panel on screen: finer rasters show no more.
  void set_panel_pixels(int side);
  /// The rows and columns of the canvas that are in sight: their panels come first.
  void set_sight(IndexRange rows, IndexRange columns);

  /// Whether a column waits until its tree is learned.
  bool learns(std::size_t column) const { return results_.learns(column); }
  /// Cancels the learning of the column's tree, and nothing else.
  void cancel_learning(std::size_t column);

  void hover(Index query, Index key, int column);                 // query < 0: nothing
  Index hovered_query() const { return subject_.pointed.query; }  // -1: none
  Index hovered_key() const { return subject_.pointed.key; }
  int hovered_column() const { return subject_.pointed.column; }
  /// The hovered query, else the pinned one, else the middle.
  Index listed_query() const { return subject_.listed_query(); }
  /// The query with the largest output error in the selected column. Until its errors are known,
  /// that of the column before. Empty if no error was known.
  std::optional<Index> worst_query() const { return subject_.worst_query; }
  void select(IndexRange rows, IndexRange cols);  // empty: nothing
  const auto& selection() const { return subject_.selection; }

  /// Nothing: every column is shown by itself. A comparison follows its columns.
  void compare(const std::optional<Comparison>& comparison);
  const std::optional<Comparison>& comparison() const { return subject_.comparison; }

  /// Chooses the block of a column's rank map that holds a pair; nothing if none.
  void choose_block(std::optional<PointedPair> pair);
  const std::optional<PointedPair>& chosen_block() const { return subject_.chosen_block; }

  /// The tokens of leaves or buckets of a column are marked everywhere; the same leaves again, or
  /// none: nothing is.
  void choose_leaves(int column, IndexRange leaves);
  const LeafMarks& marks() const { return marks_; }

  /// Chooses the heads whose cards and errors are found: see HeadCards.
  void choose_cards(HeadCards::Heads heads, std::size_t cards_first = SIZE_MAX);
  std::shared_ptr<const HeadCard> card(Index layer, Index head) { return cards_.card(layer, head); }
  std::optional<double> head_error(Index layer, Index head) { return cards_.error(layer, head); }
  /// All heads are measured while what this returns exists: see HeadCards.
  std::shared_ptr<const void> measure_heads();
  std::shared_ptr<const MeasuredHead> measured_head(Index layer, Index head) {
    return cards_.measured(layer, head);
  }
  std::string why_not_measured(Index layer, Index head) {
    return cards_.why_not_measured(layer, head);
  }
  std::size_t missing_cards() { return cards_.missing_cards(); }
  std::size_t missing_head_errors() { return cards_.missing_errors(); }

  /// Whether the attention between spans is to be found.
  void want_spans(bool on);
  bool wants_spans() const { return spans_.wanted(); }
  const SpanReadings::State& spans() const { return spans_.state(); }

  /// For work that is none of the study's own.
  Requests& requests() { return requests_; }

 signals:
  /// `new_source`: another source; else the same image in other patches, or what
  /// the same model reads now.
  void opened(bool new_source);
  /// Another source is there: the last moment of this one.
  void leaving();
  /// The source went on, with a Session that stayed.
  void source_continued();
  /// The source has more layers, or it became known that it gets no more.
  void source_grew();
  /// What was to be opened could not be, or was cancelled: source and Session stay as they are.
  void not_opened();
  /// The Session, the selected column, the head's problem or what is compared.
  void session_changed();
  void model_changed(std::shared_ptr<const fovea::CanvasModel> model);
  void columns_changed();
  void cards_changed();
  void pair_read(std::shared_ptr<const fovea::PairReading> reading);  // null: nothing is pointed at
  /// Before it, of every column. Null: not read yet.
  void pairs_read(std::vector<std::shared_ptr<const fovea::PairReading>> readings);
  void row_read(std::shared_ptr<const fovea::RowReading> reading);  // of the selected column
  void exact_row_read(std::shared_ptr<const fovea::RowReading> reading);
  void selection_read(std::shared_ptr<const fovea::SelectionReading> reading);
  void spans_read();
  void leaves_chosen();
  void block_chosen();
  /// An error or a warning, as a person should read it.
  void reported(QString message);

 private:
  void show(std::shared_ptr<const Source> source, const SourceToOpen& as);
  void report_not_opened();
  void grow(std::shared_ptr<const Source> source);
  void end_growth(const std::string& why);
  void read_again_if_partial();
  bool opens_content(const Session& session) const;
  void apply(Session session);
  void forget_results();
  void update();
  void update_results();
  void find_worst_query();
  void attend();
  void update_model();
  bool step_is_whole() const;
  void update_readings();
  void forget_readings();
  void update_within(std::chrono::milliseconds time);
  void update_later() { update_within(std::chrono::milliseconds(0)); }
  void update_at_once();
  void result_arrived(bool ask_again);

  std::shared_ptr<Background> background_;
  Subject subject_;
  SourceNumbers numbers_;
  Requests requests_;
  SourceOpening opening_{requests_};
  Results results_{requests_, subject_};
  Probe probe_{requests_, subject_, results_};
  SpanReadings spans_{requests_, subject_, results_};
  HeadMaps maps_{requests_, subject_, results_};
  PanelCells cells_{requests_, subject_, results_, maps_, probe_};
  bool continued_ = false;
  bool partial_ = false;  // not all layers of the source are there
  std::vector<WaitingColumn> waiting_;
  std::optional<std::chrono::steady_clock::time_point> held_since_;  // see holds_step()
  /// The pictures of the head before stay for a moment, until those of this one are there.
  std::optional<std::chrono::steady_clock::time_point> head_chosen_;
  Timings timings_{requests_};
  LeafMarks marks_{results_};
  HeadCards cards_{requests_, subject_};
  std::shared_ptr<const Metrics> worst_of_;  // the errors that subject_.worst_query is of
  std::shared_ptr<const CanvasModel> model_;
  QTimer update_timer_, refine_timer_, sitting_timer_;
  std::chrono::steady_clock::time_point updated_, model_shown_;
};

}  // namespace fovea
