#include "study/request_kinds.h"

#include <array>
#include <cstddef>

namespace fovea {
namespace {

constexpr std::array table{
    RequestTraits{
        .kind = RequestKind::open, .priority = 100, .text = "Opening the source", .apart = true},
    RequestTraits{
        .kind = RequestKind::problem, .priority = 90, .text = "Reading the head", .is_input = true},
    RequestTraits{.kind = RequestKind::pair, .priority = 60, .text = "Reading the pair"},
    RequestTraits{.kind = RequestKind::row, .priority = 60, .text = "Reading the row"},
    RequestTraits{
        .kind = RequestKind::selection, .priority = 60, .text = "Measuring the selection"},
    RequestTraits{.kind = RequestKind::drawn_pairs,
                  .priority = 58,
                  .text = "Reading the pairs of the column",
                  .apart = true},
    RequestTraits{
        .kind = RequestKind::map, .priority = 52, .text = "Drawing panels", .if_unseen = 33},
    RequestTraits{
        .kind = RequestKind::panel, .priority = 50, .text = "Drawing panels", .if_unseen = 33},
    RequestTraits{
        .kind = RequestKind::curve, .priority = 50, .text = "Drawing panels", .if_unseen = 33},
    RequestTraits{.kind = RequestKind::exact,
                  .priority = 45,
                  .text = "Computing exact attention",
                  .is_input = true},
    RequestTraits{.kind = RequestKind::column,
                  .priority = 40,
                  .text = "Computing attention",
                  .is_input = true,
                  .if_selected = 44},
    RequestTraits{.kind = RequestKind::sweep,
                  .priority = 36,
                  .text = "Measuring the sweep",
                  .in_background = true,
                  .apart = true},
    RequestTraits{.kind = RequestKind::trials,
                  .priority = 36,
                  .text = "Trying settings",
                  .in_background = true,
                  .apart = true},
    RequestTraits{.kind = RequestKind::learning,
                  .priority = 36,
                  .text = "Learning a tree",
                  .in_background = true,
                  .apart = true},
    RequestTraits{.kind = RequestKind::effect,
                  .priority = 36,
                  .text = "Measuring the effect in the model",
                  .in_background = true,
                  .apart = true},
    RequestTraits{.kind = RequestKind::triage,
                  .priority = 36,
                  .text = "Triaging heads",
                  .in_background = true,
                  .apart = true},
    RequestTraits{.kind = RequestKind::validation,
                  .priority = 36,
                  .text = "Trying a learned tree",
                  .in_background = true,
                  .apart = true},
    RequestTraits{.kind = RequestKind::exact_rows,
                  .priority = 35,
                  .text = "Computing exact attention",
                  .of_minutes = true},
    RequestTraits{.kind = RequestKind::spans,
                  .priority = 38,
                  .text = "Measuring spans",
                  .in_background = true},
    RequestTraits{.kind = RequestKind::metrics,
                  .priority = 30,
                  .text = "Comparing with exact",
                  .in_background = true,
                  .is_input = true,
                  .if_selected = 51},
    RequestTraits{
        .kind = RequestKind::bands, .priority = 28, .text = "Refining maps", .of_minutes = true},
    RequestTraits{.kind = RequestKind::diagnostics,
                  .priority = 20,
                  .text = "Comparing with exact",
                  .in_background = true},
    RequestTraits{.kind = RequestKind::slow_panel,
                  .priority = 22,
                  .text = "Drawing panels that take long",
                  .in_background = true},
    RequestTraits{
        .kind = RequestKind::learned, .priority = 15, .text = "Learning a tree", .is_input = true},
    RequestTraits{.kind = RequestKind::card,
                  .priority = 10,
                  .text = "Summarising heads",
                  .in_background = true},
    RequestTraits{.kind = RequestKind::thumbnail,
                  .priority = 32,
                  .text = "Drawing variants",
                  .in_background = true,
                  .apart = true},
    RequestTraits{
        .kind = RequestKind::hash, .priority = 5, .text = "Hashing the file", .apart = true},
    RequestTraits{.kind = RequestKind::timing,
                  .priority = 0,
                  .text = "Timing variants",
                  .in_background = true,
                  .at_once = true,
                  .apart = true},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].kind) != i) return false;
  return true;
}
static_assert(in_order());

}  // namespace

const RequestTraits& traits_of(RequestKind kind) {
  return table[static_cast<std::size_t>(kind)];
}

}  // namespace fovea
