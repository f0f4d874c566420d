#include "data/pair_mask.h"

#include <algorithm>

#include "data/error.h"

namespace fovea {
namespace {

// Numbers the documents from 0 on, in their order.
std::int32_t renumber(std::vector<std::int32_t>& queries, std::vector<std::int32_t>& keys) {
  std::vector<std::int32_t> known;
  for (auto* list : {&queries, &keys})
    for (const std::int32_t document : *list) {
      if (document < PairMask::padding)
        throw InputError("", "a token of document " + std::to_string(document) +
                                 "; expected a number from 0 on, or -1 for padding");
      if (document != PairMask::padding) known.push_back(document);
    }
  std::ranges::sort(known);
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (auto* list : {&queries, &keys})
    for (std::int32_t& document : *list)
      if (document != PairMask::padding)
        document =
            static_cast<std::int32_t>(std::ranges::lower_bound(known, document) - known.begin());
  return static_cast<std::int32_t>(known.size());
}

}  // namespace

PairMask::PairMask(std::vector<std::int32_t> query_document, std::vector<std::int32_t> key_document,
                   BitRows pairs)
    : query_document_(std::move(query_document)),
      key_document_(std::move(key_document)),
      pairs_(std::move(pairs)) {
  if (query_document_.empty() != key_document_.empty())
    throw InputError("", "documents of " + std::to_string(query_document_.size()) +
                             " queries and " + std::to_string(key_document_.size()) +
                             " keys; expected both or neither");
  if (has_documents() && has_pairs() &&
      (pairs_.rows() != std::ssize(query_document_) || pairs_.cols() != std::ssize(key_document_)))
    throw InputError("", "a mask of " + std::to_string(pairs_.rows()) + " x " +
                             std::to_string(pairs_.cols()) + " pairs; expected " +
                             std::to_string(query_document_.size()) + " x " +
                             std::to_string(key_document_.size()));
  const std::int32_t documents = renumber(query_document_, key_document_);
  keys_of_.resize(static_cast<std::size_t>(documents) + 1);
  run_end_.resize(key_document_.size());
  for (std::size_t j = 0; j < key_document_.size(); ++j)
    if (key_document_[j] >= 0) keys_of_[key_document_[j]].push_back(static_cast<std::int32_t>(j));
  for (std::size_t j = key_document_.size(); j-- > 0;)
    run_end_[j] = j + 1 < key_document_.size() && key_document_[j + 1] == key_document_[j]
                      ? run_end_[j + 1]
                      : static_cast<std::int32_t>(j + 1);
  // A query of padding gets a document without keys; otherwise it would meet keys of padding.
  for (std::int32_t& document : query_document_)
    if (document == padding) document = documents;
}

PairMask PairMask::prefix(Index queries, Index keys) const {
  const auto first = [](const std::vector<std::int32_t>& list, Index count) {
    return list.empty() ? list : std::vector(list.begin(), list.begin() + count);
  };
  BitMatrix pairs;
  if (has_pairs()) {
    pairs = BitMatrix(queries, keys);
    for (Index i = 0; i < queries; ++i)
      for (Index j = 0; j < keys; ++j)
        if (pairs_(i, j)) pairs.set(i, j);
  }
  return {first(query_document_, queries), first(key_document_, keys), std::move(pairs)};
}

Index PairMask::count(Index i, IndexRange keys) const {
  if (keys.size() <= 0) return 0;
  if (!has_documents()) return has_pairs() ? count_bits(pairs_.row(i), keys) : keys.size();
  if (!has_pairs()) {
    const auto& its = keys_of_[static_cast<std::size_t>(query_document_[i])];
    const auto low = std::ranges::lower_bound(its, keys.begin);
    return std::lower_bound(low, its.end(), keys.end) - low;
  }
  Index sum = 0;
  for (IndexRange rest = keys; rest.size() > 0;) {
    const IndexRange run = document_run(i, rest);
    if (run.size() <= 0) break;
    sum += count_bits(pairs_.row(i), run);
    rest.begin = run.end;
  }
  return sum;
}

IndexRange PairMask::document_run(Index i, IndexRange keys) const {
  if (!has_documents()) return keys;
  const auto& its = keys_of_[static_cast<std::size_t>(query_document_[i])];
  const auto first = std::ranges::lower_bound(its, keys.begin);
  if (first == its.end() || *first >= keys.end) return {keys.end, keys.end};
  return {*first, std::min<Index>(run_end_[*first], keys.end)};
}

IndexRange PairMask::next_run(Index i, IndexRange keys) const {
  while (keys.size() > 0) {
    const IndexRange run = document_run(i, keys);
    if (!has_pairs() || run.size() <= 0) return run;
    const std::uint32_t* row = pairs_.row(i);
    const Index begin = next_bit(row, true, run);
    if (begin < run.end) return {begin, next_bit(row, false, {begin, run.end})};
    keys.begin = run.end;
  }
  return {keys.end, keys.end};
}

IndexRange PairMask::keys_of_documents(std::int32_t first, std::int32_t last) const {
  IndexRange out{std::ssize(key_document_), 0};
  for (std::int32_t document = first; document <= last; ++document) {
    const auto& its = keys_of_[document];
    if (its.empty()) continue;
    out.begin = std::min<Index>(out.begin, its.front());
    out.end = std::max<Index>(out.end, Index{its.back()} + 1);
  }
  return out.size() > 0 ? out : IndexRange{0, 0};
}

}  // namespace fovea
