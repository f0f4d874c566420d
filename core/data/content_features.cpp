#include "data/content_features.h"

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/fnv1a.h"
#include "data/row_length.h"
#include "data/stop.h"

namespace fovea {
namespace {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowBlock = Eigen::Map<const RowMatrix, 0, Eigen::OuterStride<>>;

constexpr double text_place_weight = 0.2, text_scale = 2.0;
constexpr double image_place_weight = 0.3, image_scale = 3.0;

void require_features(Index d) {
  if (d < fewest_features)
    throw UsageError("content features of " + std::to_string(d) + " columns; expected at least " +
                     std::to_string(fewest_features));
}

/// Content of length sqrt(1 - w), place of length sqrt(w). A row without content is all place.
void balance(Matrix& q, Index content, double place_weight, const std::stop_token& stop) {
  for_each_row(q.rows(), stop, [&](Index i) {
    float* row = q.row(i);
    bool any = false;
    for (Index c = 0; c < content; ++c) any = any || row[c] != 0;
    set_length(row, content, std::sqrt(1 - place_weight));
    set_length(row + content, q.cols() - content, any ? std::sqrt(place_weight) : 1.0);
  });
}

void add_ngrams(const std::string& token, float* row, Index columns) {
  std::string text = "<" + token + ">";
  std::vector<std::size_t> starts;  // first byte of each character, and the end
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] >= 'A' && text[i] <= 'Z') text[i] = static_cast<char>(text[i] - 'A' + 'a');
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  }
  starts.push_back(text.size());
  for (std::size_t begin = 0; begin + 1 < starts.size(); ++begin)
    for (std::size_t n = 1; n <= 4 && begin + n < starts.size(); ++n) {
      const std::size_t first = starts[begin];
      const std::uint64_t hash =
          fnv1a(std::string_view(text).substr(first, starts[begin + n] - first));
      row[hash % static_cast<std::uint64_t>(columns)] += hash >> 63 ? -1.0f : 1.0f;
    }
}

/// [n, 3 (+ 3 s s)]: the mean colour of every patch and its cells.
Matrix patch_values(const Picture& picture, Index patch, const std::stop_token& stop) {
  const Index cols = picture.width / patch, rows = picture.height / patch, s = patch_cells(patch);
  Matrix out(rows * cols, s == 1 ? 3 : 3 + 3 * s * s);
  const auto share = static_cast<float>(1.0 / (255.0 * static_cast<double>(patch * patch)));
  std::vector<float> per_cell(s * s);  // 1 / (255 times its pixels)
  auto cell_of = [&](Index y, Index x) { return (y * s / patch) * s + x * s / patch; };
  for (Index y = 0; y < patch; ++y)
    for (Index x = 0; x < patch; ++x) per_cell[cell_of(y, x)] += 255.0f;
  for (float& cell : per_cell) cell = 1.0f / cell;

  for (Index y = 0; y < picture.height; ++y) {
    check_stop(stop);
    for (Index x = 0; x < picture.width; ++x) {
      const std::uint8_t* pixel = picture.rgb.data() + (y * picture.width + x) * 3;
      float* row = out.row((y / patch) * cols + x / patch);
      const Index cell = cell_of(y % patch, x % patch);
      for (Index c = 0; c < 3; ++c) {
        row[c] += share * static_cast<float>(pixel[c]);
        if (s > 1) row[3 + 3 * cell + c] += per_cell[cell] * static_cast<float>(pixel[c]);
      }
    }
  }
  return out;
}

struct Whitening {
  Eigen::RowVectorXf mean;
  Eigen::MatrixXf project;  // [pixels, components]
};

