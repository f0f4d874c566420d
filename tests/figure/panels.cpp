#include "figure/panels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "data/random.h"
#include "views/views.h"

namespace fovea::example {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

Panel panel(View view, const std::string& title, const std::string& subtitle) {
  Panel made;
  made.view = view;
  made.title = title;
  made.subtitle = subtitle;
  return made;
}

std::pair<double, double> range_of(const Matrix& m) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (Index i = 0; i < m.rows(); ++i)
    for (Index j = 0; j < m.cols(); ++j)
      if (std::isfinite(m(i, j))) {
        low = std::min(low, m(i, j));
        high = std::max(high, m(i, j));
      }
  return {low, high};
}

}  // namespace

QGuiApplication& application() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  static int count = 1;
  static char name[] = "test_figure";
  static char* arguments[] = {name, nullptr};
  static QGuiApplication one(count, arguments);
  return one;
}

Matrix attention(Index n, std::uint64_t seed) {
  Random random(seed, 1);
  const Index clusters = 9;
  std::vector<int> topic(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i)
    topic[static_cast<std::size_t>(i)] = i > 0 && random.uniform() < 0.85
                                             ? topic[static_cast<std::size_t>(i - 1)]
                                             : static_cast<int>(random.below(clusters));
  std::vector<double> pull(static_cast<std::size_t>(n));
  for (double& p : pull) p = 1.2 * random.normal();
  Matrix weights(n, n);
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    for (Index j = 0; j < n; ++j) {
      const bool same = topic[static_cast<std::size_t>(i)] == topic[static_cast<std::size_t>(j)];
      const double near = -std::abs(static_cast<double>(i - j)) / (0.03 * static_cast<double>(n));
      const double logit = (same ? 3.5 : 0) + pull[static_cast<std::size_t>(j)] +
                           4 * std::exp(near) + 0.6 * random.normal();
      weights(i, j) = static_cast<float>(std::exp(logit));
      sum += weights(i, j);
    }
    for (Index j = 0; j < n; ++j) weights(i, j) /= static_cast<float>(sum);
  }
  return weights;
}

Panel heatmap(Index n, std::uint64_t seed, const std::string& title) {
  Panel made = panel(find_view("heatmap"), title, "output error 0.275");
  Raster raster;
  raster.values = attention(n, 7);
  if (seed != 7) {  // an approximation drops what is far and faint
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j)
        if ((i * 13 / n + j * 7 / n + static_cast<Index>(seed)) % 3 == 0 &&
            std::abs(i - j) > n / 16)
          raster.values(i, j) = 0;
  }
  raster.rows = raster.cols = {0, n};
  raster.norm = Norm::log;
  raster.low = 0;
  raster.high = range_of(raster.values).second;
  raster.quantity = "attention weight P";
  made.body = std::move(raster);
  return made;
}

Panel error_map(Index n, std::uint64_t seed, const std::string& title) {
  Panel made = panel(find_view("error"), title, "output error 0.275");
  Raster raster;
  raster.values = attention(n, 7);
  const Panel other = heatmap(n, seed, title);
  const Matrix& approximate = std::get<Raster>(other.body).values;
  for (Index i = 0; i < n; ++i) {
    double kept = 0;
    for (Index j = 0; j < n; ++j) kept += approximate(i, j);
    for (Index j = 0; j < n; ++j)
      raster.values(i, j) = approximate(i, j) / static_cast<float>(kept) - raster.values(i, j);
  }
  raster.rows = raster.cols = {0, n};
  raster.palette = Palette::diverging;
  raster.low = -0.02;  // most errors are small: the few larger ones are out of range
  raster.high = 0.02;
  raster.quantity = "error P̃ − P";
  made.body = std::move(raster);
  return made;
}

Panel mask(Index n, const std::string& title) {
  Panel made = panel(find_view("mask"), title, "stride 32, summary 4");
  made.caption = "density 0.23; 8 full, 56 partial tiles of 64";
  const Index blocks = std::max<Index>(1, n / 16);
  Raster raster;
  raster.values = Matrix(blocks, blocks);
  for (Index i = 0; i < blocks; ++i)
    for (Index j = 0; j < blocks; ++j)
      raster.values(i, j) = j > i ? kMasked : i / 2 == j / 2 ? 2.f : j % 4 == 3 ? 1.f : 0.f;
  raster.rows = raster.cols = {0, n};
  raster.palette = Palette::categories;
  raster.categories = {"empty", "partial", "full"};
  raster.high = 2;
  raster.quantity = "16 × 16 tiles";
  made.body = std::move(raster);
  return made;
}

