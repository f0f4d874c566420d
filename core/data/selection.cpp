#include "data/selection.h"

#include <algorithm>
#include <utility>

#include "data/blocks.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/stop.h"

namespace fovea {

/// Reads the lists of one head, a row at a time.
class ListReader final : public BitRows::Maker {
 public:
  /// `heads`: of the layer. `rows` x `cols` blocks. Throws InputError for lists that do not fit.
  ListReader(const ListTensors& lists, Index head, Index heads, Index rows, Index cols,
             const std::stop_token& stop)
      : lists_(lists),
        rows_(rows),
        cols_(cols),
        head_of_entries_(head * lists.entries.heads / heads) {
    const auto read_all = [&](const HeadTensor& tensor) {
      check_stop(stop);
      if (tensor.present())
        tensor.read_whole(head * tensor.heads / heads, {0, tensor.rows}, {0, tensor.cols}, ends_);
    };
    read_all(lists.begins);
    read_all(lists.counts);
    if (lists.begins.present()) check_begins();
    if (lists.counts.present()) check_counts();
    const HeadTensor& entries = lists.entries;  // compressed rows have all entries in one row
    if (entries.rows > 1 && entries.col_stride > entries.row_stride) transpose(stop);
  }

  double entries() const {
    return static_cast<double>(lists_.entries.rows) * static_cast<double>(lists_.entries.cols);
  }

  void make(Index row, std::uint32_t* words) const override {
    ListFaults known;
    mark(row, words, nullptr, known);
  }

  /// Sets the bits of a row's blocks in `words`, and those that were not set there in `also`, which
  /// may be null.
  void mark(Index row, std::uint32_t* words, std::uint32_t* also, ListFaults& faults) const {
    thread_local std::vector<std::int64_t> listed;
    read(row, listed);
    const bool padded = ends_.empty();
    for (const std::int64_t block : listed) {
      if (block < 0 || block >= cols_) {
        if (padded && block == -1) continue;
        if (faults.outside++ > 0) continue;
        faults.first_outside = block;
        faults.row_of_first = row;
        continue;
      }
      std::uint32_t& word = words[block / BitMatrix::word_bits];
      const std::uint32_t bit = std::uint32_t{1} << (block % BitMatrix::word_bits);
      faults.repeats += (word & bit) != 0;
      if (also && !(word & bit)) also[block / BitMatrix::word_bits] |= bit;
      word |= bit;
    }
  }

 private:
  void read(Index row, std::vector<std::int64_t>& listed) const {
    const auto at = static_cast<std::size_t>(row);
    IndexRange rows{row, row + 1}, cols{0, lists_.entries.cols};
    if (lists_.begins.present()) {
      rows = {0, 1};
      cols = {ends_[at], ends_[at + 1]};
    } else if (!ends_.empty()) {
      cols.end = ends_[at];
    }
    if (transposed_.empty()) return lists_.entries.read_whole(head_of_entries_, rows, cols, listed);
    const std::int64_t* its = transposed_.data() + row * lists_.entries.cols;
    listed.assign(its + cols.begin, its + cols.end);
  }

  /// Reads lists whose columns follow one another, column by column. Their rows would be read an
  /// entry at a time.
  void transpose(const std::stop_token& stop) {
    require_memory(sizeof(std::int64_t) * entries(), "lists in the order of their columns");
    const Index cols = lists_.entries.cols;
    transposed_.resize(rows_ * cols);
    std::vector<std::int64_t> column;
    for (Index c = 0; c < cols; ++c) {
      check_stop(stop);
      lists_.entries.read_whole(head_of_entries_, {0, rows_}, {c, c + 1}, column);
      for (Index row = 0; row < rows_; ++row) transposed_[row * cols + c] = column[row];
    }
  }

  void check_counts() const {
    for (Index row = 0; row < rows_; ++row)
      if (const std::int64_t count = ends_[row]; count < 0 || count > lists_.entries.cols)
        throw InputError(lists_.where, "row " + std::to_string(row) + " counts " +
                                           std::to_string(count) + " blocks; expected 0 to " +
                                           std::to_string(lists_.entries.cols) +
                                           ", the length of its list");
  }

  void check_begins() const {
    const auto begin = [&](Index row) { return ends_[row]; };
    for (Index row = 0; row < rows_; ++row)
      if (begin(row) < 0 || begin(row) > begin(row + 1))
        throw InputError(lists_.where, "indptr goes from " + std::to_string(begin(row)) + " to " +
                                           std::to_string(begin(row + 1)) + " in row " +
                                           std::to_string(row) +
                                           "; expected numbers that ascend from 0");
    const Index entries = lists_.entries.cols;
    if (begin(0) != 0 || begin(rows_) > entries)
      throw InputError(lists_.where, "indptr goes from " + std::to_string(begin(0)) + " to " +
                                         std::to_string(begin(rows_)) + "; expected 0 to at most " +
                                         std::to_string(entries) + ", the number of indices");
  }

