// A Study is what the window looks at: the opened source, the Session, the engine and every result.
// A change of the Session asks the engine for what is missing and nothing else; results are
// immutable and arrive on the window's thread, which never computes and never waits.
#pragma once

#include <QObject>
#include <QTimer>
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "session/gradual_output.h"
#include "study/canvas_model.h"
#include "study/shelf.h"
#include "study/study_jobs.h"

namespace fovea {

/// What is known of one column at the moment.
struct ColumnState {
  Column column;
  std::shared_ptr<const Computation> computation;  // the newest there is
  bool stale = false;                              // `computation` is of older parameters
  std::shared_ptr<const Metrics> metrics;          // of `computation`
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics;
  std::optional<Timing> timing;       // several runs after a warm-up
  bool throttled = false;             // the machine was slow meanwhile
  std::optional<ResidentUse> memory;  // of one of them, on the CPU
  std::string error;
};

/// Of the running job; 0: not to be told yet.
double seconds_left(const Engine::Status& status);

inline const std::string sweep_tag = "sweep";

class Study : public QObject {
  Q_OBJECT

 public:
  explicit Study(std::unique_ptr<Backend> backend, QObject* parent = nullptr);
  ~Study() override;

  /// Opens on the engine's thread; then `opened`, or `trouble` and everything stays as it was.
  /// With `session` that one is taken up, else the standard one.
  /// `expected_hash`: of the content a session was made with; another one is told.
  void open(const std::string& what, std::optional<Session> session = {},
            const std::string& expected_hash = {});
  /// SHA-256 of the source's content; empty until it is known.
  const std::string& content_hash() const { return content_hash_; }

  const Session& session() const { return session_; }
  /// Another patch of an image opens it again: then it is taken up on arrival.
  void set_session(Session session);
  std::shared_ptr<const Source> source() const { return source_; }
  std::shared_ptr<const Problem> problem() const { return problem_; }
  const std::vector<ColumnState>& columns() const { return columns_; }
  const ColumnState* exact() const { return exact_.computation ? &exact_ : nullptr; }
  std::shared_ptr<const CanvasModel> model() const { return model_; }
  const Backend& backend() const { return engine_->backend(); }
  /// Computes everything again on another back end; source, session and undo stay.
  void use_backend(std::unique_ptr<Backend> backend);
  Engine::Status status() const { return engine_->status(); }
  /// The source holds an attention matrix alone: there is nothing to compute, only to look at.
  bool shows_matrix() const;
  /// Tokens of the opened source; 0: nothing is open.
  Index length() const;
  bool opening() const { return opening_.has_value(); }
  /// Every panel of the Session is there and fresh.
  bool drawn() const;
  /// And no change waits to be looked at.
  bool settled() const { return !update_timer_.isActive() && drawn(); }
  /// And every map is exact and fine where it is looked at.
  bool complete() const { return settled() && !filling_; }
  /// What is on screen becomes finer or exact, or exact attention of a long head is on its way.
  bool filling() const { return (filling_ || gradual_) && !paused_; }

  int selected_column() const { return selected_column_; }
  void select_column(int column);
  void set_dark(bool dark);
  /// The side of a panel on screen: finer rasters show no more.
  void set_panel_pixels(int side);
  /// The tokens of leaves or buckets of a column are marked everywhere; the same leaves again, or
  /// none: nothing is.
  void choose_leaves(int column, IndexRange leaves);
  struct ChosenLeaves {
    int column = 0;
    IndexRange leaves{0, 0};
    friend bool operator==(const ChosenLeaves&, const ChosenLeaves&) = default;
  };
  const std::optional<ChosenLeaves>& chosen_leaves() const { return chosen_leaves_; }
  /// Leaves or buckets of a column; 0: it has none.
  Index leaf_count(int column) const;
  const std::vector<Index>& marked_queries() const { return marked_queries_; }
  const std::vector<Index>& marked_keys() const { return marked_keys_; }
  /// Heads whose cards are wanted: those that can be seen.
  void want_cards(std::vector<std::pair<Index, Index>> layer_and_head);
  std::shared_ptr<const HeadCard> card(Index layer, Index head);

