// Sources whose tokens are put in another order.
#include "input/ordered_source.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "data/address.h"
#include "data/error.h"
#include "data/random.h"
#include "harness.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "session_fields.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index n = 22, d = 3, heads = 2;
/// A text of 4 and three frames of 2 x 3 tokens.
const std::string order = "hilbert,height=2,width=3,text=4";

std::vector<std::int32_t> tokens() {
  return tokens_in_order(order_of(parse_order(order, defaults(order_schema()))), n);
}

OutTensor random_tensor(const std::string& name, std::vector<Index> shape) {
  Random random(std::hash<std::string>()(name), 0);
  const Index size =
      std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<Index>());
  std::vector<float> values;
  for (Index i = 0; i < size; ++i) values.push_back(static_cast<float>(random.normal()));
  return {name, std::move(shape), std::move(values)};
}

/// q, k and v of two heads, and more.
std::string write(const TemporaryDirectory& folder, std::vector<OutTensor> more,
                  std::map<std::string, std::string> metadata = {}) {
  std::vector<OutTensor> tensors = std::move(more);
  for (const char* name : {"q", "k", "v"}) tensors.push_back(random_tensor(name, {heads, n, d}));
  write_safetensors(folder / "heads.safetensors", tensors, metadata);
  return folder / "heads.safetensors";
}

std::string ordered(const std::string& source) {
  return std::string(ordered_prefix) + order + ":" + source;
}

}  // namespace

TEST_CASE("an ordered source has the rows, pairs and results of the source, each in its place") {
  const TemporaryDirectory folder;
  std::vector<std::uint8_t> mask;
  for (Index i = 0; i < n * n; ++i) mask.push_back(i % 5 != 0 || i % n == i / n ? 1 : 0);
  const std::string path = write(folder,
                                 {random_tensor("z", {heads, n, d}),
                                  random_tensor("p", {heads, n, n}),
                                  random_tensor("lse", {heads, n}),
                                  random_tensor("bias", {heads, n, n}),
                                  {"mask", {n, n}, mask}},
                                 {{"causal", "false"}});
  const Source plain = open_source(path), other = open_source(ordered(path));
  const std::vector<std::int32_t> at = tokens();
  CHECK(at != [] {
    std::vector<std::int32_t> same(n);
    std::iota(same.begin(), same.end(), 0);
    return same;
  }());
  for (Index head = 0; head < heads; ++head) {
    const Problem a = problem_of(plain, {.head = head}), b = problem_of(other, {.head = head});
    REQUIRE((a.mask && b.mask && a.rule && b.rule));
    const ImportedResult ours = read_imported(a.imported->all.front(), head),
                         theirs = read_imported(b.imported->all.front(), head);
    for (Index i = 0; i < n; ++i) {
      const Index from = at[static_cast<std::size_t>(i)];
      for (Index c = 0; c < d; ++c) {
        CHECK(b.q(i, c) == a.q(from, c));
        CHECK(b.k(i, c) == a.k(from, c));
        CHECK(b.v(i, c) == a.v(from, c));
        CHECK(theirs.z(i, c) == ours.z(from, c));
      }
      CHECK(theirs.lse[static_cast<std::size_t>(i)] == ours.lse[static_cast<std::size_t>(from)]);
      for (Index j = 0; j < n; ++j) {
        const Index key = at[static_cast<std::size_t>(j)];
        CHECK(b.admits(i, j) == a.admits(from, key));
        CHECK(b.logit(i, j) == a.logit(from, key));
        CHECK(b.rule->bias_of(i, j, n) == a.rule->bias_of(from, key, n));
        CHECK(theirs.p(i, j) == ours.p(from, key));
      }
    }
  }
  // Layers of one length share the names of the source.
  for (const Layer& layer : other.layers) CHECK_FALSE(layer.sequence);
  CHECK(other.path == ordered(path));
  CHECK(other.name == plain.name + ", along a Hilbert curve");
  CHECK(other.order == "tokens along a Hilbert curve through 3 frames of 2 × 3 tokens");
  // Positions are named by their places.
  CHECK(other.sequence.label(0) == "0");
  CHECK(other.sequence.label(4) == "frame 0 (0, 0)");
  const Index fifth = at[5] - 4;
  CHECK(other.sequence.label(5) == "frame " + std::to_string(fifth / 6) + " (" +
                                       std::to_string(fifth % 6 / 3) + ", " +
                                       std::to_string(fifth % 3) + ")");
}

