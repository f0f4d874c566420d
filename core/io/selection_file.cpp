#include "io/selection_file.h"

#include <algorithm>

#include "analysis/block_mask.h"
#include "analysis/support.h"
#include "data/blocks.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "data/stop.h"

namespace fovea {
namespace {

constexpr double largest_file = 4.0 * 1024 * 1024 * 1024;  // bytes

void require_room(double bytes, SelectionForm form) {
  if (bytes > largest_file)
    throw UnavailableError("a " + std::string(kind_of(form).words) + " takes " +
                           format_bytes(bytes) + ", at most " + format_bytes(largest_file) +
                           " are written");
  require_memory(bytes, "a " + std::string(kind_of(form).words));
}

/// Lists of the rows of all heads, [heads, rows, most]; what a row does not fill is `fill`.
class Lists {
 public:
  /// `counts`: the entries of each row, head after head.
  Lists(std::vector<std::int32_t> counts, std::int32_t fill, SelectionForm form)
      : counts_(std::move(counts)) {
    for (const std::int32_t count : counts_) most_ = std::max<Index>(most_, count);
    const auto rows = static_cast<double>(counts_.size());
    require_room(4.0 * rows * static_cast<double>(most_), form);
    entries_.assign(counts_.size() * static_cast<std::size_t>(most_), fill);
  }
  /// Rows come in their order, and entries as many as were counted.
  void next_row() { end_ = entries_.begin() + (row_++ * most_); }
  void add(Index entry) { *end_++ = static_cast<std::int32_t>(entry); }

  OutTensor take_counts(const std::string& name, Index heads) {
    const Index rows = std::ssize(counts_) / heads;
    return {name, {heads, rows}, std::move(counts_)};
  }
  OutTensor take_entries(const std::string& name, Index heads) {
    const Index rows = std::ssize(counts_) / heads;
    return {name, {heads, rows, most_}, std::move(entries_)};
  }

