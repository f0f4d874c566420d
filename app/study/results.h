// Results are the problems of the heads that columns show, their exact attention, and each column's
// attention with its comparison against exact; or the opened head's given matrix. They are
// requested when missing, and kept while newer ones are computed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluate/evaluate.h"
#include "session/column_tree.h"
#include "study/requests.h"
#include "study/subject.h"
#include "views/panel_sources.h"

namespace fovea {

/// What is known of one column at the moment.
struct ColumnState {
  Column column;
  std::shared_ptr<const Computation> computation;  // the newest there is
  ComputeKey key;                                  // of `computation`
  bool stale = false;                              // `computation` is of older parameters
  std::shared_ptr<const Metrics> metrics;          // of `computation`
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics;
  std::shared_ptr<const MeasuredTime> time;  // of several rounds
  std::optional<ResidentUse> memory;         // of one of them, on the CPU
  std::string error;
  std::size_t head = 0;    // whose it is: an index into Results::heads()
  RequestId request = {};  // which computes it
  /// "layer4, head 10": the head whose learned tree it keeps. Empty if the tree is its own.
  std::string tree_learned_on = {};
};

/// Where the weights of the column lie, if that is known of its head.
inline const SectionMass* sections_of(const ColumnState& column) {
  return column.metrics && column.metrics->sections ? &*column.metrics->sections : nullptr;
}

/// A head that columns show, and exact attention of it.
struct HeadState {
  std::optional<HeldHead> held;          // absent for the opened head, also if a column holds it
  std::shared_ptr<const Source> source;  // null: not read yet
  HeadKey key;
  std::shared_ptr<const Problem> problem;  // null: not read yet, or
  std::string error;                       // why not
  ColumnState exact;
};

/// What a panel depends on. Its settings are those of settings_for; `exact` is `approximate` if the
/// view shows nothing of the reference.
struct PanelKey : PanelPart {
  ComputeKey approximate, exact;
  bool with_metrics = false, with_diagnostics = false;
  friend bool operator==(const PanelKey&, const PanelKey&) = default;
};

/// A source besides the opened one.
struct OtherSource {
  std::shared_ptr<const Source> source;
  std::uint64_t number = 0;  // as of next_source_number()
};

class Results {
 public:
  Results(Requests& requests, const Subject& subject) : requests_(requests), subject_(subject) {}

  /// The opened head, then those that columns hold.
  const std::vector<HeadState>& heads() const { return heads_; }
  std::vector<HeadState>& heads() { return heads_; }
  const HeadState& opened() const { return heads_.front(); }
  const HeadState& head_of(const ColumnState& column) const { return heads_[column.head]; }
  /// Exact attention of the column's head.
  const ColumnState& exact_of(const ColumnState& column) const { return head_of(column).exact; }
  /// The first column that shows exact attention of a head; nothing if none does.
  std::optional<int> exact_column(std::size_t head) const;
  /// The matrix of an opened head that is an attention matrix alone.
  std::shared_ptr<const Matrix> matrix() const { return matrix_; }
  const std::vector<ColumnState>& columns() const { return columns_; }
  std::vector<ColumnState>& columns() { return columns_; }
  /// What heads a column, and what it is called elsewhere: "H-Transformer-1D, block 38", with the
  /// head that it holds; empty where there is no such column.
  std::string title_of(int column) const;

  /// A source that was read already, for heads that columns hold.
  void keep_source(const std::string& path, int patch, OtherSource source);
  /// The problems of all heads, or of one without Q and K the matrix.
  void update_heads();
  void update_exact();
  /// `exact_only`: columns of other variants wait.
  void update_columns(bool exact_only);
  void update_comparisons();
  /// Whether a column waits until its tree is learned.
  bool learns(std::size_t column) const;
  /// The column has no attention until `Requests::resume`; all else goes on.
  void cancel_learning(std::size_t column);

  /// Trees of the columns of the session that was just opened: they are not learned again.
  void give_trees(std::vector<ColumnTree> trees);
  /// The learned trees that columns show.
  std::vector<ColumnTree> shown_trees() const;

  /// Ends what update_exact() only prepared, for a long head: the whole computation; null and an
  /// `error` says why not.
  void put(const ComputeKey& key, std::shared_ptr<const Computation> computation,
           const std::string& error);

  /// What the panel of a column is made from.
  PanelSources sources_of(const PanelKey& panel, const ColumnState& column) const;

  /// Columns of the next Session: each continues the old one of that index, or -1: none.
  void continue_columns(const std::vector<Column>& columns, const std::vector<int>& from);
  /// Forgets everything but what is cached; the columns stay.
  void clear();
  /// Long heads are large: of them only what is on screen and a little more is kept.
  void set_length(Index n) { computations_.set_capacity(n > 2 * long_head ? 10 : 24); }

 private:
  using ComputationCache = ResultCache<ComputeKey, const Computation>;
  using SourceCache = ResultCache<std::pair<std::string, int>, const OtherSource>;
  const SourceCache::Answer* other_source(const std::string& path);
  void update_matrix();
  void choose_heads();
  void update_head(std::size_t h);
  void update_column(const Column& column, int place, ColumnState& state);
  const ComputationCache::Answer* ask_for(const ComputeKey& key, const HeadState& head, int place,
                                          ColumnState& state);

  /// A tree that was learned for a column and a head. It is used where the head comes back, and
  /// kept on other heads until it is learned for them.
  struct KeptTree {
    ComputeKey key;
    std::string source, title;  // names of the head's source and of the head; empty if not known
    Index d = 0;                // features of the queries and keys that it routes
    Structure tensors;
  };
  void take_given_tree(const Column& column, const HeadState& head);
  void keep(KeptTree tree);
  void keep_tree(const ColumnState& state);
  const KeptTree* kept_tree(const ComputeKey& key, const Problem& problem) const;

  Requests& requests_;
  const Subject& subject_;
  std::vector<HeadState> heads_{1};
  std::shared_ptr<const Matrix> matrix_;
  std::vector<ColumnState> columns_;
  SourceCache sources_{requests_, 2};  // by path and patch
  ResultCache<HeadKey, const Problem> problems_{requests_, 3};
  ResultCache<HeadKey, const Matrix> matrices_{requests_, 1};  // of n = 8192: 256 MiB
  ComputationCache computations_{requests_, 24};
  std::list<KeptTree> trees_;  // the newest first
  /// A tree of a session, for the column that it was given with.
  struct GivenTree {
    Column column;
    HeadKey head;  // that was opened with it
    ColumnTree tree;
  };
  std::vector<GivenTree> given_trees_;  // of columns that were not computed yet
  ResultCache<ComparisonKey, const Metrics> metrics_{requests_, 64};
  ResultCache<ComparisonKey, const std::vector<Diagnostic>> diagnostics_{requests_, 64};
};

}  // namespace fovea
