// The triage of a window under test.
#pragma once

#include <doctest/doctest.h>

#include "window/docks/explore_dock.h"
#include "window/docks/triage_page.h"
#include "window/harness.h"

namespace fovea::test {

/// Whether all heads were triaged.
inline bool is_triaged(const TriageRun& run) {
  return run.source() && run.complete() && !run.running();
}

/// Turns to the page and waits for all heads. They are causal, as in models that sparse prefill is
/// for.
inline ExploreDock& open_triage(Window& window) {
  window.trigger("causal");
  REQUIRE(window.settle());
  window.trigger("triage");
  ExploreDock& dock = *window->exploration();
  REQUIRE(wait_until([&] { return is_triaged(dock.triage().run()); }));
  return dock;
}

}  // namespace fovea::test