Panel levels(Index n, const std::string& title) {
  Panel made = panel(find_view("level"), title, "banded, block 16");
  const Index side = std::max<Index>(1, n / 8);
  Raster raster;
  raster.values = Matrix(side, side);
  for (Index i = 0; i < side; ++i)
    for (Index j = 0; j < side; ++j) {
      Index a = i / 2, b = j / 2;
      int level = 0;
      for (; std::abs(a - b) > 1; ++level) {
        a /= 2;
        b /= 2;
      }
      raster.values(i, j) = static_cast<float>(level);
    }
  raster.rows = raster.cols = {0, n};
  raster.palette = Palette::ranks;
  raster.high = range_of(raster.values).second;
  raster.quantity = "level that owns each pair";
  made.body = std::move(raster);
  return made;
}

Panel reach(Index n, const std::string& title) {
  Panel made = panel(find_view("reach"), title, "window 6, stride 16");
  made.caption = "pairs reached in one layer: 22 %, in two: 57 %";
  const auto attends = [](Index i, Index j) { return j <= i && (i - j < 6 || (i - j) % 16 == 0); };
  Raster raster;
  raster.values = Matrix(n, n, kMasked);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      Index keys = 0;
      for (Index k = j; k <= i; ++k) keys += attends(i, k) && attends(k, j);
      raster.values(i, j) = static_cast<float>(keys);
    }
  raster.rows = raster.cols = {0, n};
  raster.norm = Norm::log;
  raster.low = 0.5;
  raster.high = range_of(raster.values).second;
  raster.quantity = "keys k with i → k → j";
  raster.under_name = "not reached in two layers";
  made.body = std::move(raster);
  return made;
}

Panel selection(Index n, const std::string& title) {
  Panel made = panel(find_view("selection"), title, "block 8, blocks 2");
  made.caption = "37 % of available pairs picked · 49 % of all pairs masked";
  const Index side = n / 2;
  Raster raster;
  raster.values = Matrix(side, side, kMasked);
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c <= r; ++c)
      raster.values(r, c) = r / 4 == c / 4 ? 1 : static_cast<float>((r + c / 4 * 3) % 5) / 4;
  raster.rows = raster.cols = {0, n};
  raster.palette = Palette::shares;
  raster.low = 2e-4;
  raster.pooled = Pool::Kind::mean;
  raster.categories = {"available, not picked", "a quarter picked", "picked"};
  raster.quantity = "picked share of the available pairs";
  for (Index i = 0; i < n; ++i) raster.row_values.push_back(static_cast<float>(i % 16) / 16);
  raster.row_quantity = "recall of the query's top keys";
  made.body = std::move(raster);
  return made;
}

Panel tile_errors(Index n, const std::string& title) {
  Panel made = panel(find_view("tiles"), title, "0.21 relative output error");
  made.caption =
      "largest error 0.6 in queries 24 to 31, keys 8 to 15 · leaving it out explains 100 % of the "
      "error of its queries · tiles of 8 queries and 8 keys";
  Raster raster;
  raster.values = Matrix(n, n, kMasked);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      const bool unexplained = i / 8 == 6;
      raster.values(i, j) = i / 8 == 3 && j / 8 == 1 ? 0.6f : unexplained ? 0.02f : 1e-7f;
    }
  raster.rows = raster.cols = {0, n};
  raster.norm = Norm::log;
  raster.pooled = Pool::Kind::max;
  raster.low = 1e-7;
  raster.high = 0.6;
  raster.quantity = "error of z by tile / ‖z‖";
  for (Index i = 0; i < n; ++i)
    raster.row_values.push_back(i / 8 == 3   ? 0.1f * static_cast<float>(i % 5)
                                : i / 8 == 6 ? 0.02f
                                             : 0);
  raster.row_top = 0.4;
  raster.row_quantity = "output error |z̃ − z|";
  made.body = std::move(raster);
  return made;
}