  const ListTensors lists_;
  Index rows_, cols_, head_of_entries_;
  /// Lengths of the rows; of CSR [rows + 1] offsets; empty if entries of -1 do not count.
  std::vector<std::int64_t> ends_;
  std::vector<std::int64_t>
      transposed_;  // [rows, cols] entries; empty if they are read when needed
};

namespace {

/// Some rows of a tensor.
HeadTensor rows_of(HeadTensor tensor, IndexRange rows) {
  tensor.begin += rows.begin * tensor.row_stride;
  tensor.rows = rows.size();
  return tensor;
}

/// Marks the blocks of one head, a band of rows at a time.
class SelectionMaker {
 public:
  SelectionMaker(const SelectionTensors& tensors, Index head, Lengths lengths,
                 const std::stop_token& stop)
      : tensors_(tensors),
        head_(head),
        stop_(stop),
        rows_(number_of_blocks(lengths.queries, tensors.block.queries)),
        cols_(number_of_blocks(lengths.keys, tensors.block.keys)),
        selection_{.lengths = lengths, .block = tensors.block, .blocks = {}} {}

  Selection make() {
    std::shared_ptr<const ListReader> lists, partial;
    if (tensors_.lists.present()) lists = reader(tensors_.lists);
    if (tensors_.partial.present()) partial = reader(tensors_.partial);
    constexpr double bits_of_entry = 16;
    const double bits = static_cast<double>(rows_) * static_cast<double>(cols_);
    if (lists && !partial && bits > bits_of_entry * lists->entries()) {
      selection_.blocks = BitRows(rows_, cols_, lists);
      selection_.reader = std::move(lists);
      return std::move(selection_);
    }
    require_memory((partial ? 2 : 1) * bits / 8, "the kept pairs of " + selection_.lengths.text());
    BitMatrix blocks(rows_, cols_), of_partial;
    if (tensors_.mask.present()) mark_mask(blocks);
    if (lists) mark_lists(*lists, blocks, nullptr);
    if (partial) {
      of_partial = BitMatrix(rows_, cols_);
      mark_lists(*partial, blocks, &of_partial);
    }
    selection_.blocks = std::move(blocks);
    selection_.partial = std::move(of_partial);
    return std::move(selection_);
  }

 private:
  std::shared_ptr<const ListReader> reader(const ListTensors& lists) const {
    return std::make_shared<const ListReader>(lists, head_, tensors_.heads, rows_, cols_, stop_);
  }

  void mark_mask(BitMatrix& blocks) const {
    const Index band = std::max<Index>(1, (Index{1} << 20) / cols_);  // some 2^20 entries
    for (Index begin = 0; begin < rows_; begin += band) {
      check_stop(stop_);
      const IndexRange rows{begin, std::min(rows_, begin + band)};
      const Matrix kept =
          rows_of(tensors_.mask, rows).read(head_ * tensors_.mask.heads / tensors_.heads, stop_);
      for (Index r = 0; r < rows.size(); ++r)
        for (Index c = 0; c < kept.cols(); ++c)
          if (kept(r, c) != 0) blocks.set(rows.begin + r, c);
    }
  }

  void mark_lists(const ListReader& lists, BitMatrix& blocks, BitMatrix* also) {
    for_each_row(rows_, stop_, [&](Index row) {
      lists.mark(row, blocks.row(row), also ? also->row(row) : nullptr, selection_.faults);
    });
  }

  const SelectionTensors& tensors_;
  Index head_;
  const std::stop_token& stop_;
  Index rows_, cols_;
  Selection selection_;
};

/// Pairs that a selection keeps and the head does not count; `at_edge`: those in blocks that hold
/// other pairs which count.
struct OutsidePairs {
  Index future = 0, future_at_edge = 0, past = 0, past_at_edge = 0, masked = 0;
  Index queries_without_keys = 0;

  void add(const OutsidePairs& others) {
    future += others.future;
    future_at_edge += others.future_at_edge;
    past += others.past;
    past_at_edge += others.past_at_edge;
    masked += others.masked;
    queries_without_keys += others.queries_without_keys;
  }
};

struct Faults {
  ListFaults of_lists;
  OutsidePairs of_pairs;
};

Index sum_of_overlaps(const std::vector<IndexRange>& runs, IndexRange keys) {
  Index sum = 0;
  for (const IndexRange& run : runs) sum += run.intersected(keys).size();
  return sum;
}

using BlockBits = std::vector<std::uint32_t>;

std::vector<IndexRange> runs_of_blocks(const Selection& selection, const BlockBits& blocks) {
  std::vector<IndexRange> runs = runs_of_bits(blocks.data(), std::ssize(blocks));
  for (IndexRange& run : runs)
    run = {run.begin * selection.block.keys,
           std::min(selection.lengths.keys, run.end * selection.block.keys)};
  return runs;
}

/// Counts the faults of one row of blocks after another.
class FaultCounter {
 public:
  FaultCounter(const Selection& selection, const Band& band, const PairMask* mask)
      : selection_(selection), band_(band), mask_(mask), row_(selection.blocks.stride()) {}

