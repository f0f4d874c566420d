// SpanReadings are the attention mass between groups of tokens, of the selected column and of exact
// attention.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/span_mass.h"
#include "study/results.h"

namespace fovea {

struct TokenGroup {
  std::string name;
  Index count = 0;
  std::optional<IndexRange> tokens;  // where they are adjacent
};

struct SpanReading {
  std::vector<TokenGroup> queries, keys;
  SpanMass mass;
};

/// The groups that a choice means, and the mass between them; `named` are the spans of the Session.
/// Sinks are keys; their queries are the named spans, or without any the parts of the text, or all
/// tokens. Throws InputError where there are no groups, or more than a table shows.
SpanReading read_spans(const Sequence& sequence, SpanChoice choice, const std::vector<Span>& named,
                       const Operator& approximate, const Operator& exact, Run& run);

class SpanReadings {
 public:
  SpanReadings(Requests& requests, const Subject& subject, const Results& results)
      : requests_(requests), subject_(subject), results_(results) {}

  /// While nobody wants them nothing is requested.
  void want(bool on) { wanted_ = on; }
  bool wanted() const { return wanted_; }

  struct State {
    std::shared_ptr<const SpanReading> reading;  // null: `status` says why
    std::string title;                           // of the column that it is of
    bool reference = false;                      // which is exact attention itself
    bool stale = false;  // another one is being computed, of the same head and groups
    std::string status;  // a sentence; empty if the reading is there
    friend bool operator==(const State&, const State&) = default;
  };
  const State& state() const { return state_; }
  /// Requests what is missing. Returns whether the state has changed.
  bool update();

 private:
  struct Key {
    ComparisonKey of;
    SpanChoice choice = SpanChoice::parts;
    std::vector<IndexRange> named;
    /// Whether both are tables of the same rows and columns.
    bool same_table(const Key& other) const {
      return of.exact.head == other.of.exact.head && choice == other.choice && named == other.named;
    }
    friend bool operator==(const Key&, const Key&) = default;
  };

  State present();
  State reading_of(const ColumnState& column);
  std::shared_ptr<const SpanReading> with_present_names(std::shared_ptr<const SpanReading> reading);

  Requests& requests_;
  const Subject& subject_;
  const Results& results_;
  bool wanted_ = false;
  State state_{.status = "Nothing is open."};
  Key shown_;                                                // that the state's reading is of
  std::shared_ptr<const SpanReading> renamed_of_, renamed_;  // the last copy with other names
  ResultCache<Key, const SpanReading> readings_{requests_, 32};
};

}  // namespace fovea
