// Whichever allocation around an engine is refused, on whatever thread: every job ends once, with
// its result or an error, and the engine works on.
#include "engine/engine.h"

#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "allocations.h"
#include "backend/backends.h"
#include "data/error.h"
#include "engine/jobs.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Reports of an engine. As those of a window they allocate; what they say is kept without.
struct Reports {
  std::atomic<int> times = 0;
  char last[100] = {};

  Report report() {
    return [this](const std::string& message) {
      const std::string posted = message + " (and what makes this text a long one)";
      std::strncpy(last, posted.c_str(), sizeof(last) - 1);
      ++times;
    };
  }
  bool says(const std::string& message) const { return std::string(last).starts_with(message); }
};

void wait_for(const std::atomic<int>& times) {
  const auto give_up = Clock::now() + std::chrono::seconds(60);
  while (times == 0 && Clock::now() < give_up)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

constexpr Index rows_of_a_piece = 64, columns_of_a_piece = 64;
constexpr std::size_t bytes_of_a_piece = rows_of_a_piece * columns_of_a_piece * sizeof(float);

/// Two pieces, each with a matrix. The matrices are the largest allocations around an engine.
Piece two_pieces() {
  return [pieces = std::make_shared<int>(0)](const Backend&, std::stop_token, Progress&) {
    const Matrix made(rows_of_a_piece, columns_of_a_piece);
    return ++*pieces < 2;
  };
}

constexpr char long_message[] = "the device is gone: a text too long for a string without memory";

/// The piece, once it may begin. A piece that began while its job is still being submitted would
/// allocate now before, now after the last allocations of that.
Piece gated(const std::atomic<bool>& may_begin, const Piece& piece) {
  return [&may_begin, piece](const Backend& backend, std::stop_token stop, Progress& progress) {
    while (!may_begin) std::this_thread::sleep_for(std::chrono::microseconds(100));
    return piece(backend, stop, progress);
  };
}

/// Runs one job with an allocation of its engine refused, and then another one. Returns whether
/// an allocation had that number. Without `least_bytes`, numbers are not the same in each run: the
/// engine's thread may allocate for its first turn before or after counting begins.
bool refuse(std::size_t number, const Piece& piece, Reports& ended, Reports& lost,
            std::size_t least_bytes = 0) {
  std::atomic<bool> may_begin = false;
  const Piece its = gated(may_begin, piece);
  TestEngine engine(make_cpu_backend({.threads = 1}), lost.report());
  bool reached = false, submitted = false;
  {
    const RefusedAllocation refused(number, least_bytes);
    try {
      engine.submit({RequestKind::run}, 0, its, {}, ended.report());
      may_begin = submitted = true;
      while (ended.times + lost.times == 0) {
        const auto status = engine.status();
        if (!status.busy() && status.waiting == 0 && ended.times + lost.times == 0) break;
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    } catch (const std::bad_alloc&) {  // of submit: this thread knows
    }
    may_begin = true;
    wait_idle(engine);
    reached = refused.reached();
  }
  CHECK(ended.times + lost.times == (submitted ? 1 : 0));
  Reports next;
  engine.submit({RequestKind::run}, 0, two_pieces(), {}, next.report());
  wait_for(next.times);
  CHECK(next.times == 1);
  CHECK(next.says(" ("));
  return reached;
}

}  // namespace

TEST_CASE(
    "memory: whichever allocation of an engine is refused, the job ends with its result or an "
    "error, and the next one runs") {
  std::size_t number = 1;
  for (;; ++number) {
    CAPTURE(number);
    Reports ended, lost;
    if (!refuse(number, two_pieces(), ended, lost)) break;
    CHECK(lost.times == 0);
    if (ended.times == 0) continue;
    CHECK((ended.says("not enough memory") || ended.says(" (")));
  }
  CHECK(number > 4);
}

TEST_CASE("memory: a job ends with an error if the matrix of one of its pieces is refused") {
  for (const std::size_t number : {1, 2, 3}) {
    CAPTURE(number);
    Reports ended, lost;
    CHECK(refuse(number, two_pieces(), ended, lost, bytes_of_a_piece) == (number <= 2));
    CHECK(lost.times == 0);
    CHECK(ended.says("not enough memory") == (number <= 2));
  }
}

TEST_CASE("memory: whichever allocation is refused, an error of a job and a lost device arrive") {
  const Piece fail = [](const Backend&, std::stop_token, Progress&) -> bool {
    throw UnavailableError(long_message);
  };
  const Piece lose = [](const Backend&, std::stop_token, Progress&) -> bool {
    throw DeviceLostError(long_message);
  };
  for (const bool loses : {false, true}) {
    std::size_t told = 0;
    for (std::size_t number = 1;; ++number) {
      CAPTURE(number);
      Reports ended, lost;
      if (!refuse(number, loses ? lose : fail, ended, lost)) break;
      const Reports& heard = loses && lost.times > 0 ? lost : ended;
      if (heard.times == 0) continue;
      CHECK((heard.says(long_message) || heard.says("not enough memory")));
      told += heard.says(long_message) ? 1 : 0;
    }
    CHECK(told > 0);  // the report made its text again after an allocation of it was refused
  }
}
