#include "views/rank_subject.h"

#include <cmath>

namespace fovea {
namespace {

template <class Entry>
Matrix fill(IndexRange rows, IndexRange cols, const Run& run, Entry entry) {
  Matrix out(rows.size(), cols.size());
  for (Index i = rows.begin; i < rows.end; ++i) {
    run.check();
    for (Index j = cols.begin; j < cols.end; ++j)
      out(i - rows.begin, j - cols.begin) = static_cast<float>(entry(i, j));
  }
  return out;
}

}  // namespace

Entries entries_of(const Computation& subject, const Computation& exact, RankSubject what,
                   Run& run) {
  const Problem& problem = exact.op->problem();
  Run quiet = run.quiet();  // progress is the map's own
  switch (what) {
    case RankSubject::attention:
      return [&subject, quiet](IndexRange rows, IndexRange cols) mutable {
        return subject.op->tile(rows, cols, quiet);
      };
    case RankSubject::unnormalised:
      return [&problem, quiet](IndexRange rows, IndexRange cols) {
        return fill(rows, cols, quiet, [&](Index i, Index j) {
          return problem.admits(i, j) ? std::exp(problem.logit(i, j)) : 0.0;
        });
      };
    case RankSubject::logits:
      return [&problem, quiet](IndexRange rows, IndexRange cols) {
        return fill(rows, cols, quiet, [&](Index i, Index j) { return problem.logit(i, j); });
      };
    case RankSubject::error:
      break;
  }
  return [&subject, &exact, quiet](IndexRange rows, IndexRange cols) mutable {
    Matrix error = subject.op->tile(rows, cols, quiet);
    const Matrix p = exact.op->tile(rows, cols, quiet);
    for (Index i = 0; i < error.rows(); ++i)
      for (Index j = 0; j < error.cols(); ++j) error(i, j) -= p(i, j);
    return error;
  };
}

}  // namespace fovea