Panel ranks(Index n, Index leaf, const std::string& title) {
  Panel made = panel(find_view("rank"), title, "softmax, streaming");
  made.caption = "stored 41 % of the entries, 2.4 × smaller";
  BlockMap body;
  body.map.lengths = {n, n};
  Random random(5, 2);
  auto add = [&](IndexRange rows, IndexRange cols, int level) {
    RankBlock block{rows, cols, level, 0, {}};
    const double full = static_cast<double>(std::min(rows.size(), cols.size()));
    block.rank = static_cast<int>(
        rows == cols ? full
                     : std::ceil(full * std::exp(-0.35 * level) * (0.7 + 0.3 * random.uniform())));
    body.map.blocks.push_back(block);
  };
  auto split = [&](auto&& self, IndexRange range, int level) -> void {
    if (range.size() <= leaf) return add(range, range, 0);
    const Index middle = (range.begin + range.end) / 2;
    const IndexRange first{range.begin, middle}, second{middle, range.end};
    add(first, second, level);
    add(second, first, level);
    self(self, first, level - 1);
    self(self, second, level - 1);
  };
  split(split, {0, n},
        static_cast<int>(std::log2(static_cast<double>(n) / static_cast<double>(leaf))));
  body.quantity = "numerical rank of P at ε = 0.01";
  made.body = std::move(body);
  return made;
}

Panel leaves(int height, const std::string& title) {
  Panel made =
      panel(find_view("tree"), title, "height " + std::to_string(height) + ", median tree");
  LeafSizes body;
  body.kind = "leaf";
  body.branching.assign(static_cast<std::size_t>(height), 2);
  Random random(11, 3);
  for (int leaf = 0; leaf < (1 << height); ++leaf) {
    body.queries.push_back(8 + static_cast<Index>(random.below(18)));
    body.keys.push_back(static_cast<Index>(24 * random.uniform() * random.uniform() * 2));
  }
  body.figures = {{"chi", "Collision fraction χ", 0.062, "", false},
                  {"effective_leaves", "Effective leaves", 13.8, "", false},
                  {"gini", "Gini", 0.31, "", false},
                  {"queries_without_keys", "Queries without keys", 0, "", false}};
  made.body = std::move(body);
  return made;
}

Panel buckets(int count, const std::string& title) {
  Panel made = panel(find_view("tree"), title, "block 32, samples 32");
  LeafSizes body;
  body.kind = "bucket";
  Random random(12, 3);
  for (int b = 0; b < count; ++b) {
    body.queries.push_back(static_cast<Index>(20 + random.below(30)));
    body.keys.push_back(static_cast<Index>(20 + random.below(30)));
  }
  made.body = std::move(body);
  return made;
}

Panel row(Index n, Index query, const std::string& title) {
  Panel made = panel(find_view("row"), title, "output error 0.275");
  RowCurve body;
  body.query = query;
  body.keys = {0, n};
  const Matrix weights = attention(n, 7);
  Random random(3, 4);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (Index j = 0; j < n; ++j) {
    body.exact.push_back(weights(query, j));
    body.approximate.push_back(random.uniform() < 0.3
                                   ? 0.f
                                   : weights(query, j) *
                                         static_cast<float>(0.7 + 0.6 * random.uniform()));
  }
  std::sort(order.begin(), order.end(),
            [&](Index a, Index b) { return weights(query, a) > weights(query, b); });
  for (std::size_t t = 0; t < std::min<std::size_t>(5, order.size()); ++t) {
    body.top_exact.emplace_back(order[t], weights(query, order[t]));
    body.top_approximate.emplace_back(order[t],
                                      body.approximate[static_cast<std::size_t>(order[t])]);
  }
  made.body = std::move(body);
  return made;
}

Panel strip(Index n, const std::string& title) {
  Panel made = panel(find_view("output"), title, "output error 0.275");
  Strip body;
  body.quantity = "|z̃ − z|";
  Random random(9, 5);
  for (Index i = 0; i < n; ++i)
    body.values.push_back(static_cast<float>(std::abs(0.02 * random.normal())));
  made.body = std::move(body);
  return made;
}

Panel series(const std::string& title) {
  using Point = SeriesPlot::Point;
  SeriesPlot plot{
      .x_label = "n, tokens", .lengths = {256, 512, 1024}, .unit = SeriesPlot::Unit::milliseconds};
  plot.series.push_back(
      {"Exact: the reference", {{256, 1, 0.9, 1.6}, {512, 4, 3.9, 4.2}, {1024, 16, 15, 17}}, {}});
  plot.series.push_back({"Fixed: faster from n ≈ 400",
                         {Point{.n = 256, .value = 2, .low = 1.9, .high = 2.2, .hollow = true},
                          Point{.n = 512, .value = 3, .low = 3, .high = 3},
                          Point{.n = 1024, .value = 5, .low = 5, .high = 5, .weak = true}},
                         SeriesPlot::Mark{400, 2.6, "400"}});
  plot.series[1].points[1].ringed = true;
  return {.title = title, .body = std::move(plot)};
}