  void count(Index row) {
    if (selection_.reader) {
      std::ranges::fill(row_, 0u);
      selection_.reader->mark(row, row_.data(), nullptr, faults_.of_lists);
    } else {
      selection_.blocks.copy_row(row, row_.data());
    }
    if (selection_.block == Lengths{1, 1} && selection_.partial.empty() && !mask_)
      count_keys(row);
    else
      count_blocks(row);
  }

  const Faults& found() const { return faults_; }

 private:
  Index keys() const { return selection_.lengths.keys; }
  IndexRange keys_of(Index i) const { return IndexRange{0, keys()}.intersected(band_.keys(i)); }
  Index admitted(Index i, IndexRange run) const {
    return mask_ ? mask_->count(i, run) : run.size();
  }

  /// As count_blocks, if single pairs are kept and the head has no mask.
  void count_keys(Index i) {
    const IndexRange its = keys_of(i);
    OutsidePairs& outside = faults_.of_pairs;
    outside.past += count_bits(row_.data(), {0, std::min(its.begin, keys())});
    outside.future += count_bits(row_.data(), {std::max<Index>(0, its.end), keys()});
    outside.queries_without_keys += its.size() > 0 && next_bit(row_.data(), true, its) == its.end;
  }

  void count_blocks(Index row) {
    const Index side = selection_.block.keys;
    const IndexRange queries = selection_.queries_of(row);
    const std::vector<IndexRange> all = runs_of_blocks(selection_, row_);
    const std::vector<IndexRange> whole =
        selection_.partial.empty() ? all : selection_.runs(row, true);
    // Up to here blocks of the row hold pairs that the band counts.
    const Index last = number_of_blocks(keys_of(queries.end - 1).end, side) * side,
                first = keys_of(queries.begin).begin / side * side;
    OutsidePairs& outside = faults_.of_pairs;
    for (Index i = queries.begin; i < queries.end; ++i) {
      const IndexRange its = keys_of(i);
      outside.future += sum_of_overlaps(whole, {its.end, keys()});
      outside.future_at_edge += sum_of_overlaps(whole, {its.end, std::max(its.end, last)});
      outside.past += sum_of_overlaps(whole, {0, its.begin});
      outside.past_at_edge += sum_of_overlaps(whole, {std::min(first, its.begin), its.begin});
      Index left = 0;
      for (const IndexRange& run : whole)
        outside.masked += run.intersected(its).size() - admitted(i, run.intersected(its));
      for (const IndexRange& run : all) left += admitted(i, run.intersected(its));
      outside.queries_without_keys += left == 0 && admitted(i, its) > 0;
    }
  }

  const Selection& selection_;
  const Band& band_;
  const PairMask* mask_;
  BlockBits row_;
  Faults faults_;
};

Faults count_faults(const Selection& selection, const Band& band, const PairMask* mask,
                    const ShareOut& share_out) {
  constexpr Index rows_of_turn = 64;
  std::vector<Faults> of_turn(number_of_blocks(selection.rows(), rows_of_turn));
  share_out(std::ssize(of_turn), [&](Index turn) {
    FaultCounter counter(selection, band, mask);
    const Index begin = turn * rows_of_turn;
    for (Index row = begin; row < std::min(selection.rows(), begin + rows_of_turn); ++row)
      counter.count(row);
    of_turn[turn] = counter.found();
  });
  Faults all{selection.faults, {}};
  for (const Faults& faults : of_turn) {
    all.of_lists.add(faults.of_lists);
    all.of_pairs.add(faults.of_pairs);
  }
  return all;
}

/// Makes the pairs of a query from its blocks; of those, the ones that the head's mask admits.
class PairMaker final : public BitRows::Maker {
 public:
  PairMaker(Selection selection, std::shared_ptr<const PairMask> mask)
      : selection_(std::move(selection)), mask_(std::move(mask)) {}

  void make(Index query, std::uint32_t* words) const override {
    for (const IndexRange& run : selection_.runs(query / selection_.block.queries))
      set_bits(words, run);
    if (mask_ && mask_->has_pairs()) mask_->pairs().keep_row(query, words);
  }

