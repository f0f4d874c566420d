#include "io/selection_file.h"

#include <algorithm>

#include "analysis/block_mask.h"
#include "analysis/support.h"
#include "data/blocks.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/stop.h"

namespace fovea {
namespace {

constexpr double largest_file = 4.0 * 1024 * 1024 * 1024;  // bytes

void require_room(double bytes, SelectionForm form) {
  if (bytes > largest_file)
    throw UnavailableError("a " + words_of(form) + " takes " + format_bytes(bytes) + ", at most " +
                           format_bytes(largest_file) + " are written");
}

/// The lists of several rows, each as long as the longest.
class Lists {
 public:
  void add_row() { rows_.emplace_back(); }
  void add(Index entry) { rows_.back().push_back(static_cast<std::int32_t>(entry)); }

  /// [heads, rows], where `rows` are those of a head.
  OutTensor counts(const std::string& name, Index heads) const {
    std::vector<std::int32_t> counts;
    for (const auto& row : rows_) counts.push_back(static_cast<std::int32_t>(row.size()));
    return {name, {heads, std::ssize(rows_) / heads}, std::move(counts)};
  }
  /// [heads, rows, most], with `fill` behind the end of a row.
  OutTensor entries(const std::string& name, Index heads, std::int32_t fill,
                    SelectionForm form) const {
    std::size_t most = 1;  // tensors without an entry are hard to read
    for (const auto& row : rows_) most = std::max(most, row.size());
    require_room(4.0 * static_cast<double>(rows_.size()) * static_cast<double>(most), form);
    std::vector<std::int32_t> all(rows_.size() * most, fill);
    for (std::size_t r = 0; r < rows_.size(); ++r)
      std::ranges::copy(rows_[r], all.begin() + static_cast<std::ptrdiff_t>(r * most));
    return {name, {heads, std::ssize(rows_) / heads, static_cast<Index>(most)}, std::move(all)};
  }
  /// indptr [rows + 1] and indices [entries].
  std::vector<OutTensor> compressed() const {
    std::vector<std::int32_t> begins{0}, all;
    for (const auto& row : rows_) {
      all.insert(all.end(), row.begin(), row.end());
      begins.push_back(static_cast<std::int32_t>(all.size()));
    }
    return {{"indptr", {std::ssize(begins)}, begins}, {"indices", {std::ssize(all)}, all}};
  }

 private:
  std::vector<std::vector<std::int32_t>> rows_;
};

/// Calls `add_row` for each query of the plan, then `add` with each of its keys, which ascend.
template <class AddRow, class Add>
void for_pairs(const Plan& plan, const std::stop_token& stop, AddRow add_row, Add add) {
  const Support support(plan);
  std::vector<bool> attends(static_cast<std::size_t>(plan.keys()));
  for (Index i = 0; i < plan.queries(); ++i) {
    if (i % 64 == 0) check_stop(stop);
    std::fill(attends.begin(), attends.end(), false);
    support.for_parts(i, {0, plan.keys()}, [&](const Support::Part& part) {
      std::fill_n(attends.begin() + part.keys.begin, part.keys.size(), true);
    });
    add_row();
    for (Index j = 0; j < plan.keys(); ++j)
      if (attends[static_cast<std::size_t>(j)]) add(i, j);
  }
}

SelectionFile of_pairs(std::span<const Plan* const> heads, SelectionForm form,
                       const std::stop_token& stop) {
  const Index queries = heads.front()->queries(), keys = heads.front()->keys(),
              count = std::ssize(heads);
  SelectionFile file;
  if (form == SelectionForm::pairs) {
    const double bytes = static_cast<double>(count * queries) * static_cast<double>(keys);
    require_room(bytes, form);
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(count * queries * keys));
    for (Index h = 0; h < count; ++h)
      for_pairs(
          *heads[static_cast<std::size_t>(h)], stop, [] {},
          [&](Index i, Index j) {
            mask[static_cast<std::size_t>((h * queries + i) * keys + j)] = 1;
          });
    file.tensors.push_back({"kept", {count, queries, keys}, std::move(mask)});
    return file;
  }
  if (form == SelectionForm::csr && count > 1)
    throw UsageError("compressed rows (csr) hold the pairs of one head; found " +
                     plural(count, "head") + ": choose one, or the form indices");
  Lists lists;
  double entries = 0;
  for (const Plan* plan : heads)
    for_pairs(
        *plan, stop, [&] { lists.add_row(), require_room(4 * entries, form); },
        [&](Index, Index j) { lists.add(j), ++entries; });
  if (form == SelectionForm::csr)
    file.tensors = lists.compressed();
  else
    file.tensors.push_back(lists.entries("indices", count, -1, form));
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
  std::vector<std::uint8_t> mask;
  Lists partial, full;
  for (const Plan* plan : heads) {
    const Plan admissible = plan_of_admissible(*plan);
    const auto counted = [&](const Plan& of) {
      return block_pairs(of, {0, all.queries}, {0, all.keys}, block, stop);
    };
    const std::vector<double> kept = counted(*plan), admitted = counted(admissible);
    for (Index r = 0; r < rows; ++r) {
      partial.add_row(), full.add_row();
      const Index height = std::min(block.queries, all.queries - r * block.queries);
      for (Index c = 0; c < cols; ++c) {
        const auto at = static_cast<std::size_t>(r * cols + c);
        mask.push_back(kept[at] > 0);
        if (kept[at] == 0) continue;
        const Index width = std::min(block.keys, all.keys - c * block.keys);
        (kept[at] == static_cast<double>(height * width) ? full : partial).add(c);
        file.added_pairs += admitted[at] - kept[at];
      }
    }
  }
  if (form == SelectionForm::blocks) {
    file.tensors.push_back({"kept", {count, rows, cols}, std::move(mask)});
    return file;
  }
  for (const auto& [lists, prefix] : {std::pair{&partial, ""}, {&full, "full_"}}) {
    file.tensors.push_back(lists->counts(std::string(prefix) + "kv_num_blocks", count));
    file.tensors.push_back(lists->entries(std::string(prefix) + "kv_indices", count, 0, form));
  }
  return file;
}

}  // namespace

std::string id_of(SelectionForm form) {
  switch (form) {
    case SelectionForm::pairs:
      return "pairs";
    case SelectionForm::blocks:
      return "blocks";
    case SelectionForm::flex:
      return "flex";
    case SelectionForm::indices:
      return "indices";
    case SelectionForm::csr:
      return "csr";
  }
  return "";
}

std::string words_of(SelectionForm form) {
  switch (form) {
    case SelectionForm::pairs:
      return "mask of pairs";
    case SelectionForm::blocks:
      return "mask of blocks";
    case SelectionForm::flex:
      return "BlockMask of FlexAttention";
    case SelectionForm::indices:
      return "list of keys for each query";
    case SelectionForm::csr:
      return "list of keys in compressed rows (CSR)";
  }
  return "";
}

bool has_blocks(SelectionForm form) {
  return form == SelectionForm::blocks || form == SelectionForm::flex;
}

SelectionFile selection_file(std::span<const Plan* const> heads, SelectionForm form, Lengths block,
                             const std::stop_token& stop) {
  return has_blocks(form) ? of_blocks(heads, form, block, stop) : of_pairs(heads, form, stop);
}

}  // namespace fovea
