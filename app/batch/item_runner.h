// An ItemRunner computes items. Exact attention of a head is computed once for all items that
// follow each other on it.
#pragma once

#include <map>
#include <optional>

#include "batch/batch_items.h"
#include "data/error.h"
#include "evaluate/evaluate.h"
#include "report/json_output.h"

namespace fovea {

class ItemRunner {
 public:
  /// `plan` is the fingerprint, for the rows. Both must outlive the runner.
  ItemRunner(const BatchItems& items, std::string plan, const Backend& backend);

  /// The row of the item. If it fails, the row has an "error" and no numbers. If a source was found
  /// changed it is not read again, and all its items fail from then on. Throws Cancelled and
  /// DeviceLostError.
  Document run(const BatchItem& item, std::stop_token stop);

 private:
  /// The head that is open.
  struct Opened {
    std::size_t head = 0;
    Reference reference;
    std::string failure;  // empty if it could be opened
  };
  void open(std::size_t head, Run& run);
  Problem read_head(const BatchHead& head, const std::stop_token& stop) const;
  void give_up(std::size_t source, const ChangedError& changed);
  Document begin_row(const BatchItem& item) const;
  void measure(const BatchItem& item, Document& row, Run& run);
  void put_times(const TimedRuns& runs, Document& row);

  const BatchItems& items_;
  std::string plan_;
  const Backend& backend_;
  std::optional<std::size_t> source_place_;
  std::optional<Source> source_;
  std::optional<Opened> opened_;
  std::map<std::size_t, ChangedError> changed_;  // of sources that were found changed
  std::map<Index, double> best_pace_ms_;         // by length
};

}  // namespace fovea
