// The kinds of work that a Study asks its Engine for, and the rules by which they make way for each
// other.
//
// A request is known by its RequestId: a kind and, where there are several of a kind, a place. What
// it was asked with is its key. Requests (study/requests.h) keep these rules:
//
//  1. Each update of the Study asks for all that it lacks. What an update no longer asks for is
//     cancelled at its end, unless its kind is `apart`.                                end_update()
//  2. A request with the same id and key is asked for once.                            is_pending()
//  3. A newer key replaces an older one. The older one, if it runs, may end first unless it has run
//     for long: a late picture while a slider moves beats none.                 lets_older_finish()
//  4. Higher priorities run first, among equals the newest. Engine::submit()
//  5. Work `in_background` that runs ends soon, or is cancelled, when anything more urgent is asked
//     for; timings are cancelled at once. Work `apart` in the background makes way for anything.
//     make_way_for(), timer
//  6. The running piece of work `of_minutes` stops for a new picture, and starts again after it.
//                                                                             interrupt_long_work()
//  7. While the view moves, nothing below the attention of columns starts.     hold_back_for_view()
//  8. After the end of an `input`, the metrics of columns that are not selected, and what is below
//     them, do not start until the next update has asked for the pictures that can be made of it
//     now.                                                                               submit()
//  9. While paused, only what is `apart` starts. may_start()
// 10. The selected column and its error come before all others, and panels in sight before those
//     that are not. Requests that wait follow what is selected and in sight.            attend()
//
// The states of a request:
//
//            submit()               engine                    finish()
//   unknown ---------> waiting ---------------> running ------------------> unknown, answer kept
//      ^                  |  ^                  |  |  |
//      |   cancel(), 1, 3 |  |   after a piece, |  |  | cancel(), 1, 5
//      +------------------+  +---- 4, 6 --------+  |  |
//      +-------------------------------------------+--+
#pragma once

#include "engine/engine.h"

namespace fovea {

enum class RequestKind : int {
  open,         // reading a source
  problem,      // the chosen head
  pair,         // what is under the pointer
  row,          // a row of P; column: of the canvas; -1 - h: exact attention of head h
  selection,    // statistics of the selected rectangle
  drawn_pairs,  // the pairs of a column, on which a person draws
  map,          // a picture of a long head's map, for a row and a column of the canvas
  panel,        // a panel, for a row and a column of the canvas
  curve,        // a panel of one query, which follows the pointer
  exact,        // exact attention
  column,       // the attention of a column
  sweep,        // a step of the sweep over n
  trials,       // some settings that are tried on heads
  learning,     // some steps of a tree that learns
  effect,       // a model with replaced attention
  triage,       // the pattern of sparse prefill of a head
  validation,   // a learned tree on a head of another source
  exact_rows,   // exact attention of a long head, band by band
  spans,        // attention mass between groups of tokens
  metrics,      // of a column against exact
  bands,        // exact bands of a long head's map, for a row and a column of the canvas
  diagnostics,  // of a column
  slow_panel,   // a panel that takes long, for a row and a column of the canvas
  learned,      // the attention of a column whose tree is to be learned first
  card,         // a small picture of a head
  thumbnail,    // a small picture of a variant
  hash,         // of the source's content
  timing,       // repeated runs
};

/// A row of the table of kinds.
struct RequestTraits {
  RequestKind kind;
  int priority;      // higher runs first
  const char* text;  // what the engine is doing, for the status bar: "Computing attention"
  bool in_background = false;  // nobody waits for it
  bool at_once = false;        // in the background it makes way at once, as it takes long
  bool apart = false;          // asked for apart from updates, once; also while paused
  bool of_minutes = false;     // its running piece stops for a new picture
  bool is_input = false;       // pictures are made of it
  int if_selected = 0;         // the priority for the selected column; 0: no other one
  int if_unseen = 0;           // the priority for a place of the canvas that is not in sight
};

const RequestTraits& traits_of(RequestKind kind);
inline const RequestTraits& traits_of(const RequestId& id) {
  return traits_of(static_cast<RequestKind>(id.kind));
}

}  // namespace fovea