  void hover(Index query, Index key, int column);         // query < 0: nothing
  void select(IndexRange rows, IndexRange cols);          // empty: nothing
  Index hovered_query() const { return hovered_query_; }  // -1: none
  Index hovered_key() const { return hovered_key_; }
  int hovered_column() const { return hovered_column_; }
  std::optional<std::pair<IndexRange, IndexRange>> selection() const { return selection_; }
  Index shown_query() const;  // hovered, else pinned, else the middle

  /// Stops all work; what is there stays. The next change, or `resume`, computes again.
  void cancel();
  void resume();
  bool paused() const { return paused_; }

  /// Nothing that a person waits for is on its way; what is there may still become exact.
  bool at_rest() const;
  /// The sweep's next step. Whatever a person asks for goes before it and may stop it: then the
  /// job is gone, without a word.
  void submit_sweep(Engine::Job job);
  void stop_sweep();

 signals:
  /// `anew`: another source; else the same image in other patches.
  void opened(bool anew);
  void session_changed();
  void model_changed(std::shared_ptr<const fovea::CanvasModel> model);
  void columns_changed();
  void cards_changed();
  void pair_read(
      std::shared_ptr<const fovea::PairReading> reading);  // null: nothing under the cursor
  void row_read(std::shared_ptr<const fovea::RowReading> reading);  // of the selected column
  void exact_row_read(std::shared_ptr<const fovea::RowReading> reading);
  void leaves_chosen();
  void selection_read(std::shared_ptr<const fovea::SelectionReading> reading);
  void trouble(QString message);

 private:
  template <class Key, class Result, class Make>
  void ask(Shelf<Key, Result>& shelf, const std::string& tag, int priority, const Key& key,
           Make make);
  void start_engine(std::unique_ptr<Backend> backend);
  void forget_results();
  void forget_maps();
  struct Opening {
    std::string what;
    std::optional<Session> session;
    std::string expected_hash;
    bool anew = true;
    std::uint64_t number = 0;  // of this opening: only the latest is taken up
  };
  void read_source(Opening opening);
  void ask_hash();
  void take_hash(const std::string& path, const std::string& hash);
  void update_later();
  void arrived();
  void update();
  void update_problem();
  void update_column(int index, const Column& wanted, ColumnState& state);
  void update_comparison(int index, ColumnState& state);
  void update_cells();
  void update_cell(std::size_t column, std::size_t row, CanvasCell& cell);
  void update_matrix_cell(std::size_t row, CanvasCell& cell);
  bool is_map(View view) const;
  void update_map_cell(std::size_t column, std::size_t row, CanvasCell& cell);
  std::shared_ptr<MapPyramid> map_of(const MapKey& key, const Computation& computation,
                                     const Computation& exact);
  void ask_picture(const std::string& tag, const PanelKey& key, const ColumnState& state,
                   std::shared_ptr<MapPyramid> map);
  void ask_bands(const std::string& tag, const MapKey& key, std::shared_ptr<MapPyramid> map);
  void ask_gradual();
  void interrupt_long_work();
  bool waits_for_first_look() const;
  Index focus_row() const;
  void show_answer(const Shelf<PanelKey, Panel>::Answer* answer, const std::string& tag,
                   CanvasCell& cell) const;
  void take_ranks_of_other_tolerance(const PanelKey& key);
  PanelKey panel_key(View view, const ComputeKey& approximate, const ColumnState& state) const;
  void update_readings();
  const Shelf<RowKey, RowReading>::Answer* ask_row(int column);
  void update_marks();
  void update_cards();
  void take_up(std::shared_ptr<const Source> source, std::optional<Session> session, bool anew);
  struct TimedRuns {
    ComputeKey key;
    TimingSamples samples;
    std::vector<double> paces;  // one of each time a few were added
    bool failed = false;        // there was no memory for another one, say: not tried again
  };
  void next_timing();
  /// Of repeated runs; nothing before the first of them.
  void tell_timing(const ComputeKey& key, ColumnState& state) const;
  bool throttled(const TimedRuns& runs) const;
  void add_timing(const ComputeKey& key, const TimingSamples& samples, bool failed);
  void withdraw(const std::string& tag);
  void withdraw_unwanted();
  void withdraw_everything();
  HeadKey head_key() const;
  void say_waiting(const std::string& tag, CanvasCell& cell) const;
  std::string time_left_text(const std::string& tag) const;

