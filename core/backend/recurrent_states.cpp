#include "backend/recurrent_states.h"

#include <algorithm>
#include <bit>

#include "backend/operator_need.h"
#include "backend/product.h"

namespace fovea {
namespace {

constexpr Index columns = 32;  // of V that a thread takes through the chunks

std::size_t count_states(const Recurrence& recurrence, Index chunks) {
  return recurrence.level_weights.empty()
             ? 1
             : static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(chunks)));
}

}  // namespace

RecurrentStates::RecurrentStates(const RecurrentPlan& plan, const Problem& problem,
                                 const RecurrentKeys& keys, MatrixView v, const isa::Loops& loops)
    : plan_(plan), problem_(problem), keys_(keys), v_(v), loops_(loops) {
  for (std::size_t s = 0; s < count_states(*plan.recurrence, keys.chunks()); ++s)
    states_.emplace_back(Matrix::padded(keys.d(), v.cols));
}

Matrix RecurrentStates::run(Workers& workers, Run& run) {
  Matrix z = Matrix::padded(keys_.tokens(), v_.cols);
  const Index panels = (v_.cols + columns - 1) / columns;
  for (Index begin = 0; begin < keys_.chunks(); begin += together) {
    const Index count = std::min(together, keys_.chunks() - begin);
    std::vector<Piece> pieces(count);
    workers.loop(count, run.stop, [&](Index turn, int) { pieces[turn] = piece_of(begin + turn); });
    workers.loop(panels, run.stop, [&](Index turn, int) {
      const IndexRange cols{turn * columns, std::min((turn + 1) * columns, v_.cols)};
      for (Index c = begin; c < begin + count; ++c) {
        run.check();
        pass(c, pieces[c - begin], cols, z);
      }
    });
    run.reached(static_cast<double>(begin + count) / static_cast<double>(keys_.chunks()));
  }
  return z;
}

RecurrentStates::Piece RecurrentStates::piece_of(Index c) const {
  const Recurrence& recurrence = *plan_.recurrence;
  const IndexRange tokens = keys_.tokens_of(c);
  RecurrentChunk::Own own = RecurrentChunk(plan_, problem_, tokens).own(tokens);
  Piece piece{.p = std::move(own.p), .r = {}, .keys = Matrix(keys_.d(), tokens.size())};
  for (Index t = 0; t < tokens.size(); ++t) {
    for (Index channel = 0; channel < keys_.d(); ++channel)
      piece.keys(channel, t) = keys_.key(tokens.begin + t)[channel];
    for (Index j = 0; j <= t; ++j)
      piece.p(t, j) *= recurrence.weight_of(tokens.begin + t, tokens.begin + j);
  }
  piece.r.resize(states_.size());
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (!holds(s, c)) continue;
    piece.r[s] = Matrix::copy_of(own.r);
    const Index first = ((c >> s) - 1) * (Index{1} << s) * RecurrentKeys::chunk;  // of its tokens
    for (Index t = 0; t < tokens.size() && states_.size() > 1; ++t)
      for (Index channel = 0; channel < keys_.d(); ++channel)
        piece.r[s](t, channel) *= recurrence.weight_of(tokens.begin + t, first);
  }
  return piece;
}

void RecurrentStates::pass(Index c, const Piece& piece, IndexRange cols, Matrix& z) {
  const IndexRange tokens = keys_.tokens_of(c);
  add_product(piece.p, v_.slice(tokens), cols, loops_, z, tokens.begin);
  for (std::size_t s = 0; s < states_.size(); ++s) {
    if (!holds(s, c)) continue;
    Matrix& state = states_[s];
    add_product(piece.r[s], state, cols, loops_, z, tokens.begin);
    Matrix taken = Matrix::padded(keys_.erases() ? tokens.size() : 0, v_.cols);
    if (keys_.erases()) add_product(keys_.erased_of(c), state, cols, loops_, taken, 0);
    for (Index channel = 0; channel < keys_.d(); ++channel)
      loops_.scale(state.row(channel) + cols.begin, static_cast<int>(cols.size()),
                   keys_.decay(c, channel));
    if (keys_.erases()) add_product(piece.keys, taken, cols, loops_, state, 0);
  }
  add_chunk(c, piece, cols);
}

// Adds chunk c as counting adds 1 to a binary number: the states of the trailing ones of c are
// merged with the chunk into the next state.
void RecurrentStates::add_chunk(Index c, const Piece& piece, IndexRange cols) {
  const auto to = states_.size() == 1
                      ? std::size_t{0}
                      : static_cast<std::size_t>(std::countr_one(static_cast<std::uint64_t>(c)));
  Matrix& state = states_[to];
  for (std::size_t s = 0; s < to; ++s)
    for (Index channel = 0; channel < keys_.d(); ++channel) {
      float* const from = states_[s].row(channel);
      for (Index e = cols.begin; e < cols.end; ++e) {
        state(channel, e) += from[e];
        from[e] = 0;
      }
    }
  add_product(piece.keys, v_.slice(keys_.tokens_of(c)), cols, loops_, state, 0);
}

double RecurrentStates::need(const RecurrentPlan& plan, Index tokens, Index d, Index dv) {
  const Index chunks = number_of_blocks(tokens, RecurrentKeys::chunk);
  const auto states = static_cast<Index>(count_states(*plan.recurrence, chunks));
  const double piece = as_double(RecurrentKeys::chunk) *
                       as_double(RecurrentKeys::chunk + (1 + states) * padded_width(d));
  return float_size * (as_double(std::min(together, chunks)) * piece +
                       as_double(states * d) * as_double(padded_width(dv)));
}

}  // namespace fovea
