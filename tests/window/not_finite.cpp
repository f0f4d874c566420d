// Results that are not finite in some rows, in the window.
#include <doctest/doctest.h>

#include <QTemporaryDir>
#include <cmath>
#include <limits>

#include "data/source.h"
#include "data/synthetic.h"
#include "drawing/colormap.h"
#include "io/safetensors_writer.h"
#include "views/views.h"
#include "window/harness.h"
#include "window/widgets/weight_picture.h"

namespace fovea::test {
namespace {

constexpr Index broken = 5;  // a row of z

/// 64 tokens in two heads, with an output of another program of which two rows are not finite.
QString file_not_finite(const QTemporaryDir& folder) {
  const Source source = make_synthetic("synthetic:gaussian?n=64&d=8&heads=2");
  const Layer& layer = source.layers[0];
  std::vector<OutTensor> tensors;
  for (const auto& [name, tensor] :
       {std::pair{"q", &layer.q}, std::pair{"k", &layer.k}, std::pair{"v", &layer.v}}) {
    std::vector<float> numbers;
    for (Index h = 0; h < tensor->heads; ++h) {
      const Matrix rows = tensor->read(h);
      numbers.insert(numbers.end(), rows.data(), rows.data() + rows.rows() * rows.cols());
    }
    const std::vector<Index> shape{tensor->heads, tensor->rows, tensor->cols};
    if (tensor == &layer.v) {
      std::vector<float> z = numbers;
      std::fill_n(z.begin() + broken * tensor->cols, tensor->cols, HUGE_VALF);
      std::fill_n(z.begin() + (broken + 1) * tensor->cols, 2,
                  std::numeric_limits<float>::quiet_NaN());
      tensors.push_back({"z", shape, std::move(z)});
      const Index n = tensor->rows;
      std::vector<float> p(std::size_t(tensor->heads * n * n), 1.0f / float(n));
      std::fill_n(p.begin() + broken * n, n, std::numeric_limits<float>::quiet_NaN());
      p[std::size_t((broken + 1) * n)] = HUGE_VALF;
      tensors.push_back({"p", {tensor->heads, n, n}, std::move(p)});
    }
    tensors.push_back({name, shape, std::move(numbers)});
  }
  const QString path = folder.filePath("not_finite.safetensors");
  write_safetensors(path.toStdString(), tensors, {});
  return path;
}

}  // namespace

TEST_CASE("a head of which output rows are not finite is drawn in every view and card") {
  const QTemporaryDir folder;
  Window window{file_not_finite(folder)};
  REQUIRE(window.settle());
  show(window, all_views(), {"imported", "exact", "h1d", "fixed", "tf"});
  for (const Index query : {broken, Index{9}}) {
    window->change({}, [query](Session& s) { s.pinned_query = query; });
    REQUIRE(window.settle());
  }
  CHECK(panel(window, find_view("output"), 0).caption.find("NaN or Inf in ") != std::string::npos);
  window.shoot("not_finite");
}

TEST_CASE("the small picture of a head marks NaN, and its other weights keep their colours") {
  const Colormap& map = colormap_for(Palette::sequential, "viridis");
  Matrix p(2, 2);
  p(0, 0) = std::numeric_limits<float>::quiet_NaN();
  p(0, 1) = 0.5f;
  p(1, 0) = 0.01f;
  p(1, 1) = 0;
  const auto colour = [](const Rgb& c) { return qRgb(c[0], c[1], c[2]); };
  const QImage picture = weight_picture(p, map);
  CHECK(picture.pixel(0, 0) == colour(map.not_a_number));
  CHECK(picture.pixel(1, 0) == colour(map.steps[255]));
  p(0, 0) = 0;
  CHECK(picture.pixel(0, 1) == weight_picture(p, map).pixel(0, 1));
}

}  // namespace fovea::test
