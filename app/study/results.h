// Results are the head's problem, its exact attention, and each column's attention with its
// comparison against exact: requested when missing, kept while newer ones are computed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/metrics.h"
#include "study/requests.h"
#include "study/resident_use.h"
#include "study/subject.h"

namespace fovea {

/// What is known of one column at the moment.
struct ColumnState {
  Column column;
  std::shared_ptr<const Computation> computation;  // the newest there is
  ComputeKey key;                                  // of `computation`
  bool stale = false;                              // `computation` is of older parameters
  std::shared_ptr<const Metrics> metrics;          // of `computation`
  std::shared_ptr<const std::vector<Diagnostic>> diagnostics;
  std::optional<Timing> timing;       // several runs after a warm-up
  bool throttled = false;             // the machine was slow meanwhile
  std::optional<ResidentUse> memory;  // of one of them, on the CPU
  std::string error;
};

/// Metrics and diagnostics.
struct ComparisonKey {
  ComputeKey approximate, exact;
  friend bool operator==(const ComparisonKey&, const ComparisonKey&) = default;
};

class Results {
 public:
  Results(Requests& requests, const Subject& subject);

  std::shared_ptr<const Problem> problem() const { return problem_; }
  const std::string& problem_error() const { return problem_error_; }
  const ColumnState& exact() const { return exact_; }
  const std::vector<ColumnState>& columns() const { return columns_; }
  std::vector<ColumnState>& columns() { return columns_; }
  ColumnState& exact() { return exact_; }

  void update_problem();
  void update_exact();
  /// `exact_only`: columns of other variants wait.
  void update_columns(bool exact_only);
  void update_comparisons();

  /// The whole computation, or the error, of one that was prepared.
  void put(const ComputeKey& key, std::shared_ptr<const Computation> computation,
           const std::string& error);

  /// Columns of the next Session: each continues the old one of that index, or -1: none.
  void continue_columns(const std::vector<Column>& columns, const std::vector<int>& from);
  /// Forgets everything; the columns stay.
  void clear();
  void forget_errors();
  void set_capacity(Index n);

 private:
  void update_column(const Column& wanted, const RequestId& id, ColumnState& state);

  Requests& requests_;
  const Subject& subject_;
  std::shared_ptr<const Problem> problem_;
  std::string problem_error_;
  ColumnState exact_;
  std::vector<ColumnState> columns_;
  std::map<RequestId, ComputeKey> newest_;  // what arrived last
  ResultCache<HeadKey, Problem> problems_;
  ResultCache<ComputeKey, Computation> computations_;
  ResultCache<ComparisonKey, Metrics> metrics_{64};
  ResultCache<ComparisonKey, std::vector<Diagnostic>> diagnostics_{64};
};

/// For each new column the index of the old one it continues, or -1: the same column, else the same
/// variant at the same place (its parameters changed), so that its last picture stays, marked
/// stale.
std::vector<int> continued_columns(const std::vector<Column>& before,
                                   const std::vector<Column>& after);

}  // namespace fovea