  Session session_;
  std::shared_ptr<const Source> source_;
  std::uint64_t source_number_ = 0;
  std::optional<Opening> opening_;
  std::uint64_t opening_number_ = 0;
  std::string content_hash_, expected_hash_;  // empty: not known yet; nothing expected
  bool hash_asked_ = false;
  std::shared_ptr<const Problem> problem_;
  std::string problem_error_;
  std::vector<ColumnState> columns_;
  std::vector<ComputeKey> column_keys_;  // of columns_[i].computation
  ColumnState exact_;
  ComputeKey exact_key_;
  std::vector<std::vector<CanvasCell>> cells_;
  std::shared_ptr<const CanvasModel> model_;
  int selected_column_ = 0;
  bool dark_ = true, paused_ = false;
  int panel_pixels_ = 256;
  std::optional<ChosenLeaves> chosen_leaves_;
  std::shared_ptr<const Computation> marked_of_;  // whose leaves are marked
  std::vector<Index> marked_queries_, marked_keys_;
  std::vector<std::pair<Index, Index>> wanted_cards_;
  Index hovered_query_ = -1, hovered_key_ = -1;
  int hovered_column_ = 0;
  std::optional<std::pair<IndexRange, IndexRange>> selection_;

  Shelf<HeadKey, Problem> problems_{3};
  Shelf<ComputeKey, Computation> computations_{24};
  Shelf<ComparisonKey, Metrics> metrics_{64};
  Shelf<ComparisonKey, std::vector<Diagnostic>> diagnostics_{64};
  Shelf<PanelKey, Panel> panels_{160};
  Shelf<HeadCardKey, HeadCard> cards_{4096};
  Shelf<PairKey, PairReading> pairs_{64};
  Shelf<RowKey, RowReading> rows_{24};
  Shelf<SelectionKey, SelectionReading> selections_{8};
  std::list<TimedRuns> timings_;
  bool timing_runs_ = false;
  // Used by jobs alone, but for what a MapPyramid says of itself; the last used first.
  std::list<std::pair<MapKey, std::shared_ptr<MapPyramid>>> maps_;
  std::map<std::string, MapPanel> map_panels_;      // by tag: what is shown
  std::map<std::string, PanelKey> asked_pictures_;  // by tag: not answered yet
  std::map<std::string, MapKey> asked_bands_;
  std::shared_ptr<GradualOutput> gradual_;  // of exact_key_, while it is not complete
  ComputeKey gradual_key_;
  bool gradual_runs_ = false;
  std::shared_ptr<std::atomic<Index>> focus_row_ = std::make_shared<std::atomic<Index>>(0);
  std::map<std::string, ComputeKey> newest_;  // by tag: what arrived last
  std::set<std::string> tags_, wanted_tags_;  // asked for ever; asked for in this update
  std::size_t cards_shown_ = 0;
  QTimer update_timer_, fill_timer_;
  std::chrono::steady_clock::time_point updated_, told_;  // all of it; the model
  bool filling_ = false;                                  // a map that is shown is not complete
  bool asks_again_ = false;         // of what runs for an older key: when that has arrived
  std::unique_ptr<Engine> engine_;  // last: its thread ends before what it answers to
};

}  // namespace fovea
