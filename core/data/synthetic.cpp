#include "data/synthetic.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <system_error>
#include <thread>
#include <vector>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/memory.h"
#include "data/random.h"
#include "data/row_length.h"
#include "data/stop.h"
#include "data/text.h"

namespace fovea {
namespace {

struct Spec {
  std::string name;
  Index n = 1024, d = 64, dv = 64, heads = 1;
  std::uint64_t seed = 0;
  std::stop_token stop = {};
};

struct Qkv {
  Matrix q, k, v;
};

/// Rows are drawn in chunks with a stream each, so that threads share the work and the numbers do
/// not depend on how many threads there are.
constexpr Index chunk_rows = 1024;

void for_each_chunk(Index rows, const std::stop_token& stop,
                    const std::function<void(Index chunk, IndexRange rows)>& body) {
  const Index chunks = (rows + chunk_rows - 1) / chunk_rows;
  const Index threads =
      std::clamp<Index>(static_cast<Index>(std::thread::hardware_concurrency()), 1, chunks);
  std::atomic<Index> next = 0;
  const auto work = [&] {
    for (Index c = next++; c < chunks && !stop.stop_requested(); c = next++)
      body(c, {c * chunk_rows, std::min(rows, (c + 1) * chunk_rows)});
  };
  {
    std::vector<std::jthread> others;
    try {
      for (Index t = 1; t < threads; ++t) others.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads can be started: those that run do all the work.
    }
    work();
  }
  check_stop(stop);
}

Random stream(const Spec& spec, DrawPurpose purpose, Index head, Index chunk = 0) {
  return Random(spec.seed, stream_of(purpose, head * (most_tokens / chunk_rows + 1) + chunk));
}

/// Box-Muller in float that uses both of its numbers: several times as fast as Random::normal.
void fill_normal(Random& random, float* out, Index count) {
  for (Index i = 0; i < count; i += 2) {
    const auto above_zero = static_cast<float>((static_cast<double>(random.bits()) + 1) * 0x1p-32);
    const float radius = std::sqrt(-2.0f * std::log(above_zero));
    const float angle =
        2.0f * std::numbers::pi_v<float> * static_cast<float>(random.bits()) * 0x1p-32f;
    out[i] = radius * std::cos(angle);
    if (i + 1 < count) out[i + 1] = radius * std::sin(angle);
  }
}

Matrix normal_matrix(const Spec& spec, DrawPurpose purpose, Index head, Index rows, Index cols) {
  Matrix out(rows, cols);
  for_each_chunk(rows, spec.stop, [&](Index chunk, IndexRange range) {
    Random random = stream(spec, purpose, head, chunk);
    fill_normal(random, out.row(range.begin), range.size() * cols);  // rows are contiguous
  });
  return out;
}

/// The length of q and k at which equal vectors have this logit under the scale 1/sqrt(d).
double length_for_logit(double logit, Index d) {
  return std::sqrt(logit * std::sqrt(d));
}

Qkv gaussian(const Spec& s, Index head) {
  return {normal_matrix(s, DrawPurpose::synthetic_q, head, s.n, s.d),
          normal_matrix(s, DrawPurpose::synthetic_k, head, s.n, s.d),
          normal_matrix(s, DrawPurpose::synthetic_v, head, s.n, s.dv)};
}

Qkv clustered(const Spec& s, Index head) {
  const auto kinds = static_cast<Index>(std::llround(std::sqrt(s.n)));
  Matrix centres = normal_matrix(s, DrawPurpose::synthetic_centre, head, kinds, s.d);
  for (Index g = 0; g < kinds; ++g) set_length(centres.row(g), s.d, 1.0);
  const Matrix values = normal_matrix(s, DrawPurpose::synthetic_value, head, kinds, s.dv);
  std::vector<Index> kind(s.n);
  Random order = stream(s, DrawPurpose::synthetic_order, head);
  for (Index& g : kind) g = static_cast<Index>(order.below(kinds));

  const auto length = static_cast<float>(length_for_logit(std::log(kinds) + 3.0, s.d));
  const auto spread = static_cast<float>(0.25 / std::sqrt(s.d));
  Qkv out = gaussian(s, head);
  for_each_row(s.n, s.stop, [&](Index i) {
    const Index g = kind[i];
    for (Index c = 0; c < s.d; ++c) {
      out.q(i, c) = length * (centres(g, c) + spread * out.q(i, c));
      out.k(i, c) = length * (centres(g, c) + spread * out.k(i, c));
    }
    for (Index c = 0; c < s.dv; ++c) out.v(i, c) = values(g, c) + 0.25f * out.v(i, c);
  });
  return out;
}

/// A closed curve of low frequencies through `cols` dimensions, its points `length` from the
/// origin.
Matrix smooth_curve(const Spec& s, DrawPurpose purpose, Index head, Index cols, double length) {
  constexpr Index frequencies = 8;
  const Matrix waves = normal_matrix(s, purpose, head, 2 * frequencies + 1, cols);
  Matrix out(s.n, cols);
  for_each_chunk(s.n, s.stop, [&](Index, IndexRange range) {
    for (Index i = range.begin; i < range.end; ++i) {
      std::copy_n(waves.row(0), cols, out.row(i));
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(s.n);
      for (Index f = 1; f <= frequencies; ++f) {
        const auto cosine = static_cast<float>(std::cos(static_cast<double>(f) * angle));
        const auto sine = static_cast<float>(std::sin(static_cast<double>(f) * angle));
        const float *a = waves.row(2 * f - 1), *b = waves.row(2 * f);
        for (Index c = 0; c < cols; ++c) out(i, c) += cosine * a[c] + sine * b[c];
      }
      set_length(out.row(i), cols, length);
    }
  });
  return out;
}

Qkv smooth(const Spec& s, Index head) {
  Qkv out;
  out.q = smooth_curve(s, DrawPurpose::synthetic_q, head, s.d, length_for_logit(8.0, s.d));
  out.k = out.q;
  out.v = smooth_curve(s, DrawPurpose::synthetic_v, head, s.dv, std::sqrt(s.dv));
  return out;
}

Qkv needle(const Spec& s, Index head) {
  if (s.d < 2)
    throw UsageError("synthetic:needle: d is 1; at least 2 is needed, one to hide the needle");
  std::vector<Index> place(s.n);
  std::iota(place.begin(), place.end(), Index{0});
  Random order = stream(s, DrawPurpose::synthetic_order, head);
  for (std::size_t i = place.size(); i > 1; --i) std::swap(place[i - 1], place[order.below(i)]);

  const double length = length_for_logit(std::log(s.n) + 3.0, s.d);
  Qkv out;
  out.k = normal_matrix(s, DrawPurpose::synthetic_k, head, s.n, s.d);
  out.q = Matrix(s.n, s.d);
  out.v = normal_matrix(s, DrawPurpose::synthetic_v, head, s.n, s.dv);
  for_each_row(s.n, s.stop, [&](Index j) {
    set_length(out.k.row(j), s.d - 1, length);
    out.k(j, s.d - 1) = static_cast<float>(-3.0 * length);
  });
  for_each_row(s.n, s.stop, [&](Index i) {
    std::copy_n(out.k.row(place[i]), s.d - 1, out.q.row(i));
    out.q(i, s.d - 1) = static_cast<float>(3.0 * length);
  });
  return out;
}

Qkv golden(const Spec&, Index) {
  auto a = [](Index i) { return static_cast<float>((3 * i) % 5 - 2); };
  auto b = [](Index i) { return static_cast<float>((2 * i + 1) % 7 - 3); };
  Qkv out{Matrix(8, 2), Matrix(8, 2), Matrix(8, 2)};
  for (Index i = 0; i < 8; ++i) {
    out.q(i, 0) = a(i) / 2, out.q(i, 1) = b(i) / 2;
    out.k(i, 0) = b(i) / 2, out.k(i, 1) = a(7 - i) / 2;
    out.v(i, 0) = static_cast<float>(i), out.v(i, 1) = i % 2 == 0 ? 1.0f : -1.0f;
  }
  return out;
}

Matrix hmatrix(const Spec& s) {
  Matrix out(s.n, s.n);
  for_each_row(s.n, s.stop, [&](Index i) {
    for (Index j = 0; j < s.n; ++j) {
      const auto distance = static_cast<double>(i - j);
      out(i, j) = static_cast<float>(std::exp(2 * std::exp(-distance * distance) - 1));
    }
  });
  return out;
}

struct Recipe {
  std::string_view name, content;
  Qkv (*make)(const Spec&, Index head);  // none: an attention matrix
  Index n, most_n;
  std::vector<std::string_view> keys;
};

const std::vector<Recipe>& recipes() {
  static const std::vector<std::string_view> all = {"n", "d", "dv", "heads", "seed"};
  static const std::vector<Recipe> table = {
      {"hmatrix", "exp(S) of Eq. 11-12 of H-Transformer-1D", nullptr, 16, 4096, {"n"}},
      {"gaussian", "independent normal numbers", gaussian, 1024, most_tokens, all},
      {"clusters", "tokens of a few kinds in random order", clustered, 1024, most_tokens, all},
      {"smooth", "points along a smooth curve", smooth, 1024, most_tokens, all},
      {"needle", "one large entry a row at a random place", needle, 1024, most_tokens, all},
      {"golden", "the 8 x 2 example of the variants reference", golden, 8, 8, {}},
  };
  return table;
}

const Recipe& recipe_of(const std::string& spec, std::string_view name) {
  for (const Recipe& recipe : recipes())
    if (recipe.name == name) return recipe;
  throw UsageError(spec + ": no synthetic source is named '" + std::string(name) + "'; there are " +
                   join(recipes(), &Recipe::name));
}

/// Splits "n=3&d=2" and checks every key against what the recipe knows.
std::map<std::string, std::uint64_t> numbers_of(const std::string& spec, std::string_view query,
                                                const Recipe& recipe) {
  std::map<std::string, std::uint64_t> numbers;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string key(pair.substr(0, equals));
    const std::string_view text = pair.substr(std::min(equals + 1, pair.size()));
    if (std::find(recipe.keys.begin(), recipe.keys.end(), key) == recipe.keys.end())
      throw UsageError(spec + ": '" + key + "' is not a parameter of " + std::string(recipe.name) +
                       (recipe.keys.empty() ? "; it has none" : "; it has " + join(recipe.keys)));
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      throw UsageError(spec + ": " + key + " is '" + std::string(text) +
                       "'; expected a whole number of at least 0");
    if (!numbers.emplace(key, value).second)
      throw UsageError(spec + ": " + key + " is given twice");
  }
  return numbers;
}

Spec parse(const std::string& spec, std::string_view query, const Recipe& recipe) {
  const auto numbers = numbers_of(spec, query, recipe);
  auto number = [&](const std::string& key, Index standard, Index most) {
    const auto found = numbers.find(key);
    if (found == numbers.end()) return standard;
    if (found->second < 1 || found->second > static_cast<std::uint64_t>(most))
      throw UsageError(spec + ": " + key + " is " + std::to_string(found->second) +
                       "; expected 1 to " + std::to_string(most));
    return static_cast<Index>(found->second);
  };
  Spec out;
  out.name = recipe.name;
  out.n = number("n", recipe.n, recipe.most_n);
  out.d = number("d", 64, 1024);
  out.dv = number("dv", out.d, 1024);
  out.heads = number("heads", 1, 256);
  if (const auto seed = numbers.find("seed"); seed != numbers.end()) out.seed = seed->second;
  constexpr Index most_bytes = Index{4} << 30;
  if (const Index bytes = out.heads * out.n * (2 * out.d + out.dv) * 4; bytes > most_bytes)
    throw UsageError(spec + ": would fill " + std::to_string(bytes >> 30) +
                     " GiB; at most 4 GiB are made, with fewer heads or a smaller n");
  return out;
}

}  // namespace

