// Studies to look at: which columns and views of a source are shown, and back ends that take their
// time.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "study/event_loop.h"
#include "study/study.h"
#include "window/backend.h"

namespace fovea::test {

inline const std::string small = "synthetic:clusters?n=128&d=16&seed=1";

/// Opens `what` with these columns and views.
inline void open(Study& study, const std::string& what, const std::vector<std::string>& variants,
                 std::vector<View> views) {
  study.open(what);
  REQUIRE(wait_until([&] { return !study.opening(); }));
  Session session = study.session();
  session.columns.clear();
  for (const std::string& id : variants)
    session.columns.push_back(
        {.variant = id, .values = values_for_length(find_variant(id), study.length()), .seed = 0});
  session.views = std::move(views);
  study.set_session(session);
}

inline void set_seed(Study& study, std::size_t column, std::uint64_t seed) {
  Session session = study.session();
  session.columns[column].seed = seed;
  study.set_session(session);
}

/// Takes as long to bind as a large head.
class SlowBinding : public CpuLike {
 public:
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    return CpuLike::bind(std::move(plan), problem, run);
  }
};

}  // namespace fovea::test
