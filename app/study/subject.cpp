#include "study/subject.h"

#include <algorithm>
#include <atomic>

#include "session/held_head.h"

namespace fovea {

std::uint64_t next_source_number() {
  static std::atomic<std::uint64_t> number = 0;  // sources are read on several threads
  return ++number;
}

std::uint64_t SourceNumbers::of(const std::shared_ptr<const Source>& source) {
  std::erase_if(known_, [](const auto& known) { return known.first.expired(); });
  for (const auto& [known, number] : known_)
    if (known.lock() == source) return number;
  return known_.emplace_back(source, next_source_number()).second;
}

bool same_shape(const Source& a, const Source& b) {
  return std::ranges::equal(a.layers, b.layers, [](const Layer& one, const Layer& other) {
    return one.heads() == other.heads() && one.lengths() == other.lengths() &&
           one.has_qk() == other.has_qk();
  });
}

Lengths Subject::lengths() const {
  return source ? source->layers[session.layer].lengths() : Lengths{};
}

bool Subject::shows_matrix() const {
  return source && !source->layers[session.layer].has_qk();
}

HeadKey Subject::head() const {
  return {source_number, choice_of(session)};
}

std::optional<Index> Subject::chosen_query() const {
  const Index n = lengths().queries;
  if (pointed.query >= 0 && pointed.query < n) return pointed.query;
  if (session.pinned_query)
    return std::clamp<Index>(*session.pinned_query, 0, std::max<Index>(n - 1, 0));
  return std::nullopt;
}

Index Subject::shown_query() const {
  return chosen_query().value_or(lengths().queries / 2);
}

Index Subject::listed_query() const {
  const Index n = lengths().queries;
  return chosen_query().value_or(worst_query && *worst_query < n ? *worst_query : n / 2);
}

Index Subject::focus_row() const {
  if (pointed.query >= 0) return pointed.query;
  return static_cast<Index>((session.viewport.row_begin + session.viewport.row_end) / 2);
}

}  // namespace fovea
