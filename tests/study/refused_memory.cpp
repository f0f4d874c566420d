// Whichever allocation is refused after work in the background: whoever waits for it hears of it.
#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "allocations.h"
#include "data/error.h"
#include "study/background.h"
#include "study/event_loop.h"

namespace fovea::test {
namespace {

using Refusal = std::unique_ptr<RefusedAllocation>;

/// Runs `work`, which makes the refusal. Gives what arrived, and returns whether there were so many
/// allocations.
bool refuse_after(const std::function<void(Refusal& refusal)>& work,
                  std::vector<std::string>& arrived) {
  QObject receiver;
  BackgroundThread background;
  std::promise<void> begin;
  std::atomic<bool> over = false;
  Refusal refusal;
  background.run([begun = begin.get_future().share()] { begun.wait(); });
  background.run([&] { work(refusal); }, &receiver,
                 [&](const std::string& error) { arrived.push_back(error); });
  background.run([&] { over = true; });
  begin.set_value();
  while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool reached = refusal->reached();
  refusal.reset();
  wait_until([&] { return !arrived.empty(); });
  return reached;
}

}  // namespace

TEST_CASE("memory: whichever allocation of its report is refused, the end of work arrives once") {
  const std::string message = "the disk is full, in words that need memory";
  for (const std::string& error : {std::string(), message}) {
    std::size_t number = 1;
    for (bool reached = true; reached; ++number) {
      CAPTURE(number);
      std::vector<std::string> arrived;
      const auto work = [&](Refusal& refusal) {
        const UnavailableError failure(error);
        refusal = std::make_unique<RefusedAllocation>(number);
        if (!error.empty()) throw failure;
      };
      reached = refuse_after(work, arrived);
      CHECK(arrived == std::vector{error});
    }
    CHECK(number > 3);
  }
}

}  // namespace fovea::test