/// Uses at most about 16384 evenly spaced rows, which is plenty for 192 pixels.
Whitening whitening_of(const RowBlock& pixels, Index most_components) {
  const Index step = (pixels.rows() + 16383) / 16384, used = (pixels.rows() + step - 1) / step;
  Eigen::MatrixXd sample(used, pixels.cols());
  for (Index i = 0; i < used; ++i) sample.row(i) = pixels.row(i * step).cast<double>();
  const Eigen::RowVectorXd mean = sample.colwise().mean();
  sample.rowwise() -= mean;
  const Eigen::MatrixXd covariance = sample.transpose() * sample / static_cast<double>(used);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(covariance);

  const Eigen::VectorXd lambda = solver.eigenvalues().reverse();
  // A standard deviation below a hundredth of a grey level is rounding, not content.
  constexpr double least = 1e-4 / (255.0 * 255.0);
  Index components = 0;
  while (components < std::min<Index>(most_components, lambda.size()) &&
         lambda[components] > std::max(least, 1e-6 * lambda[0]))
    ++components;
  Whitening out{mean.cast<float>(), Eigen::MatrixXf(pixels.cols(), components)};
  for (Index k = 0; k < components; ++k) {
    Eigen::VectorXd axis = solver.eigenvectors().col(lambda.size() - 1 - k);
    Index largest = 0;
    axis.cwiseAbs().maxCoeff(&largest);
    if (axis[largest] < 0) axis = -axis;  // the sign of an eigenvector is arbitrary
    out.project.col(k) = (axis / std::sqrt(lambda[k] + lambda[0] / 50)).cast<float>();
  }
  return out;
}

void put_place(float* row, Index place, Index x, Index y, Index side) {
  for (Index f = 0; f < place / 4; ++f) {
    const double unit =
        std::numbers::pi * std::ldexp(0.5, static_cast<int>(f)) / static_cast<double>(side);
    for (const Index at : {x, y}) {
      const double angle = unit * (static_cast<double>(at) + 0.5);
      *row++ = static_cast<float>(std::cos(angle));
      *row++ = static_cast<float>(std::sin(angle));
    }
  }
}

}  // namespace

ContentHead text_features(std::span<const std::string> tokens, Index d,
                          const std::stop_token& stop) {
  require_features(d);
  const auto n = std::ssize(tokens);
  const Index pairs = d / 8, content = d - 2 * pairs;
  ContentHead out{Matrix(n, d), {}, std::log(n) + text_scale};
  for_each_row(n, stop, [&](Index i) {
    add_ngrams(tokens[i], out.q.row(i), content);
    for (Index p = 0; p < pairs; ++p) {
      const double angle = static_cast<double>(i) *
                           std::pow(1e4, -static_cast<double>(p) / static_cast<double>(pairs));
      out.q(i, content + 2 * p) = static_cast<float>(std::cos(angle));
      out.q(i, content + 2 * p + 1) = static_cast<float>(std::sin(angle));
    }
  });
  balance(out.q, content, text_place_weight, stop);
  return out;
}

ContentHead image_features(const Picture& picture, Index patch, Index d,
                           const std::stop_token& stop) {
  require_features(d);
  const Index cols = picture.width / patch, rows = picture.height / patch, n = rows * cols;
  const Index place = std::min<Index>(16, d / 8 * 4);
  ContentHead out{{}, patch_values(picture, patch, stop), std::log(n) + image_scale};
  const Index skip = out.v.cols() > 3 ? 3 : 0;
  const RowBlock pixels(out.v.data() + skip, n, out.v.cols() - skip,
                        Eigen::OuterStride<>(out.v.stride()));
  const Whitening whitening = whitening_of(pixels, d - place);
  check_stop(stop);
  const Index content = whitening.project.cols();

  out.q = Matrix(n, content + place);
  Eigen::Map<RowMatrix, 0, Eigen::OuterStride<>> q(out.q.data(), n, content + place,
                                                   Eigen::OuterStride<>(out.q.stride()));
  constexpr Index step = 4096;  // rows at a time, so that the centred copy stays small
  for (Index i = 0; i < n && content > 0; i += step) {
    check_stop(stop);
    const Index count = std::min(step, n - i);
    q.block(i, 0, count, content).noalias() =
        (pixels.middleRows(i, count).rowwise() - whitening.mean) * whitening.project;
  }
  for_each_row(n, stop, [&](Index i) {
    put_place(out.q.row(i) + content, place, i % cols, i / cols, std::max(rows, cols));
  });
  balance(out.q, content, image_place_weight, stop);
  return out;
}

void put_content(Source& source, ContentHead head, const std::string& what) {
  Layer& layer = source.layers.emplace_back();
  std::vector<Matrix> q, v;
  q.push_back(std::move(head.q));
  layer.q = layer.k = layer.v = make_head_tensor(std::move(q));
  if (!head.v.empty()) {
    v.push_back(std::move(head.v));
    layer.v = make_head_tensor(std::move(v));
  }
  source.layout = "[H,n,d]";
  source.scale = head.scale;
  source.content =
      "content similarity of " + what + ": a toy embedding, not for choosing an attention";
}

}  // namespace fovea
