// A head of a source that is read slowly: another one that is chosen meanwhile does not wait for
// it.
#include <doctest/doctest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "study/opened.h"

namespace fovea::test {
namespace {

constexpr Index n = 512, d = 16, head_count = 2;
constexpr Index row_bytes = 8192;  // so far apart that each row is read for itself
constexpr Index head_bytes = n * row_bytes;

float value_at(Index begin) {
  return static_cast<float>(begin / row_bytes % 100) / 100;
}

/// Rows that hold their own number; those of head 0 take 5 ms each, until they are quick.
class SlowBytes final : public Bytes {
 public:
  void read(Index begin, std::span<std::byte> out) const override {
    if (begin < head_bytes) {
      ++reads;
      if (!quick) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const float value = value_at(begin);
    for (std::size_t at = 0; at < out.size(); at += sizeof value)
      std::memcpy(out.data() + at, &value, sizeof value);
  }

  mutable std::atomic<Index> reads = 0;  // of head 0
  std::atomic<bool> quick = false;
};

std::shared_ptr<const Source> source_of(const std::shared_ptr<const SlowBytes>& bytes) {
  const HeadTensor tensor{.bytes = bytes,
                          .heads = head_count,
                          .rows = n,
                          .cols = d,
                          .head_stride = head_bytes,
                          .row_stride = row_bytes,
                          .col_stride = sizeof(float)};
  auto source = std::make_shared<Source>();
  source->name = source->path = "slow";
  source->layers.push_back({.name = "", .q = tensor, .k = tensor, .v = tensor});
  return source;
}

void choose_head(Study& study, Index head) {
  Session session = study.session();
  session.head = head;
  study.set_session(session);
}

bool shows_head(const Study& study, Index head) {
  return study.problem() && study.problem()->head == head;
}

}  // namespace

TEST_CASE("a head that is chosen while another is read need not wait, and none is kept in part") {
  const auto bytes = std::make_shared<SlowBytes>();
  Study study(std::make_unique<CpuLike>());
  study.open(source_of(bytes));
  REQUIRE(wait_until([&] { return bytes->reads > 100; }));  // of 1536
  choose_head(study, 1);
  REQUIRE(wait_until([&] { return shows_head(study, 1); }));
  const Index stopped_after = bytes->reads;
  CHECK(stopped_after < 3 * n);
  run_events(50);
  CHECK(bytes->reads == stopped_after);

  bytes->quick = true;
  choose_head(study, 0);
  REQUIRE(wait_until([&] { return shows_head(study, 0); }));
  CHECK(bytes->reads == stopped_after + 3 * n);  // from the start
  for (const MatrixView m : {study.problem()->q, study.problem()->k, study.problem()->v})
    for (Index i = 0; i < n; ++i) REQUIRE(m(i, d - 1) == value_at(i * row_bytes));
}

}  // namespace fovea::test
