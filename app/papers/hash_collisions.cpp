// How often HyperAttention's hash puts two vectors into one bucket, against the angle between them.
#include <cmath>
#include <numbers>

#include "data/random.h"
#include "papers/paper_figure.h"

namespace fovea {
namespace {

constexpr int hashes_drawn = 1000;  // hashes, each with directions of its own
constexpr int bit_counts[] = {2, 7};
constexpr int angles[] = {10, 20, 36, 60, 90, 120};  // degrees

double radians(double degrees) {
  return degrees * std::numbers::pi / 180;
}

/// Pr[H(q) = H(k)] and Pr[H(k) is the bucket before or after H(q)], the last of which is followed
/// by the first.
struct Collisions {
  double same = 0, adjacent = 0;
};

/// All r bits are equal, or all but one. Consecutive codes of a Gray sequence differ in one bit; of
/// the r codes that differ from a code in one bit, 2 are its neighbours in the sequence.
Collisions by_formula(double degrees, int r) {
  const double apart = radians(degrees) / std::numbers::pi;
  return {std::pow(1 - apart, r), 2 * apart * std::pow(1 - apart, r - 1)};
}

/// [1 + angles, 2] a vector, then one at each angle to it. Gaussian directions have no preferred
/// axis, so that vectors of any width in any plane collide as often.
Matrix vectors_at_angles() {
  Matrix x(1 + std::ssize(angles), 2);
  x(0, 0) = 1;
  for (Index a = 0; a < std::ssize(angles); ++a) {
    x(1 + a, 0) = static_cast<float>(std::cos(radians(angles[a])));
    x(1 + a, 1) = static_cast<float>(std::sin(radians(angles[a])));
  }
  return x;
}

/// [angles] shares of the hashes.
std::vector<Collisions> measured_collisions(int r, const Backend& backend, Run& run) {
  std::vector<Collisions> found(std::size(angles));
  const Matrix x = vectors_at_angles();
  Random random(0, r);
  Run quiet = run.quiet();
  const std::int32_t last = (1 << r) - 1;
  for (int trial = 0; trial < hashes_drawn; ++trial) {
    run.check();
    Matrix directions(r, 2);
    for (Index t = 0; t < r; ++t)
      for (Index c = 0; c < 2; ++c) directions(t, c) = static_cast<float>(random.normal());
    const std::vector<std::int32_t> bucket = backend.lsh_buckets(x, directions, quiet);
    for (std::size_t a = 0; a < found.size(); ++a) {
      const std::int32_t steps = std::abs(bucket[0] - bucket[1 + a]);
      found[a].same += steps == 0;
      found[a].adjacent += steps == 1 || steps == last;
    }
    run.reached(double(trial + 1) / hashes_drawn);
  }
  for (Collisions& of_angle : found)
    of_angle.same /= hashes_drawn, of_angle.adjacent /= hashes_drawn;
  return found;
}

/// The standard error of a share of all hashes, if `p` is its probability.
double standard_error(double p) {
  return std::sqrt(p * (1 - p) / hashes_drawn);
}

/// Adds the formula as a line, and the measured shares with their bars.
void add_curves(CurvePlot& plot, const std::string& name, int r, double Collisions::*which,
                const std::vector<Collisions>& found) {
  const std::size_t colour = plot.curves.size() / 2 + 1;
  CurvePlot::Curve line{.name = name, .colour = colour}, bars{.colour = colour};
  for (int degrees = 0; degrees <= 180; ++degrees)
    line.points.emplace_back(degrees, by_formula(degrees, r).*which);
  for (std::size_t a = 0; a < found.size(); ++a) {
    bars.points.emplace_back(angles[a], found[a].*which);
    bars.errors.push_back(standard_error(by_formula(angles[a], r).*which));
  }
  plot.curves.push_back(std::move(line));
  plot.curves.push_back(std::move(bars));
}

PaperResult collisions_against_angles(const PaperTask& task, Run& run) {
  PaperResult result;
  result.rows.emplace_back();
  for (std::size_t b = 0; b < std::size(bit_counts); ++b) {
    const int r = bit_counts[b];
    Run of_bits =
        run.part(double(b) / std::size(bit_counts), double(b + 1) / std::size(bit_counts));
    const std::vector<Collisions> found = measured_collisions(r, task.backend, of_bits);
    const std::string bits = "r = " + std::to_string(r);
    for (std::size_t a = 0; a < found.size(); ++a) {
      const std::string at = std::to_string(r) + "_" + std::to_string(angles[a]),
                        where = bits + ", " + std::to_string(angles[a]) + "°: ";
      const Collisions expected = by_formula(angles[a], r);
      result.numbers.push_back({"same_" + at,
                                where + "same bucket",
                                {},
                                found[a].same,
                                {},
                                expected.same,
                                standard_error(expected.same)});
      result.numbers.push_back({"adjacent_" + at,
                                where + "adjacent bucket",
                                {},
                                found[a].adjacent,
                                {},
                                expected.adjacent,
                                standard_error(expected.adjacent)});
    }
    CurvePlot plot{.x_label = "angle, degrees", .y_label = "share of pairs"};
    add_curves(plot, "same bucket", r, &Collisions::same, found);
    add_curves(plot, "adjacent bucket", r, &Collisions::adjacent, found);
    result.rows.front().push_back(
        {.title = bits,
         .subtitle = {},
         .caption = "Lines: formula. Dots: measured, bars of one standard error to either side.",
         .body = std::move(plot)});
  }
  result.notes = {
      std::to_string(hashes_drawn) +
          " hashes with Gaussian directions of their own; each is given vectors at all angles θ. "
          "Behind ± are standard errors, √(p (1 − p) / " +
          std::to_string(hashes_drawn) +
          ") with p by the formula: where it holds, about a third of the shares differ from it by "
          "more.",
      "Definition 1 asks that vectors of angle θ meet with probability (1 − θ/π)^r, and orders the "
      "buckets so that adjacent ones differ in one bit: 2 θ/π (1 − θ/π)^(r−1), the first and the "
      "last being adjacent too. The paper states formulas and no measurement."};
  return result;
}

}  // namespace

PaperFigure hash_collision_figure() {
  return {.id = "hash-collisions",
          .paper = "HyperAttention (Han et al. 2023), Definition 1",
          .title = "Collisions of the hash against the angle",
          .sentence = "How often two vectors fall into the same bucket, or into adjacent ones.",
          .make = collisions_against_angles};
}

}  // namespace fovea
