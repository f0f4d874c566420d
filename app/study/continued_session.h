// Another source is opened with the columns, views and look of the one before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// A column that the opened source cannot show. It comes back once a source that it fits is opened.
struct WaitingColumn {
  Column column;          // as it was left
  Index n = 0;            // the tokens its parameters are for
  std::size_t place = 0;  // among the columns it was left with
  std::string title;      // what it was called among them
  friend bool operator==(const WaitingColumn&, const WaitingColumn&) = default;
};

/// The Session with which `source` is opened after one of `n_before` tokens. Columns with the
/// standard parameters of their length get those of the new one, others keep what fits it. As in
/// first_session() are columns and views that nobody has changed, and what makes no sense: columns
/// and rank maps that take long for a long head, columns of a source that is an attention matrix,
/// and ranges of colours. Columns that hold a head keep it, also that of the source before, where
/// the tokens are as many.
/// `waiting` are columns that an earlier source could not show. Those that fit this one are among
/// the columns again, and those of `before` that do not fit wait from now on.
Session continued_session(const Session& before, Index n_before, const Source& source,
                          std::vector<WaitingColumn>& waiting);

/// The heads that columns hold stay the same when `source` is opened next: they are named by their
/// source, unless it is that one.
void follow_source(Session& session, const std::string& source);

/// The Session with which the same source goes on with other heads or tokens: as above, with the
/// mask, scale, window and soft cap that were set by hand, and with the same layer and head if they
/// are still there.
Session session_going_on(const Session& before, Index n_before, const Source& source);

/// The same source is opened with other content, of `n` tokens in place of `n_before`: other
/// patches of an image, or another text for a model. What has the standard setting of its length,
/// as it is shown now, gets that of the new one; what was set by hand stays, and so do columns that
/// hold a head.
void follow_length(Session& next, const Session& shown, Index n_before, Index n);

/// The named spans that stay: all where the tokens are the same, else none. Tokens are the same
/// where their texts are, and where no text is known but there are as many, in the same grid.
std::vector<Span> continued_spans(const Session& before, const Source& of_before,
                                  const Session& next, const Source& source);

/// Where a token of a text is after an edit: tokens before and after what was edited are the same.
/// Nothing for a token that was edited, and where no text is known.
std::optional<Index> moved_token(const std::vector<std::string>& before,
                                 const std::vector<std::string>& after, Index token);

}  // namespace fovea
