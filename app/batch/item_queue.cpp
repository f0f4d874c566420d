#include "batch/item_queue.h"

#include "data/error.h"

namespace fovea {
namespace {

using Kind = FileLocks::Kind;

// Bytes of the file "locks": who is there, then a byte for each head, then one for each item.
constexpr off_t presence = 0;
off_t byte_of_head(std::size_t head) {
  return 1 + static_cast<off_t>(head);
}
off_t byte_of_item(const BatchItems& items, std::size_t item) {
  return 1 + static_cast<off_t>(items.heads().size() + item);
}

FileLocks& joined_by(FileLocks& locks) {
  locks.wait_for(presence, Kind::shared);
  return locks;
}

}  // namespace

// Opens the journal once nobody who merges can replace it. Nothing is written until read() has
// found that all lines of the folder are rows of this sweep.
ItemQueue::ItemQueue(const BatchItems& items, ResultsFolder folder, const Shard& shard,
                     bool retry_failed)
    : items_(items),
      folder_(std::move(folder)),
      shard_(shard),
      locks_(folder_.directory(), folder_.locks()),
      journal_((joined_by(locks_), folder_.directory()), folder_.journal(shard)),
      states_(items.size(), State::open) {
  for (std::size_t head = 0; head < items.heads().size(); ++head) {
    open_.push_back(shard_.has(head) ? items.heads()[head].items : 0);
    total_ += open_.back();
  }
  journal_.news();  // read() finds these, too; rows that come between are found by both
  const ResultsTable known = folder_.read();
  for (const auto& [item, row] : known.rows())
    if (!row.failed || !retry_failed) mark(item, row.failed);
}

void ItemQueue::mark(std::size_t item, bool failed) {
  const std::size_t head = items_.item(item).head;
  if (!shard_.has(head)) return;
  State& state = states_[item];
  if (state == State::done) return;
  if (state == State::open) {
    ++done_;
    --open_[head];
  }
  failed_ -= state == State::failed;
  failed_ += failed;
  state = failed ? State::failed : State::done;
}

void ItemQueue::refresh() {
  ResultsTable table(folder_.plan(), folder_.items());
  for (std::string& line : journal_.news()) {
    const std::size_t item = table.add(journal_.path(), std::move(line));
    mark(item, table.rows().at(item).failed);
  }
}

std::optional<BatchItem> ItemQueue::claim_in(std::size_t head) {
  const BatchHead& of = items_.heads()[head];
  for (std::size_t item = of.first_item; item < of.first_item + of.items; ++item) {
    if (states_[item] != State::open) continue;
    if (!locks_.try_lock(byte_of_item(items_, item), Kind::exclusive)) continue;
    refresh();  // the item may have been finished before it was locked here
    if (states_[item] == State::open) {
      taken_ = item;
      return items_.item(item);
    }
    locks_.release(byte_of_item(items_, item));
  }
  return std::nullopt;
}

std::optional<BatchItem> ItemQueue::begin_head(std::size_t head, bool alone) {
  if (open_[head] == 0) return std::nullopt;
  if (alone && !locks_.try_lock(byte_of_head(head), Kind::exclusive)) return std::nullopt;
  head_ = head;
  head_is_locked_ = alone;
  auto item = claim_in(head);
  if (!item) leave_head();
  return item;
}

void ItemQueue::leave_head() {
  if (head_ && head_is_locked_) locks_.release(byte_of_head(*head_));
  head_.reset();
}

std::optional<BatchItem> ItemQueue::take() {
  refresh();
  if (head_)
    if (auto item = claim_in(*head_)) return item;
  leave_head();
  for (const bool alone : {true, false})
    for (std::size_t head = 0; head < items_.heads().size(); ++head)
      if (auto item = begin_head(head, alone)) return item;
  return std::nullopt;
}

void ItemQueue::put(const Document& row) {
  journal_.append(text_of(row));
  refresh();
  locks_.release(byte_of_item(items_, *taken_));
  taken_.reset();
}

// If several leave at once, the last one to give up its presence finds itself alone.
std::optional<ResultsTable> ItemQueue::leave() {
  leave_head();
  if (taken_) locks_.release(byte_of_item(items_, *taken_));
  taken_.reset();
  locks_.release(presence);
  if (!locks_.try_lock(presence, Kind::exclusive)) return std::nullopt;
  const ResultsTable table = folder_.merge();
  locks_.release(presence);
  return table;
}

ResultsTable merge_results(const ResultsFolder& folder) {
  FileLocks locks(folder.directory(), folder.locks());
  if (!locks.try_lock(presence, Kind::exclusive))
    throw UnavailableError(folder.path() +
                           ": a sweep still works there; merge its results when it has ended");
  return folder.merge();
}

}  // namespace fovea
