#include "study/subject.h"

#include <algorithm>

namespace fovea {

Index Subject::length() const {
  return source ? source->layers[static_cast<std::size_t>(session.layer)].n() : 0;
}

bool Subject::shows_matrix() const {
  return source && !source->layers[static_cast<std::size_t>(session.layer)].has_qkv();
}

HeadKey Subject::head() const {
  return {source_number, {session.layer, session.head, session.scale, session.causal}};
}

std::string Subject::title_of(int column) const {
  if (column < 0 || column >= std::ssize(session.columns)) return "";
  return shows_matrix() ? "Attention matrix"
                        : label_of(session.columns, static_cast<std::size_t>(column));
}

Index Subject::shown_query() const {
  const Index n = length();
  if (pointed.query >= 0 && pointed.query < n) return pointed.query;
  if (session.pinned_query)
    return std::clamp<Index>(*session.pinned_query, 0, std::max<Index>(n - 1, 0));
  return n / 2;
}

Index Subject::focus_row() const {
  if (pointed.query >= 0) return pointed.query;
  return static_cast<Index>((session.viewport.row_begin + session.viewport.row_end) / 2);
}

}  // namespace fovea
