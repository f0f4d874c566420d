// What a Study asks its Engine for.
#pragma once

#include "engine/engine.h"

namespace fovea {

enum class RequestKind : int {
  open,         // reading a source
  problem,      // the chosen head
  pair,         // what is under the pointer
  row,          // a row of P; column: of the canvas, -1: exact attention
  selection,    // statistics of the selected rectangle
  map,          // a picture of a long head's map, for a row and a column of the canvas
  panel,        // a panel, for a row and a column of the canvas
  curve,        // the same of the row view, which follows the pointer
  exact,        // exact attention
  column,       // the attention of a column
  sweep,        // a step of the sweep over n
  exact_rows,   // exact attention of a long head, band by band
  metrics,      // of a column against exact
  bands,        // exact bands of a long head's map, for a row and a column of the canvas
  diagnostics,  // of a column
  ranks,        // a rank panel, for a row and a column of the canvas
  card,         // a small picture of a head
  hash,         // of the source's content
  timing,       // repeated runs
};

/// Higher runs first.
int priority_of(RequestKind kind);
/// Work that nobody waits for; it stops for other requests.
bool in_background(RequestKind kind);
/// Work of minutes whose running piece stops for a new picture.
bool is_long(RequestKind kind);
/// What the engine is doing, for the status bar: "Computing attention".
const char* text_of(RequestKind kind);

/// Of the running request; 0: too early to say.
double seconds_left(const Engine::Status& status);

}  // namespace fovea
