// What a cancelled run leaves behind in an operator is whole rows, or nothing.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "backend/backends.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("an operator that was cancelled anywhere gives the same entries afterwards") {
  const Index n = 6000;
  const auto backend = make_cpu_backend({.threads = 2});
  const auto data = make_data(Data::gaussian, n, 32, 3, false);
  const IndexRange rows{100, 700}, cols{0, 40};
  Profile profile;
  const Matrix wanted = make_instance(*backend, data, "exact", {}).tile(rows, cols);
  int stopped = 0;
  for (int wait = 0; wait < 30; ++wait) {
    const Instance x = make_instance(*backend, data, "exact", {});
    std::stop_source source;
    if (wait == 0) source.request_stop();  // before it begins
    std::jthread later([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(100 * wait));
      source.request_stop();
    });
    Run cancelled{profile, source.get_token()};
    try {
      (void)x.bound->tile(rows, cols, cancelled);
    } catch (const Cancelled&) {
      ++stopped;
    }
    const Matrix got = x.tile(rows, cols);
    bool same = true;
    for (Index i = 0; i < got.rows(); ++i)
      same = same && std::memcmp(got.row(i), wanted.row(i), sizeof(float) * 40) == 0;
    CHECK(same);
  }
  CHECK(stopped > 0);
}
