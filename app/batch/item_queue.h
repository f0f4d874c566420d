// An ItemQueue hands out the items of a sweep that are still to be done, among all processes that
// work in the same folder. An item whose process was killed is handed out again.
#pragma once

#include <optional>
#include <vector>

#include "batch/journal.h"
#include "batch/results_folder.h"

namespace fovea {

class ItemQueue {
 public:
  /// The folder must be prepared for the items, which outlive the queue. Waits while another
  /// process merges there. With `retry_failed`, items that have failed are done again, too.
  ItemQueue(const BatchItems& items, ResultsFolder folder, const Shard& shard, bool retry_failed);

  /// An item on which nobody else works: of the same head as the last one while there are any, then
  /// of a head on which nobody works, then of any head. Nothing if others work on everything that
  /// is left, or if nothing is left.
  std::optional<BatchItem> take();
  /// Writes the row of the item that was taken last. Throws UnavailableError if it cannot be
  /// written; the item is then still to be done.
  void put(const Document& row);

  bool finished() const { return done_ == total_; }
  std::size_t done() const { return done_; }      // items of the shard, done by any process
  std::size_t failed() const { return failed_; }  // of them
  std::size_t total() const { return total_; }    // of the shard
  off_t unfinished_bytes() const { return journal_.unfinished_bytes(); }
  bool has_locks() const { return !locks_.are_missing(); }
  const ResultsFolder& folder() const { return folder_; }

  /// Takes no more items. Gathers all results if nobody else works in the folder; returns nothing
  /// if somebody does, as the last one will gather them.
  std::optional<ResultsTable> leave();

 private:
  enum class State : char { open, done, failed };

  void refresh();
  void mark(std::size_t item, bool failed);
  std::optional<BatchItem> claim_in(std::size_t head);
  std::optional<BatchItem> begin_head(std::size_t head, bool alone);
  void leave_head();

  const BatchItems& items_;
  ResultsFolder folder_;
  Shard shard_;
  FileLocks locks_;
  Journal journal_;
  std::vector<State> states_;
  std::vector<std::size_t> open_;  // items that are still to be done, by head
  std::size_t done_ = 0, failed_ = 0, total_ = 0;
  std::optional<std::size_t> head_;  // the head of the last item
  bool head_is_locked_ = false;
  std::optional<std::size_t> taken_;
};

/// Gathers all results of a folder. Throws UnavailableError while somebody works there.
ResultsTable merge_results(const ResultsFolder& folder);

}  // namespace fovea
