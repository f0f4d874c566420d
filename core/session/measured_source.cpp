#include "session/measured_source.h"

#include <algorithm>

#include "evaluate/computation.h"

namespace fovea {
namespace {

/// Whether query i is token i + nk - nq of the keys, as far as the source tells. In cross attention
/// it is not, nor beside compressed entries, which are keys as well.
bool are_last_tokens(const Source& source, Index layer) {
  const Layer& of = source.layers[layer];
  if (of.lengths().offset() < 0 || of.conditions.compressed) return false;
  if (!of.key_sequence) return true;
  const auto &queries = sequence_of(source, layer).tokens, &keys = of.key_sequence->tokens;
  return !queries.empty() && queries.size() <= keys.size() &&
         std::equal(queries.rbegin(), queries.rend(), keys.rbegin());
}

}  // namespace

MeasuredHead measure_head(const Source& source, const HeadChoice& head, const Backend& backend,
                          Run& run, std::uint64_t seed) {
  const Layer& layer = source.layers[head.layer];
  HeadToMeasure measured{
      .lengths = layer.lengths(), .read = {}, .places_known = are_last_tokens(source, head.layer)};
  const auto& tokens = key_sequence_of(source, head.layer).tokens;
  if (std::ssize(tokens) == measured.lengths.keys) measured.tokens = tokens;
  if (!layer.has_qk()) {
    const Matrix attention = layer.attention.read(head.head, run.stop);
    measured.read = [&attention](IndexRange rows, Run&) {
      return Matrix::copy_of(attention.view().slice(rows));
    };
    return measure_head(measured, run, most_read_entries, seed);
  }
  const Problem problem = problem_of(source, head, run.stop);
  // Binding is enough: nothing here needs the outputs.
  const Computation exact = prepare(problem, {.variant = &reference_variant()}, backend, run);
  measured.plan = &exact.op->plan();
  measured.read = [&](IndexRange rows, Run& its) {
    return exact.op->tile(rows, {0, measured.lengths.keys}, its);
  };
  return measure_head(measured, run, most_read_entries, seed);
}

}  // namespace fovea
