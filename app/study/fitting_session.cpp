#include "study/fitting_session.h"

#include <algorithm>

namespace fovea {
namespace {

bool is_within(const Viewport& v, Lengths lengths) {
  return v.row_begin >= 0 && v.row_begin < v.row_end && v.row_end <= double(lengths.queries) &&
         v.col_begin >= 0 && v.col_begin < v.col_end && v.col_end <= double(lengths.keys);
}

}  // namespace

Session fitting_session(Session session, const Source& source) {
  session.layer = std::clamp<Index>(session.layer, 0, std::ssize(source.layers) - 1);
  const Layer& layer = source.layers[session.layer];
  session.head = std::clamp<Index>(session.head, 0, layer.heads() - 1);
  const Lengths lengths = layer.lengths();
  if (!is_within(session.viewport, lengths)) session.viewport = whole(lengths);
  if (session.pinned_query &&
      (*session.pinned_query < 0 || *session.pinned_query >= lengths.queries))
    session.pinned_query.reset();
  return session;
}

}  // namespace fovea
