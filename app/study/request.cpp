#include "study/request.h"

#include <array>

namespace fovea {
namespace {

struct Trait {
  RequestKind kind;
  int priority;
  bool background;
  const char* text;
};

constexpr std::array<Trait, 19> traits{{
    {RequestKind::open, 100, false, "Opening…"},
    {RequestKind::problem, 90, false, "Reading the head"},
    {RequestKind::pair, 60, false, "Computing"},
    {RequestKind::row, 60, false, "Computing"},
    {RequestKind::selection, 60, false, "Computing"},
    {RequestKind::map, 52, false, "Drawing"},
    {RequestKind::panel, 50, false, "Drawing"},
    {RequestKind::curve, 50, false, "Drawing"},
    {RequestKind::exact, 45, false, "Computing attention"},
    {RequestKind::column, 40, false, "Computing attention"},
    {RequestKind::sweep, 36, true, "Measuring against n"},
    {RequestKind::exact_rows, 35, false, "Exact attention"},
    {RequestKind::metrics, 30, true, "Comparing with exact"},
    {RequestKind::bands, 28, false, "Maps become exact"},
    {RequestKind::diagnostics, 25, true, "Comparing with exact"},
    {RequestKind::ranks, 20, true, "Computing ranks"},
    {RequestKind::card, 10, true, "Looking at the heads"},
    {RequestKind::hash, 5, false, "Computing"},
    {RequestKind::timing, 0, true, "Timing"},
}};

constexpr const Trait& trait_of(RequestKind kind) {
  return traits[static_cast<std::size_t>(kind)];
}

constexpr bool in_order() {
  for (std::size_t i = 0; i < traits.size(); ++i)
    if (traits[i].kind != static_cast<RequestKind>(i)) return false;
  return true;
}
static_assert(in_order());

}  // namespace

int priority_of(RequestKind kind) {
  return trait_of(kind).priority;
}

bool in_background(RequestKind kind) {
  return trait_of(kind).background;
}

bool is_long(RequestKind kind) {
  return kind == RequestKind::exact_rows || kind == RequestKind::bands;
}

const char* text_of(RequestKind kind) {
  return trait_of(kind).text;
}

double seconds_left(const Engine::Status& status) {
  if (!status.busy() || status.fraction < 0.02 || status.seconds < 0.5) return 0;
  return status.seconds * (1 - status.fraction) / status.fraction;
}

}  // namespace fovea
