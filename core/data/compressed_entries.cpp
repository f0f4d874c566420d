#include "data/compressed_entries.h"

#include <algorithm>
#include <utility>

#include "data/error.h"
#include "data/number_text.h"

namespace fovea {
namespace {

/// Makes the pairs of one query.
class SeenKeys final : public BitRows::Maker {
 public:
  SeenKeys(std::shared_ptr<const CompressedEntries> entries, Index queries)
      : entries_(std::move(entries)), first_(entries_->tokens - queries) {}

  void make(Index query, std::uint32_t* words) const override {
    const Index t = first_ + query, tokens = entries_->tokens;
    set_bits(words, {entries_->window > 0 ? std::max<Index>(0, t + 1 - entries_->window) : 0,
                     entries_->causal ? t + 1 : tokens});
    const IndexRange seen{0, entries_->seen_at(t)};
    const auto add = [&](IndexRange some) {
      if (some.size() > 0) set_bits(words, {tokens + some.begin, tokens + some.end});
    };
    if (const auto& chosen = entries_->chosen)
      for (const IndexRange& run : chosen->runs(query)) add(run.intersected(seen));
    else
      add(seen);
    if (entries_->mask && entries_->mask->has_pairs())
      entries_->mask->pairs().keep_row(query, words);
  }

 private:
  std::shared_ptr<const CompressedEntries> entries_;
  Index first_;  // the token of the first query
};

}  // namespace

Index CompressedEntries::seen_at(Index t) const {
  if (seen == Seen::none) return 0;
  if (seen == Seen::all || !causal) return count();
  return std::ranges::upper_bound(stands_for, t + 1, {}, &IndexRange::end) - stands_for.begin();
}

std::string CompressedEntries::count_text() const {
  return plural(count(), "compressed entry");
}

std::string CompressedEntries::name(Index key) const {
  return "entry " + std::to_string(key - tokens);
}

std::string CompressedEntries::description(Index key) const {
  const IndexRange of = tokens_of(key);
  return name(key) + (of.size() == 1 ? ": token " + std::to_string(of.begin)
                                     : ": tokens " + std::to_string(of.begin) + "–" +
                                           std::to_string(of.end - 1));
}

void check_entries(const CompressedEntries& entries, const std::string& where) {
  IndexRange before{0, 0};
  for (std::size_t c = 0; c < entries.stands_for.size(); ++c) {
    const IndexRange& of = entries.stands_for[c];
    const std::string found = "entry " + std::to_string(c) + " stands for the tokens [" +
                              std::to_string(of.begin) + "," + std::to_string(of.end) + ")";
    if (of.begin < 0 || of.size() < 1 || of.end > entries.tokens)
      throw InputError(where, found + "; expected one or more of the " +
                                  std::to_string(entries.tokens) + " tokens");
    if (of.begin < before.begin || of.end < before.end)
      throw InputError(where, found + " after [" + std::to_string(before.begin) + "," +
                                  std::to_string(before.end) +
                                  "); expected entries in the order of their tokens");
    before = of;
  }
}

std::shared_ptr<const PairMask> pairs_of(std::shared_ptr<const CompressedEntries> entries,
                                         Index queries) {
  const Index keys = entries->keys();
  const std::shared_ptr<const PairMask> mask = entries->mask;
  BitRows pairs(queries, keys, std::make_shared<const SeenKeys>(std::move(entries), queries));
  using Documents = std::vector<std::int32_t>;
  return std::make_shared<const PairMask>(mask ? mask->query_document() : Documents(),
                                          mask ? mask->key_document() : Documents(),
                                          std::move(pairs));
}

}  // namespace fovea