 private:
  std::vector<std::int32_t> counts_, entries_;
  Index most_ = 1;  // tensors without an entry are hard to read
  Index row_ = 0;
  std::vector<std::int32_t>::iterator end_;
};

/// Calls `add_row` with each query of the plan, then `add` with each of its keys, which ascend.
template <class AddRow, class Add>
void for_pairs(const Plan& plan, const std::stop_token& stop, AddRow add_row, Add add) {
  const Support support(plan);
  std::vector<IndexRange> attended;
  for (Index i = 0; i < plan.queries(); ++i) {
    if (i % 64 == 0) check_stop(stop);
    attended.clear();
    support.for_parts(i, {0, plan.keys()},
                      [&](const Support::Part& part) { attended.push_back(part.keys); });
    std::ranges::sort(attended, {}, &IndexRange::begin);
    add_row();
    for (const IndexRange& keys : attended)
      for (Index j = keys.begin; j < keys.end; ++j) add(i, j);
  }
}

/// The keys of each query, head after head.
std::vector<std::int32_t> counts_of(std::span<const Plan* const> heads,
                                    const std::stop_token& stop) {
  std::vector<std::int32_t> counts;
  for (const Plan* plan : heads)
    for_pairs(
        *plan, stop, [&] { counts.push_back(0); }, [&](Index, Index) { ++counts.back(); });
  return counts;
}

/// indptr [rows + 1] and indices [entries].
std::vector<OutTensor> compressed_rows(const Plan& plan, const std::stop_token& stop) {
  const Plan* const heads[] = {&plan};
  std::vector<std::int32_t> begins{0};
  double entries = 0;
  for (const std::int32_t count : counts_of(heads, stop)) {
    entries += count;
    require_room(4 * entries, SelectionForm::csr);
    begins.push_back(static_cast<std::int32_t>(entries));
  }
  std::vector<std::int32_t> all;
  all.reserve(static_cast<std::size_t>(entries));
  for_pairs(
      plan, stop, [] {}, [&](Index, Index j) { all.push_back(static_cast<std::int32_t>(j)); });
  return {{"indptr", {std::ssize(begins)}, std::move(begins)},
          {"indices", {std::ssize(all)}, std::move(all)}};
}

SelectionFile of_pairs(std::span<const Plan* const> heads, SelectionForm form,
                       const std::stop_token& stop) {
  const Index queries = heads.front()->queries(), keys = heads.front()->keys(),
              count = std::ssize(heads);
  SelectionFile file;
  if (form == SelectionForm::pairs) {
    const double bytes = static_cast<double>(count * queries) * static_cast<double>(keys);
    require_room(bytes, form);
    std::vector<std::uint8_t> mask(count * queries * keys);
    for (Index h = 0; h < count; ++h)
      for_pairs(
          *heads[h], stop, [] {},
          [&](Index i, Index j) { mask[(h * queries + i) * keys + j] = 1; });
    file.tensors.push_back({"kept", {count, queries, keys}, std::move(mask)});
    return file;
  }
  if (form == SelectionForm::csr && count > 1)
    throw UsageError("compressed rows (csr) hold the pairs of one head; found " +
                     plural(count, "head") + ": choose one, or the form indices");
  if (form == SelectionForm::csr) {
    file.tensors = compressed_rows(*heads.front(), stop);
    return file;
  }
  Lists lists(counts_of(heads, stop), -1, form);
  for (const Plan* plan : heads)
    for_pairs(
        *plan, stop, [&] { lists.next_row(); }, [&](Index, Index j) { lists.add(j); });
  file.tensors.push_back(lists.take_entries("indices", count));
  return file;
}

SelectionFile of_blocks(std::span<const Plan* const> heads, SelectionForm form, Lengths block,
                        const std::stop_token& stop) {
  const Lengths all = heads.front()->lengths;
  const Index rows = number_of_blocks(all.queries, block.queries),
              cols = number_of_blocks(all.keys, block.keys), count = std::ssize(heads);
  require_room(8.0 * static_cast<double>(count * rows) * static_cast<double>(cols), form);
  SelectionFile file;
  file.metadata["block_size"] = std::to_string(block.queries) + ", " + std::to_string(block.keys);
  std::vector<std::uint8_t> mask;  // of each block: left out, kept in part, or kept in full
  constexpr std::uint8_t partial = 1, full = 2;
  std::vector<std::int32_t> counts[2];  // of partial and of full blocks in each row
  for (const Plan* plan : heads) {
    const Plan admissible = plan_of_admissible(*plan);
    const auto counted = [&](const Plan& of) {
      return block_pairs(of, {0, all.queries}, {0, all.keys}, block, stop);
    };
    const std::vector<double> kept = counted(*plan), admitted = counted(admissible);
    for (Index r = 0; r < rows; ++r) {
      for (auto& of_kind : counts) of_kind.push_back(0);
      const Index height = std::min(block.queries, all.queries - r * block.queries);
      for (Index c = 0; c < cols; ++c) {
        const auto at = static_cast<std::size_t>(r * cols + c);
        const Index width = std::min(block.keys, all.keys - c * block.keys);
        const bool is_full = kept[at] == static_cast<double>(height * width);
        mask.push_back(kept[at] == 0 ? 0 : is_full ? full : partial);
        if (kept[at] == 0) continue;
        ++counts[is_full ? 1 : 0].back();
        file.added_pairs += admitted[at] - kept[at];
      }
    }
  }
  if (form == SelectionForm::blocks) {
    for (std::uint8_t& state : mask) state = state > 0;
    file.tensors.push_back({"kept", {count, rows, cols}, std::move(mask)});
    return file;
  }
  for (const std::uint8_t kind : {partial, full}) {
    const std::string prefix = kind == full ? "full_" : "";
    Lists lists(std::move(counts[kind - 1]), 0, form);
    for (std::size_t at = 0; at < mask.size(); ++at) {
      const Index c = static_cast<Index>(at) % cols;
      if (c == 0) lists.next_row();
      if (mask[at] == kind) lists.add(c);
    }
    OutTensor indices = lists.take_entries(prefix + "kv_indices", count);
    file.tensors.push_back(lists.take_counts(prefix + "kv_num_blocks", count));
    file.tensors.push_back(std::move(indices));
  }
  return file;
}

}  // namespace

std::span<const SelectionFormKind> selection_forms() {
  static constexpr SelectionFormKind kinds[] = {
      {SelectionForm::pairs, "pairs", "mask of pairs",
       "kept [1, n, n]: 1 for each pair that counts"},
      {SelectionForm::blocks, "blocks", "mask of blocks",
       "kept [1, rows, columns]: 1 for each block with a pair that counts; block_size", true},
      {SelectionForm::flex, "flex", "BlockMask of FlexAttention",
       "kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices; block_size", true},
      {SelectionForm::indices, "indices", "list of keys for each query",
       "indices [1, n, most]: the keys of each query, then -1"},
      {SelectionForm::csr, "csr", "list of keys in compressed rows (CSR)",
       "indptr [n + 1], indices: the keys of all queries in a row"}};
  return kinds;
}

const SelectionFormKind& kind_of(SelectionForm form) {
  return selection_forms()[static_cast<std::size_t>(form)];
}

std::string note_of_added(const SelectionFile& file, const std::string& column) {
  return file.added_pairs > 0
             ? format_number(file.added_pairs) + " pairs that " + column +
                   " leaves out lie in blocks that it keeps in part: the file keeps these blocks"
             : "";
}

SelectionFile selection_file(std::span<const Plan* const> heads, SelectionForm form, Lengths block,
                             const std::stop_token& stop) {
  return kind_of(form).has_blocks ? of_blocks(heads, form, block, stop)
                                  : of_pairs(heads, form, stop);
}

}  // namespace fovea
