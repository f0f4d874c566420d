// Heads so long that the CPU takes more queries past a key than registers hold.
#include <doctest/doctest.h>

#include <cstring>

#include "backend/backends.h"
#include "backend/isa/attend.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("long strips find what short ones do, bit for bit, on every instruction set") {
  const Index n = 64 * isa::max_lanes + 101, dv = 5;  // the last strip is neither long nor whole
  for (const bool causal : {false, true})
    for (const std::string name : {"sse2", "avx2", "avx512"}) {
      CAPTURE(name);
      CAPTURE(causal);
      std::unique_ptr<Backend> backend;
      try {
        backend = make_cpu_backend({.threads = 2, .isa = name});
      } catch (const UnavailableError&) {
        continue;
      }
      const Instance x =
          make_instance(*backend, make_data(Data::gaussian, n, 3, dv, causal), "exact", {});
      const Output whole = x.apply(x.problem.v);
      for (const IndexRange rows : {IndexRange{0, 256}, {6144, 6400}, {12288, n}}) {
        const RowsOutput part = x.apply_rows(rows, 256);
        for (Index i = rows.begin; i < rows.end; ++i) {
          const Index at = i - rows.begin;
          REQUIRE(std::memcmp(part.output.z.row(at), whole.z.row(i), dv * sizeof(float)) == 0);
          REQUIRE(part.output.lse[static_cast<std::size_t>(at)] ==
                  whole.lse[static_cast<std::size_t>(i)]);
        }
      }
    }
}