 private:
  Selection selection_;
  std::shared_ptr<const PairMask> mask_;
};

/// "2016 kept pairs lie in the future: left out (224 in blocks at the edge of the causal mask)".
void add_beyond(std::vector<std::string>& clauses, Index count, Index at_edge,
                const std::string& where, const std::string& edge) {
  if (count == 0) return;
  if (count == at_edge) {
    clauses.push_back(plural(count, "pair") + " of kept blocks at the edge of " + edge +
                      (count == 1 ? " lies " : " lie ") + where + ": left out, as usual");
    return;
  }
  std::string clause =
      plural(count, "kept pair") + (count == 1 ? " lies " : " lie ") + where + ": left out";
  if (at_edge > 0)
    clause += " (" + std::to_string(at_edge) + " in blocks at the edge of " + edge + ")";
  clauses.push_back(std::move(clause));
}

}  // namespace

std::string SelectionTensors::text() const {
  if (!present()) return {};
  const std::string sides =
      std::to_string(block.queries) + " x " + std::to_string(block.keys) + " blocks";
  const bool pairs = block == Lengths{1, 1};
  if (mask.present()) return "a mask of " + (pairs ? "pairs" : sides);
  return "lists of " + (pairs ? "keys" : sides);
}

IndexRange Selection::queries_of(Index row) const {
  return {row * block.queries, std::min(lengths.queries, (row + 1) * block.queries)};
}

std::vector<IndexRange> Selection::runs(Index row, bool whole) const {
  std::vector<std::uint32_t> words(blocks.stride());
  blocks.copy_row(row, words.data());
  if (whole && !partial.empty())
    for (Index w = 0; w < blocks.stride(); ++w) words[w] &= ~partial.row(row)[w];
  return runs_of_blocks(*this, words);
}

void ListFaults::add(const ListFaults& later) {
  if (outside == 0) {
    first_outside = later.first_outside;
    row_of_first = later.row_of_first;
  }
  outside += later.outside;
  repeats += later.repeats;
}

ShareOut on_this_thread(const std::stop_token& stop) {
  return [stop](Index turns, const auto& turn_of) {
    for (Index turn = 0; turn < turns; ++turn) {
      check_stop(stop);
      turn_of(turn);
    }
  };
}

Selection read_selection(const SelectionTensors& tensors, Index head, Lengths lengths,
                         const std::stop_token& stop) {
  return SelectionMaker(tensors, head, lengths, stop).make();
}

ListFaults list_faults(const Selection& selection, const std::stop_token& stop) {
  ListFaults faults = selection.faults;
  if (!selection.reader) return faults;
  std::vector<std::uint32_t> words(selection.blocks.stride());
  for_each_row(selection.rows(), stop, [&](Index row) {
    std::ranges::fill(words, 0u);
    selection.reader->mark(row, words.data(), nullptr, faults);
  });
  return faults;
}

std::vector<std::string> faults_of(const Selection& selection, const Band& band,
                                   const PairMask* mask, const ShareOut& share_out) {
  std::vector<std::string> clauses;
  const auto [faults, outside] = count_faults(selection, band, mask, share_out);
  if (faults.repeats > 0)
    clauses.push_back("the lists repeat " + plural(faults.repeats, "entry") +
                      ": each pair counts once");
  if (faults.outside > 0)
    clauses.push_back(plural(faults.outside, "entry") + " of the lists out of the range 0 to " +
                      std::to_string(selection.blocks.cols() - 1) + ", first " +
                      std::to_string(faults.first_outside) + " in row " +
                      std::to_string(faults.row_of_first) + ": left out");
  add_beyond(clauses, outside.future, outside.future_at_edge, "in the future", "the causal mask");
  add_beyond(clauses, outside.past, outside.past_at_edge, "before the sliding window",
             "the sliding window");
  if (outside.masked > 0)
    clauses.push_back(plural(outside.masked, "kept pair") +
                      " that the mask of the head excludes: left out");
  if (outside.queries_without_keys > 0)
    clauses.push_back(plural(outside.queries_without_keys, "query") +
                      (outside.queries_without_keys == 1 ? " has" : " have") +
                      " no kept key: output 0");
  return clauses;
}

std::shared_ptr<const PairMask> pairs_of(Selection selection,
                                         const std::shared_ptr<const PairMask>& mask) {
  const auto [queries, keys] = selection.lengths;
  const bool of_pairs = selection.block == Lengths{1, 1} && !(mask && mask->has_pairs());
  BitRows pairs = of_pairs ? std::move(selection.blocks)
                           : BitRows(queries, keys,
                                     std::make_shared<const PairMaker>(std::move(selection), mask));
  using Documents = std::vector<std::int32_t>;
  return std::make_shared<const PairMask>(mask ? mask->query_document() : Documents(),
                                          mask ? mask->key_document() : Documents(),
                                          std::move(pairs));
}

}  // namespace fovea
