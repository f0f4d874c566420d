// A ViewKind is a row of the table of views: all that the program knows of a view. Menus, the
// command line, session files, figures, the canvas and the scheduler loop over the table.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/map_pyramid.h"
#include "analysis/metrics.h"
#include "data/sequence.h"
#include "evaluate/computation.h"
#include "panels/panel.h"
#include "session/session.h"
#include "variants/schema.h"

namespace fovea {

namespace views {
struct MatrixFrame;
}

/// Everything a panel is made from. `exact` is the reference of the same scale and mask.
struct PanelInputs {
  const Computation& computation;
  const Computation& exact;
  const Backend& backend;            // for what a view computes itself, such as rank maps
  const Metrics* metrics = nullptr;  // absent: not computed yet
  const std::vector<Diagnostic>* diagnostics = nullptr;
  const Sequence& sequence;
  const ViewSettings& settings;
  IndexRange rows, cols;   // the visible tokens
  Index max_pixels = 512;  // rasters have at most this many a side
  Index query = 0;         // of a view of one query
  /// The rows of P of `query`, [n], if they are known already.
  const std::vector<float>* exact_row = nullptr;
  const std::vector<float>* approximate_row = nullptr;
  /// For a long head: heatmap and error map take the known pixels from it.
  const MapPyramid* map = nullptr;
};

/// A setting of one view, described as the parameters of variants are. The id of its field is its
/// name in session files and, with dashes, its option on the command line.
struct ViewField {
  struct Words {
    std::string brief, full;  // in a bar; in a menu
  };
  Field field;               // label: in a bar; meaning: what a tooltip says
  std::string menu;          // its name in a menu, where & marks the letter that chooses it
  std::vector<Words> words;  // of each choice; if none are given, its name
  bool of_colours = false;   // changes how panels are drawn, not what they are made from
  /// A key that goes on to the next choice, and its name in the list of keys; empty if there is
  /// none.
  std::string key = {}, key_text = {};
};

/// A ViewField with the way into a typed struct P, as a view's own code reads it.
template <class P>
struct TypedViewField : ViewField {
  std::function<void(P&, const Value&)> write;

  TypedViewField(TypedField<P> typed, std::string menu_name, std::vector<Words> choices = {})
      : ViewField{.field = std::move(typed.field),
                  .menu = std::move(menu_name),
                  .words = std::move(choices)},
        write(std::move(typed.write)) {
    if (words.empty())
      for (const std::string& choice : field.choices) words.push_back({choice, choice});
  }
};

struct ViewKind {
  using Body = decltype(Panel::body);
  enum class Uses { never, on_maps, always };

  std::string id, label;  // "heatmap"; in menus and beside rows of the canvas: "Attention P"
  std::string meaning;    // what it shows, in one or two sentences
  /// The body of a panel. It may add to the caption.
  Body (*make)(const PanelInputs& in, std::string& caption, Run& run) = nullptr;

  // What its panels need.
  bool needs_exact = false;    // they show something of the reference
  bool needs_entries = false;  // entries of P, which an imported result may lack
  bool needs_outputs = false;  // Z of the computation and of the reference
  bool of_query = false;       // they show one query, which follows the pointer
  bool takes_long = false;     // pictures do not wait for them
  Uses metrics = Uses::never;  // on_maps: only those of long heads tell them
  bool uses_diagnostics = false;
  bool uses_pooling = false;    // a pixel may cover several entries
  bool uses_log_floor = false;  // the body depends on where a logarithmic scale begins

  // What they say and how they look.
  bool shows_plan_only = false;   // numbers that are not finite do not matter
  bool tells_plan_notes = false;  // the caption ends with the notes of the plan
  bool zero_of_exact = false;     // the reference has nothing to show
  bool has_token_errors = false;  // a strip of |z~ - z| stands beside the raster
  bool has_norm = false;          // colours may be logarithmic or by row
  bool has_blocks = false;        // a block under the pointer can be chosen
  double aspect = 1;              // height over width on the canvas, if the body is no matrix
  bool has_keys = false;          // keys lie across its panels, so that ticks stand below them
  bool has_colours = false;       // numbers are colours, which a bar explains
  std::string hover_name = {};    // of its number in the table under the pointer; empty if none
  /// The words for a number >= 0 of a raster; null for the number itself.
  std::string (*value_words)(const Raster& raster, double value) = nullptr;

  /// The pixels of the map of a long head; null if it has none.
  MapPixels (*map)(const Computation& computation, const Computation& exact,
                   const ViewSettings& settings) = nullptr;
  /// The body for a matrix P without Q and K; null if it needs these.
  Body (*of_matrix)(MatrixView p, const views::MatrixFrame& frame, const Backend& backend,
                    std::string& caption, Run& run) = nullptr;

  /// A first start shows it: always, or where the canvas has room for it, too.
  enum class AtFirst { never, in_room, always };
  AtFirst at_first = AtFirst::never;
  std::vector<ViewField> fields = {};
  /// Brings a finished panel to another value of one setting, where that is quick.
  struct Shortcut {
    std::string field;
    void (*apply)(Panel& panel, const ViewSettings& settings);
  };
  std::optional<Shortcut> shortcut = {};
};

/// The settings of a view as its own code reads them, from a struct P with
/// `static std::vector<TypedViewField<P>> fields()`.
template <class P>
P read_settings(const ViewSettings& settings) {
  P read;
  for (const TypedViewField<P>& typed : P::fields())
    if (const auto own = settings.own.find(typed.field.id); own != settings.own.end())
      typed.write(read, own->second);
  return read;
}

template <class P>
std::vector<ViewField> fields_of() {
  const auto typed = P::fields();
  return {typed.begin(), typed.end()};
}

}  // namespace fovea