TEST_CASE("an ordered source keeps what belongs to tokens with them: documents and names") {
  const TemporaryDirectory folder;
  std::vector<std::int32_t> documents;
  std::string names;
  for (int i = 0; i < n; ++i) {
    documents.push_back(i / 7);
    names += (i > 0 ? ", \"" : "[\"") + std::string(1, static_cast<char>('a' + i)) + "\"";
  }
  const std::string path =
      write(folder, {{"segments", {n}, documents}}, {{"tokens", names + "]"}, {"causal", "false"}});
  const Source plain = open_source(path), other = open_source(ordered(path));
  REQUIRE(plain.layers.front().conditions.documents.size() == static_cast<std::size_t>(n));
  REQUIRE(plain.sequence.tokens.size() == static_cast<std::size_t>(n));
  const std::vector<std::int32_t> at = tokens();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const auto from = static_cast<std::size_t>(at[i]);
    CHECK(other.sequence.tokens[i] == plain.sequence.tokens[from]);
    CHECK(other.layers.front().conditions.documents[i] ==
          plain.layers.front().conditions.documents[from]);
  }
}

TEST_CASE("heads that depend on the order of tokens are refused, and kept pairs left out") {
  const TemporaryDirectory folder;
  const auto refusal = [&](std::vector<OutTensor> more, std::map<std::string, std::string> said) {
    const std::string path = write(folder, std::move(more), std::move(said));
    return message_of<InputError>([&] { open_source(ordered(path)); });
  };
  CHECK(refusal({}, {{"causal", "true"}}).find("has a causal mask; expected") != std::string::npos);
  CHECK(refusal({}, {{"causal", "false"}, {"window", "5"}}).find("a sliding window") !=
        std::string::npos);
  CHECK(refusal({random_tensor("alibi", {heads})}, {{"causal", "false"}}).find("ALiBi") !=
        std::string::npos);
  const Source kept = open_source(
      ordered(write(folder,
                    {{"kept", {heads, n, n}, std::vector<std::uint8_t>(heads * n * n, 1)},
                     random_tensor("z", {heads, n, d})},
                    {{"causal", "false"}})));
  CHECK(kept.notes.back().find("pairs that the file keeps are left out") == 0);
  REQUIRE(kept.layers.front().imported.size() == 1);
  CHECK_FALSE(kept.layers.front().imported.front().kept.present());
  for (const char* source : {"ordered:", "ordered:hilbert", "ordered:hilbert:"}) {
    CAPTURE(source);
    CHECK(message_of<UsageError>([&] { open_source(source); }).find("ordered:ORDER:SOURCE") !=
          std::string::npos);
  }
  CHECK(message_of<UsageError>([&] {
          open_source(ordered(ordered("x.npz")));
        }).find("expected one order") != std::string::npos);
  CHECK(message_of<UsageError>([&] { open_source(ordered("live:run")); }).find("a capture of it") !=
        std::string::npos);
  CHECK(message_of<UsageError>([&] {
          open_source("ordered:peano:" + folder / "heads.safetensors");
        }).find("peano") != std::string::npos);
}

TEST_CASE("a mask in the order of the file, and a causal mask by hand, are refused") {
  const TemporaryDirectory folder;
  const std::string path = write(folder, {});
  OpenOptions options;
  options.kept = path;
  CHECK(message_of<UsageError>([&] {
          open_source(ordered(path), options);
        }).find("in the order of the file") != std::string::npos);
  const Source source = open_source(ordered(path));
  CHECK_NOTHROW(problem_of(source, {}));
  for (const HeadConditions& conditions :
       {HeadConditions{.causal = true}, HeadConditions{.window = 5}})
    CHECK(message_of<InputError>([&] {
            problem_of(source, {.conditions = conditions});
          }).find("in another order") != std::string::npos);
  CHECK_NOTHROW(problem_of(open_source(path), {.conditions = {.causal = true}}));
}