Source make_synthetic(const std::string& spec, const std::stop_token& stop) {
  std::string_view rest = spec;
  if (rest.starts_with(synthetic_prefix)) rest.remove_prefix(synthetic_prefix.size());
  const std::string_view name = rest.substr(0, rest.find('?'));
  const Recipe& recipe = recipe_of(spec, name);
  Spec s = parse(spec, rest.substr(std::min(name.size() + 1, rest.size())), recipe);
  s.stop = stop;

  const double numbers = recipe.make ? static_cast<double>(s.heads * s.n * (2 * s.d + s.dv))
                                     : static_cast<double>(s.n * s.n);
  require_memory(2 * sizeof(float) * numbers, spec,
                 fewer_tokens);  // as matrices, and as tensors of all heads

  Source source;
  source.name = s.name;
  source.path = rest.size() == spec.size() ? std::string(synthetic_prefix) + spec : spec;
  source.kind = "synthetic";
  source.content = "synthetic: " + std::string(recipe.content);
  source.layout = recipe.make ? "[H,n,d]" : "[H,n,n]";
  Layer& layer = source.layers.emplace_back();
  std::vector<Matrix> q, k, v;
  if (!recipe.make) {
    q.push_back(hmatrix(s));
    layer.attention = make_head_tensor(std::move(q));
    return source;
  }
  for (Index head = 0; head < s.heads; ++head) {
    Qkv qkv = recipe.make(s, head);
    q.push_back(std::move(qkv.q));
    k.push_back(std::move(qkv.k));
    v.push_back(std::move(qkv.v));
  }
  check_stop(stop);
  layer.q = make_head_tensor(std::move(q));
  check_stop(stop);
  layer.k = make_head_tensor(std::move(k));
  check_stop(stop);
  layer.v = make_head_tensor(std::move(v));
  if (s.name == "golden")
    source.scale = 1.0 / std::sqrt(2.0);  // also the default: it is part of the example
  return source;
}

}  // namespace fovea
