#include "data/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "data/blocks.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/stop.h"

namespace fovea {
namespace {

/// Some rows of a tensor.
HeadTensor rows_of(HeadTensor tensor, IndexRange rows) {
  tensor.begin += rows.begin * tensor.row_stride;
  tensor.rows = rows.size();
  return tensor;
}

HeadTensor cols_of(HeadTensor tensor, IndexRange cols) {
  tensor.begin += cols.begin * tensor.col_stride;
  tensor.cols = cols.size();
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
        selection_{.lengths = lengths, .block = tensors.block, .blocks = {}} {
    const Index rows = number_of_blocks(lengths.queries, tensors.block.queries),
                cols = number_of_blocks(lengths.keys, tensors.block.keys);
    require_memory(static_cast<double>(rows) * static_cast<double>(cols) / 8,
                   "the kept pairs of " + lengths.text());
    selection_.blocks = BitMatrix(rows, cols);
  }

  Selection make() {
    if (tensors_.mask.present()) mark_mask();
    if (tensors_.lists.present()) mark_lists(tensors_.lists, nullptr);
    if (tensors_.partial.present()) {
      selection_.partial = BitMatrix(selection_.rows(), selection_.blocks.cols());
      mark_lists(tensors_.partial, &selection_.partial);
    }
    return std::move(selection_);
  }

 private:
  Matrix read(const HeadTensor& tensor) const {
    return tensor.read(head_ * tensor.heads / tensors_.heads, stop_);
  }

  /// Calls use(rows) for bands of rows of some 2^20 entries.
  template <class Use>
  void for_bands(Index entries_of_row, Use use) const {
    const Index band = std::max<Index>(1, (Index{1} << 20) / std::max<Index>(1, entries_of_row));
    for (Index begin = 0; begin < selection_.rows(); begin += band) {
      check_stop(stop_);
      use(IndexRange{begin, std::min(selection_.rows(), begin + band)});
    }
  }

  void mark_mask() {
    for_bands(tensors_.mask.cols, [&](IndexRange band) {
      const Matrix kept = read(rows_of(tensors_.mask, band));
      for (Index r = 0; r < band.size(); ++r)
        for (Index c = 0; c < kept.cols(); ++c)
          if (kept(r, c) != 0) selection_.blocks.set(band.begin + r, c);
    });
  }

  void mark_lists(const ListTensors& lists, BitMatrix* also) {
    if (lists.begins.present()) return mark_compressed(lists);
    for_bands(lists.entries.cols, [&](IndexRange band) {
      const Matrix entries = read(rows_of(lists.entries, band));
      const Matrix counts = lists.counts.present() ? read(rows_of(lists.counts, band)) : Matrix();
      for (Index r = 0; r < band.size(); ++r) {
        const Index row = band.begin + r;
        const Index count = counts.empty() ? entries.cols() : count_of(lists, counts(r, 0), row);
        for (Index e = 0; e < count; ++e)
          if (!counts.empty() || entries(r, e) != -1) mark(row, entries(r, e), also);
      }
    });
  }

  static Index count_of(const ListTensors& lists, float count, Index row) {
    if (!(count >= 0 && count <= static_cast<float>(lists.entries.cols)))
      throw InputError(lists.where, "row " + std::to_string(row) + " counts " +
                                        format_plain(double{count}) + " blocks; expected 0 to " +
                                        std::to_string(lists.entries.cols) +
                                        ", the length of its list");
    return static_cast<Index>(count);
  }

  void mark_compressed(const ListTensors& lists) {
    const Matrix begins = read(lists.begins);
    const Index entries = lists.entries.cols;
    for (Index r = 0; r < selection_.rows(); ++r)
      if (!(begins(0, r) >= 0 && begins(0, r) <= begins(0, r + 1)))
        throw InputError(lists.where, "indptr goes from " + format_plain(double{begins(0, r)}) +
                                          " to " + format_plain(double{begins(0, r + 1)}) +
                                          " in row " + std::to_string(r) +
                                          "; expected numbers that ascend from 0");
    const auto last = static_cast<Index>(begins(0, selection_.rows()));
    if (begins(0, 0) != 0 || last > entries)
      throw InputError(lists.where, "indptr goes from " + format_plain(double{begins(0, 0)}) +
                                        " to " + std::to_string(last) + "; expected 0 to at most " +
                                        std::to_string(entries) + ", the number of indices");
    for_bands(entries / selection_.rows(), [&](IndexRange band) {
      const auto begin = static_cast<Index>(begins(0, band.begin)),
                 end = static_cast<Index>(begins(0, band.end));
      if (begin == end) return;
      const Matrix all = read(cols_of(lists.entries, {begin, end}));
      for (Index row = band.begin; row < band.end; ++row)
        for (auto e = static_cast<Index>(begins(0, row));
             e < static_cast<Index>(begins(0, row + 1)); ++e)
          mark(row, all(0, e - begin), nullptr);
    });
  }

  void mark(Index row, float entry, BitMatrix* also) {
    ListFaults& faults = selection_.faults;
    if (!(entry >= 0 && entry < static_cast<float>(selection_.blocks.cols()))) {
      if (faults.outside++ > 0) return;
      faults.first_outside = std::llround(entry);
      faults.row_of_first = row;
      return;
    }
    const auto block = static_cast<Index>(entry);
    if (selection_.blocks(row, block)) {
      ++faults.repeats;
      return;
    }
    selection_.blocks.set(row, block);
    if (also) also->set(row, block);
  }

  const SelectionTensors& tensors_;
  Index head_;
  const std::stop_token& stop_;
  Selection selection_;
};

/// Pairs that a selection keeps and the head does not count; `at_edge`: those in blocks that hold
/// other pairs which count.
struct OutsidePairs {
  Index future = 0, future_at_edge = 0, past = 0, past_at_edge = 0, masked = 0;
  Index queries_without_keys = 0;
};

Index sum_of_overlaps(const std::vector<IndexRange>& runs, IndexRange keys) {
  Index sum = 0;
  for (const IndexRange& run : runs) sum += run.intersected(keys).size();
  return sum;
}

OutsidePairs outside_pairs(const Selection& selection, const Band& band, const PairMask* mask,
                           const std::stop_token& stop) {
  OutsidePairs out;
  const Index keys = selection.lengths.keys, side = selection.block.keys;
  const auto keys_of = [&](Index i) { return IndexRange{0, keys}.intersected(band.keys(i)); };
  const auto admitted = [&](Index i, IndexRange run) {
    return mask ? mask->count(i, run) : run.size();
  };
  for_each_row(selection.rows(), stop, [&](Index row) {
    const IndexRange queries = selection.queries_of(row);
    const std::vector<IndexRange> all = selection.runs(row);
    const std::vector<IndexRange> whole =
        selection.partial.empty() ? all : selection.runs(row, true);
    // Up to here blocks of the row hold pairs that the band counts.
    const Index last = number_of_blocks(keys_of(queries.end - 1).end, side) * side,
                first = keys_of(queries.begin).begin / side * side;
    for (Index i = queries.begin; i < queries.end; ++i) {
      const IndexRange its = keys_of(i);
      out.future += sum_of_overlaps(whole, {its.end, keys});
      out.future_at_edge += sum_of_overlaps(whole, {its.end, std::max(its.end, last)});
      out.past += sum_of_overlaps(whole, {0, its.begin});
      out.past_at_edge += sum_of_overlaps(whole, {std::min(first, its.begin), its.begin});
      Index left = 0;
      for (const IndexRange& run : whole)
        out.masked += run.intersected(its).size() - admitted(i, run.intersected(its));
      for (const IndexRange& run : all) left += admitted(i, run.intersected(its));
      out.queries_without_keys += left == 0 && admitted(i, its) > 0;
    }
  });
  return out;
}

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
  std::vector<IndexRange> found;
  const bool leaves_out = whole && !partial.empty();
  for (Index w = 0; w < blocks.stride(); ++w) {
    std::uint32_t bits = blocks.row(row)[w] & (leaves_out ? ~partial.row(row)[w] : ~0u);
    for (; bits != 0; bits &= bits - 1) {
      const Index begin = (w * BitMatrix::word_bits + std::countr_zero(bits)) * block.keys,
                  end = std::min(lengths.keys, begin + block.keys);
      if (!found.empty() && found.back().end == begin)
        found.back().end = end;
      else
        found.push_back({begin, end});
    }
  }
  return found;
}

Selection read_selection(const SelectionTensors& tensors, Index head, Lengths lengths,
                         const std::stop_token& stop) {
  return SelectionMaker(tensors, head, lengths, stop).make();
}

std::vector<std::string> faults_of(const Selection& selection, const Band& band,
                                   const PairMask* mask, const std::stop_token& stop) {
  std::vector<std::string> clauses;
  const ListFaults& faults = selection.faults;
  if (faults.repeats > 0)
    clauses.push_back("the lists repeat " + plural(faults.repeats, "entry") +
                      ": each pair counts once");
  if (faults.outside > 0)
    clauses.push_back(plural(faults.outside, "entry") + " of the lists out of the range 0 to " +
                      std::to_string(selection.blocks.cols() - 1) + ", first " +
                      std::to_string(faults.first_outside) + " in row " +
                      std::to_string(faults.row_of_first) + ": left out");
  const OutsidePairs outside = outside_pairs(selection, band, mask, stop);
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
                                         const std::shared_ptr<const PairMask>& mask,
                                         const std::stop_token& stop) {
  const auto [queries, keys] = selection.lengths;
  const BitMatrix* also = mask && mask->has_pairs() ? &mask->pairs() : nullptr;
  BitMatrix pairs;
  if (selection.block == Lengths{1, 1} && !also) {
    pairs = std::move(selection.blocks);
  } else {
    require_memory(static_cast<double>(queries) * static_cast<double>(keys) / 8,
                   "the kept pairs of " + selection.lengths.text());
    pairs = BitMatrix(queries, keys);
    for_each_row(selection.rows(), stop, [&](Index row) {
      const std::vector<IndexRange> runs = selection.runs(row);
      const IndexRange its = selection.queries_of(row);
      for (Index i = its.begin; i < its.end; ++i)
        for (const IndexRange& run : runs)
          for (Index j = run.begin; j < run.end; ++j)
            if (!also || (*also)(i, j)) pairs.set(i, j);
    });
  }
  using Documents = std::vector<std::int32_t>;
  return std::make_shared<const PairMask>(mask ? mask->query_document() : Documents(),
                                          mask ? mask->key_document() : Documents(),
                                          std::move(pairs));
}

}  // namespace fovea