TEST_CASE("layers of other lengths are put in the order of a file of their own") {
  const TemporaryDirectory folder, alone;
  std::vector<OutTensor> both, one;
  for (const char* name : {"q", "k", "v"}) {
    both.push_back(random_tensor(std::string("layer0.") + name, {1, 16, d}));
    both.push_back(random_tensor(std::string("layer1.") + name, {1, 49, d}));
    one.push_back({name, {1, 49, d}, both.back().values});
  }
  write_safetensors(folder / "both.safetensors", both, {{"causal", "false"}});
  write_safetensors(alone / "one.safetensors", one, {{"causal", "false"}});
  const Source many = open_source("ordered:hilbert:" + (folder / "both.safetensors")),
               single = open_source("ordered:hilbert:" + (alone / "one.safetensors"));
  const Problem a = problem_of(many, {.layer = 1}), b = problem_of(single, {});
  for (Index i = 0; i < 49; ++i) {
    for (Index c = 0; c < d; ++c) CHECK(a.q(i, c) == b.q(i, c));
    CHECK(sequence_of(many, 1).label(i) == sequence_of(single, 0).label(i));
  }
  CHECK(sequence_of(many, 0).label(15) != sequence_of(many, 1).label(15));
}

TEST_CASE("a session with an order is guarded as one without, and so is a head that it keeps") {
  const TemporaryDirectory folder, elsewhere;
  const std::string secret = elsewhere.write("secret.npz", "the words of somebody"),
                    reads = "model:bundled:text?input=" + secret;
  for (const std::string& source : {reads, "ordered:hilbert:" + reads}) {
    CAPTURE(source);
    const SessionFile file{
        .session = standard_session(source, n), .content_hash = {}, .layout = {}};
    CHECK(content_elsewhere(folder / "s.fovea.json", file).unknown == secret);
  }
  // The head that is kept is of the file whose hash is stated.
  const std::string content = "content:" + elsewhere.write("words.txt", "one two three");
  SessionFile file{.session = standard_session("ordered:hilbert:" + content, n),
                   .content_hash = std::string(64, 'a'),
                   .layout = {}};
  file.session.columns.front().held = HeldHead{.source = content, .layer = 0, .head = 0};
  const ContentElsewhere found = content_elsewhere(folder / "s.fovea.json", file);
  CHECK(found.unknown.empty());
  CHECK(found.needs_hash);
}

TEST_CASE("the patches of a picture in another order keep their places in it") {
  const std::string cat = std::string(FOVEA_ASSETS) + "/image/cat.jpg";
  const std::string content = std::string(content_prefix) + cat;
  const OpenOptions options{.patch = 32, .max_side = 256};
  const Source plain = open_source(content, options),
               other = open_source("ordered:hilbert:" + content, options);
  REQUIRE(plain.sequence.grid);
  REQUIRE(other.sequence.grid);
  const ImageGrid &a = *plain.sequence.grid, &b = *other.sequence.grid;
  CHECK(a.rows == b.rows);
  CHECK(other.picture);
  const Problem p = problem_of(plain, {}), q = problem_of(other, {});
  CHECK_FALSE(p.reordered);
  CHECK(q.reordered);
  bool moved = false;
  for (Index row = 0; row < a.rows; ++row)
    for (Index col = 0; col < a.cols; ++col) {
      const Index from = a.token_of(row, col), to = b.token_of(row, col);
      moved |= from != to;
      CHECK(b.row_of(to) == row);
      CHECK(b.col_of(to) == col);
      CHECK(b.token_at((double(row) + 0.5) / double(a.rows),
                       (double(col) + 0.5) / double(a.cols)) == to);
      CHECK(other.sequence.label(to) == plain.sequence.label(from));
      for (Index c = 0; c < p.d(); ++c) CHECK(q.k(to, c) == p.k(from, c));
    }
  CHECK(moved);
  // The grid of the picture is the standard one.
  CHECK(order_text(standard_order(plain), standard_order(other)) == "hilbert");
}