Panel picture(Index side, const std::string& title) {
  Panel made = panel(find_view("output"), title, "output error 0.275");
  OutputPicture body;
  body.rows = side;
  body.cols = side + side / 3;
  for (Index r = 0; r < body.rows; ++r)
    for (Index c = 0; c < body.cols; ++c) {
      const double x = static_cast<double>(c) / static_cast<double>(body.cols);
      const double y = static_cast<double>(r) / static_cast<double>(body.rows);
      body.rgb.insert(body.rgb.end(), {static_cast<float>(x), static_cast<float>(y),
                                       static_cast<float>(0.5 + 0.5 * std::sin(12 * x * y))});
    }
  made.body = std::move(body);
  return made;
}

Panel table(const std::string& title) {
  Panel made = panel(find_view("cost"), title, "block 32, samples 32");
  made.body = FigureTable{{{"multiply-adds", "4.2 M"},
                           {"of exact", "0.25"},
                           {"bytes", "1.3 MiB"},
                           {"pairs evaluated", "16 384"}}};
  return made;
}

Panel message(const std::string& title) {
  Panel made = panel(find_view("tree"), title, "softmax, streaming");
  made.body = Message{"Exact attention has no tree: every query sees every key."};
  return made;
}

Panel curves(const std::string& title) {
  Panel made = panel(find_view("tree"), title, "");
  CurvePlot plot{.x_label = "steps of learning", .y_label = "leaves"};
  CurvePlot::Curve learned{.name = "learned from", .colour = 1},
      held{.name = "held out", .colour = 2, .dashed = true};
  for (int step = 0; step <= 40; ++step) {
    learned.points.emplace_back(step, 16 - 6 * (1 - std::exp(-step / 8.0)));
    held.points.emplace_back(step, step == 20 ? NAN : 15 - 4 * (1 - std::exp(-step / 8.0)));
  }
  plot.curves = {learned, held};
  for (const double shade : {0., 0.5, 1.})
    plot.curves.push_back(
        {.points = {{0, 2 + 4 * shade}, {40, 1 + 4 * shade}}, .colour = 3, .shade = shade});
  plot.levels = {{16, "all leaves"}, {8, "a half"}};
  made.body = std::move(plot);
  return made;
}

std::vector<Panel> every_kind(Index n) {
  return {heatmap(n, 7, "Exact"),         error_map(n, 2, "HyperAttention"),
          mask(n, "Fixed factorized"),    levels(n, "H-Transformer-1D"),
          ranks(n, 16, "Exact"),          leaves(4, "TF tree attention"),
          buckets(200, "HyperAttention"), row(n, n / 20, "HyperAttention"),
          strip(n, "HyperAttention"),     picture(12, "HyperAttention"),
          table("HyperAttention"),        message("Exact"),
          series("Time of apply"),        curves("Effective leaves")};
}

Figure alone(const Panel& panel, double width) {
  Figure figure{.rows = {{panel}}};
  figure.style.width = width;
  return figure;
}

Figure paper(double width, Index n) {
  Figure figure;
  figure.title = "all-MiniLM-L6-v2, layer 3, head 7";
  figure.footer = "minilm-l6.safetensors, layer 3, head 7; n = 384, d = 32, scale 1/√d; CPU, f32";
  figure.style.width = width;
  const std::vector<std::string> names = {"Exact", "H-Transformer-1D", "TF tree attention",
                                          "HyperAttention"};
  figure.rows.resize(3);
  for (std::size_t v = 0; v < names.size(); ++v) {
    figure.rows[0].push_back(heatmap(n, v == 0 ? 7 : v, names[v]));
    figure.rows[1].push_back(v == 0 ? row(n, 20, names[v]) : error_map(n, v, names[v]));
  }
  figure.rows[2] = {ranks(n, 24, names[0]), levels(n, names[1]), leaves(4, names[2]),
                    mask(n, names[3])};
  for (auto& views : figure.rows)
    for (Panel& one : views)
      one.subtitle = one.title == "Exact" ? "softmax, reference" : "output error 0.275";
  return figure;
}

}  // namespace fovea::example