TEST_CASE("an address with an order is an address of its source, from any directory") {
  CHECK(unwrap("ordered:tiles,width=3:a:b.npz").prefix == "ordered:tiles,width=3:");
  CHECK(unwrap("ordered:tiles,width=3:a:b.npz").inner == "a:b.npz");
  CHECK(unwrap("ordered:tiles").inner.empty());
  CHECK(unwrap("heads.npz").prefix.empty());
  CHECK(innermost("ordered:hilbert:content:cat.jpg") == "cat.jpg");
  CHECK(is_of_a_program("ordered:hilbert:live:run"));
  const TemporaryDirectory folder;
  const std::string path = write(folder, {}, {{"causal", "false"}});
  CHECK(missing_of(ordered(path)).empty());
  CHECK(missing_of(ordered(path + "x")) == path + "x");
  CHECK(with_found(ordered("lost.npz"), "lost.npz", path) == ordered(path));
  CHECK(short_name(ordered(path)) == "heads.safetensors");
  CHECK(address_of(ordered(path)) == ordered(path));
  CHECK(readable_source(ordered(path)) == ordered(path));
  const SessionFile file{
      .session = standard_session(ordered(path), n), .content_hash = {}, .layout = {}};
  write_session(folder / "s.json", file);
  CHECK(read_session(folder / "s.json").session.source == ordered(path));
  CHECK(files_of(file.session) == std::vector<std::string>{path});
}

TEST_CASE("an address that names no file says so") {
  const auto message = [](const char* source) {
    return message_of<UsageError>([&] { open_source(source); });
  };
  CHECK(message("content:") == "'content:' names no file; expected content:FILE");
  CHECK(message("") == "'' names no file; expected FILE");
  CHECK(message("model:bundled:text?input=").find("names no file as its input") !=
        std::string::npos);
}

TEST_CASE("law: every function over addresses ends, also for those that do not open") {
  const TemporaryDirectory folder;
  const std::string path = write(folder, {}, {{"causal", "false"}});
  std::vector<std::string> inner{"",
                                 ":",
                                 "x",
                                 "lost.npz",
                                 path,
                                 "live:run",
                                 "model:bundled:text",
                                 "synthetic:",
                                 "content:",
                                 "content:" + path};
  std::vector<std::string> sources = inner;
  for (int depth = 0; depth < 3; ++depth) {
    std::vector<std::string> wrapped;
    for (const std::string& source : inner)
      for (const char* prefix : {"ordered:", "ordered:hilbert:", "ordered:peano:", "content:"})
        wrapped.push_back(prefix + source);
    if (depth == 2) wrapped.resize(400);
    sources.insert(sources.end(), wrapped.begin(), wrapped.end());
    inner = std::move(wrapped);
  }
  for (const std::string& source : sources) {
    CAPTURE(source);
    const auto [prefix, rest] = unwrap(source);
    CHECK(std::string(prefix) + std::string(rest) == source);
    if (is_ordered(prefix)) CHECK_FALSE(is_ordered(rest));
    // Nothing here opens the source; each throws, at most, what says that the address is wrong.
    const auto ends = [](auto call) {
      try {
        call();
      } catch (const Error&) {
      }
    };
    ends([&] { missing_of(source); });
    ends([&] { with_found(source, "lost.npz", path); });
    ends([&] { address_of(source); });
    ends([&] { short_name(source); });
    ends([&] { readable_source(source); });
    ends([&] { with_absolute_paths(source); });
    SessionFile file{.session = standard_session(source, n), .content_hash = {}, .layout = {}};
    ends([&] { files_of(file.session); });
    ends([&] { content_elsewhere(folder / "s.json", file); });
    ends([&] {
      write_session(folder / "s.json", file);
      read_session(folder / "s.json");
    });
  }
  for (const std::string& nested : std::initializer_list<std::string>{
           ordered(ordered(path)), "ordered:tiles:" + ordered("content:" + path),
           "content:content:" + path, "content:" + ordered(path)}) {
    CAPTURE(nested);
    CHECK_FALSE(message_of<Error>([&] { open_source(nested); }).empty());
  }
}
