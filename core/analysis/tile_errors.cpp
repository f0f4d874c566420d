#include "analysis/tile_errors.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "analysis/kept_softmax.h"
#include "analysis/rounding_budget.h"
#include "data/blocks.h"
#include "data/larger.h"
#include "data/pixels.h"

namespace fovea {
namespace {

using TileFloats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using TileMap = Eigen::Map<const TileFloats, 0, Eigen::OuterStride<>>;

constexpr double unknown_error = std::numeric_limits<double>::quiet_NaN();
// What is held at once: entries of P, and numbers of what tiles give to rows of z.
constexpr Index held_entries = Index{1} << 22, held_shares = Index{1} << 25;
constexpr Index fewest_rows = 16;
// At most `most_tiles` explain the error of a given z, and one for each `equations_of_tile`
// numbers.
constexpr Index most_tiles = 4, equations_of_tile = 16;

TileMap columns_of(MatrixView m, IndexRange cols) {
  return {m.data + cols.begin, m.rows, cols.size(), Eigen::OuterStride<>(m.stride)};
}

double row_norm(const float* a, Index count) {
  double sum = 0;
  for (Index c = 0; c < count; ++c) sum += double{a[c]} * double{a[c]};
  return std::sqrt(sum);
}

double row_distance(const float* a, const float* b, Index count) {
  double sum = 0;
  for (Index c = 0; c < count; ++c) {
    const double apart = double{a[c]} - double{b[c]};
    sum += apart * apart;
  }
  return std::sqrt(sum);
}

/// A row of tiles, the rows of P that are read of it, and the queries whose pixels it stands for.
struct ReadBand {
  Index band;
  std::vector<Index> rows;
  IndexRange stands_for;
};

/// The number by which one row of P~ is multiplied so that most of its weight equals P: the median
/// of the tiles' ratios, weighted by their masses.
double scale_of(const std::vector<double>& approximate, const std::vector<double>& exact) {
  std::vector<std::pair<double, double>> ratios;  // and the mass that has them
  double all = 0;
  for (std::size_t t = 0; t < exact.size(); ++t)
    if (approximate[t] > 0 && exact[t] > 0) {
      ratios.emplace_back(exact[t] / approximate[t], approximate[t]);
      all += approximate[t];
    }
  std::ranges::sort(ratios);
  double before = 0;
  for (const auto& [ratio, mass] : ratios)
    if ((before += mass) >= all / 2) return ratio;
  return 1;
}

class TileErrorFinder {
 public:
  TileErrorFinder(const Diagnosis& of, TileQuestion question, const TileView& view, Run& run)
      : of_(of),
        view_(view),
        run_(run),
        quiet_(run.quiet()),
        lengths_(of.exact.plan().lengths),
        tiles_(number_of_blocks(lengths_.keys, view.tile.keys)),
        dv_(of.exact_output.z.cols()) {
    const auto* imported = of.approximate.plan().as<ImportedPlan>();
    const bool has_z = imported && !imported->result->z.empty(),
               has_weights = has_entries(of.approximate.plan());
    if (has_z && question == TileQuestion::cause) {
      found_.measure = TileMeasure::explained;
      found_.against_own = has_weights;
      if (imported->result->p.empty()) kept_ = kept_softmax(of, run);
      budget_.emplace(own().problem(), imported->result->type);
      const MatrixView v = own().problem().v;
      for (Index j = 0; j < v.rows; ++j) lengths_of_v_.push_back(row_norm(v.row(j), dv_));
    } else if (!has_weights || (has_z && imported->result->p.empty())) {
      found_.measure = TileMeasure::rows;  // the weights of kept pairs are not those of the given z
    } else if (question == TileQuestion::cause && !of.exact.problem().recurrence) {
      found_.measure = TileMeasure::scaled;
    }
  }

  TileErrors find(double max_entries) {
    found_.errors = Matrix(view_.down, view_.across, -1.0f);
    found_.of_queries.assign(view_.rows.size(), NAN);
    found_.bands = number_of_blocks(lengths_.queries, view_.tile.queries);
    const std::vector<ReadBand> bands = bands_to_read(max_entries);
    std::vector<std::pair<Index, double>> largest;  // of the tiles in view, by rows of tiles
    for (std::size_t b = 0; b < bands.size(); ++b) {
      run_.check();
      largest.emplace_back(bands[b].band, add_band(bands[b]));
      run_.reached(static_cast<double>(b + 1) / static_cast<double>(bands.size()));
    }
    if (found_.measure != TileMeasure::explained)
      for (const auto& [band, error] : largest)
        if (error > 0 && error >= found_.worst.error / 2) found_.wrong_bands.push_back(band);
    for (Index i = view_.rows.begin; i < view_.rows.end; ++i)
      if (std::isnan(of_query(i))) of_query(i) = static_cast<float>(known_error(i));
    return std::move(found_);
  }

 private:
  IndexRange keys_of(Index tile) const {
    return {tile * view_.tile.keys, std::min(lengths_.keys, (tile + 1) * view_.tile.keys)};
  }
  IndexRange queries_of(Index band) const {
    return {band * view_.tile.queries, std::min(lengths_.queries, (band + 1) * view_.tile.queries)};
  }
  float& of_query(Index i) { return found_.of_queries[i - view_.rows.begin]; }
  const Matrix& given_z() const { return of_.approximate_output.z; }
  const Operator& own() const {
    return kept_ ? *kept_->op : found_.against_own ? of_.approximate : of_.exact;
  }
  /// What z should be; null if it must be found from the weights of the file.
  const Matrix* should_be() const {
    if (found_.measure != TileMeasure::explained || !found_.against_own) return &of_.exact_output.z;
    return kept_ ? &kept_->output.z : nullptr;
  }
  /// NaN if it is not known before rows are read.
  double known_error(Index i) const {
    const Matrix* z = should_be();
    return z ? row_distance(given_z().row(i), z->row(i), dv_) : unknown_error;
  }
  Index worst_row(IndexRange rows) const {
    Index worst = rows.begin;
    double most = -1;
    for (Index i = rows.begin; i < rows.end; ++i) {
      const double error = row_distance(given_z().row(i), of_.exact_output.z.row(i), dv_),
                   its = should_be() ? known_error(i) : error;
      if (!(its <= most) && !std::isnan(most)) worst = i, most = its;
    }
    return worst;
  }

  std::vector<ReadBand> bands_to_read(double max_entries) {
    const Index first = view_.rows.begin / view_.tile.queries,
                count = number_of_blocks(view_.rows.end, view_.tile.queries) - first,
                rows = queries_of(first + count - 1).end - queries_of(first).begin;
    const auto keys = static_cast<double>(lengths_.keys);
    Index limit = std::max(fewest_rows, static_cast<Index>(max_entries / keys));
    Index of_band = view_.tile.queries;
    if (found_.measure == TileMeasure::explained)
      of_band = std::clamp<Index>(held_shares / (tiles_ * dv_), 1, of_band);
    if (found_.measure == TileMeasure::rows) limit = rows;
    if (rows > limit) of_band = std::min(of_band, std::max<Index>(1, limit / count));
    std::vector<ReadBand> bands;
    found_.rows = rows;
    const Index groups = std::min(limit, count);
    found_.all_bands = groups == count;
    for (Index g = 0; g < groups; ++g) {
      const IndexRange group{first + g * count / groups, first + (g + 1) * count / groups},
          queries{queries_of(group.begin).begin, queries_of(group.end - 1).end};
      ReadBand its{group.begin, {}, queries};
      if (queries.size() > of_band) {
        const Index worst = worst_row(queries);
        its.band = worst / view_.tile.queries;
        its.rows = {worst};
        const IndexRange tokens = queries_of(its.band);
        for (Index r = 1; r < of_band; ++r)
          its.rows.push_back(tokens.begin + r * tokens.size() / of_band);
        std::ranges::sort(its.rows);
        its.rows.erase(std::ranges::unique(its.rows).begin(), its.rows.end());
      } else {
        for (Index i = queries.begin; i < queries.end; ++i) its.rows.push_back(i);
      }
      found_.rows_read += std::ssize(its.rows);
      bands.push_back(std::move(its));
    }
    return bands;
  }

  Matrix read(const Operator& op, std::span<const Index> rows) {
    const IndexRange keys{0, lengths_.keys};
    if (rows.back() - rows.front() + 1 == std::ssize(rows))
      return op.tile({rows.front(), rows.back() + 1}, keys, quiet_);
    Matrix all(std::ssize(rows), lengths_.keys);
    for (Index r = 0; r < all.rows(); ++r) {
      const Index i = rows[r];
      std::copy_n(op.tile({i, i + 1}, keys, quiet_).row(0), all.cols(), all.row(r));
    }
    return all;
  }

  /// The errors of all tiles of a band, and what explains them.
  struct BandErrors {
    std::vector<double> errors, factors;
    double explained = 0;  // share of the squared error
    Index others = 0;      // tiles beside one that explain it
  };

  /// The errors of the tiles of a band: into pixels. The largest of those in view.
  double add_band(const ReadBand& band) {
    const BandErrors its =
        found_.measure == TileMeasure::explained ? explained_errors(band) : known_errors(band);
    const IndexRange rows = band.stands_for.intersected(view_.rows),
                     pixels = pixels_of(rows, view_.rows, view_.down),
                     tiles{view_.cols.begin / view_.tile.keys,
                           number_of_blocks(view_.cols.end, view_.tile.keys)};
    const bool counts = found_.measure != TileMeasure::explained ||
                        (!found_.wrong_bands.empty() && found_.wrong_bands.back() == band.band);
    double largest = 0;
    for (Index t = tiles.begin; t < tiles.end; ++t) {
      const auto at = static_cast<std::size_t>(t);
      const double error = std::isnan(its.errors[at]) ? HUGE_VAL : its.errors[at];
      largest = std::max(largest, error);
      if (counts && error > found_.worst.error)
        found_.worst = {queries_of(band.band), keys_of(t),      error,
                        its.explained,         its.factors[at], its.others};
      const IndexRange across =
          pixels_of(keys_of(t).intersected(view_.cols), view_.cols, view_.across);
      for (Index r = pixels.begin; r < pixels.end; ++r)
        for (Index c = across.begin; c < across.end; ++c)
          found_.errors(r, c) =
              larger_or_nan(found_.errors(r, c), static_cast<float>(its.errors[at]));
    }
    return largest;
  }

  static IndexRange pixels_of(IndexRange tokens, IndexRange view, Index pixels) {
    return {pixel_of(tokens.begin - view.begin, view.size(), pixels),
            pixel_of(tokens.end - 1 - view.begin, view.size(), pixels) + 1};
  }

  /// Where nothing is to be explained.
  BandErrors known_errors(const ReadBand& band) {
    const auto count = static_cast<std::size_t>(tiles_);
    return {found_.measure == TileMeasure::rows ? std::vector<double>(count, error_of_rows(band))
                                                : weight_errors(band),
            std::vector<double>(count, 1)};
  }

  double error_of_rows(const ReadBand& band) const {
    double error = 0, norm = 0;
    for (const Index i : band.rows) {
      const double apart = known_error(i), its = row_norm(of_.exact_output.z.row(i), dv_);
      error += apart * apart;
      norm += its * its;
    }
    return ratio(error, norm);
  }

  /// Roots of sums of squares: no error is 0, whatever the norm.
  static double ratio(double error, double norm) {
    return error == 0 ? 0 : std::sqrt(error / norm);
  }

  /// Calls body(rows) for as many rows at a time as are held.
  template <class Body>
  void in_chunks(const std::vector<Index>& rows, Body body) {
    const auto together =
        static_cast<std::size_t>(std::max<Index>(1, held_entries / lengths_.keys));
    for (std::size_t at = 0; at < rows.size(); at += together) {
      run_.check();
      body(std::span(rows).subspan(at, std::min(together, rows.size() - at)));
    }
  }
  void for_tiles(const std::function<void(Index)>& body) {
    of_.backend.share_out(tiles_, quiet_, body);
  }
  /// What the tile's weights in some rows give to z.
  TileFloats share_of(const Matrix& p, const Operator& op, Index tile) const {
    const IndexRange keys = keys_of(tile);
    const MatrixView v = op.problem().v.slice(keys);
    return columns_of(p, keys) * columns_of(v, {0, dv_});
  }

  std::vector<double> weight_errors(const ReadBand& band) {
    const MatrixView rounded = of_.approximate.problem().v, v = of_.exact.problem().v;
    std::vector<double> errors(tiles_);
    double norm = 0;
    in_chunks(band.rows, [&](std::span<const Index> rows) {
      Matrix approximate = read(of_.approximate, rows), exact = read(of_.exact, rows);
      if (found_.measure == TileMeasure::scaled) scale(approximate, exact);
      if (rounded.data == v.data)  // one product of the difference has smaller rounding errors
        for (Index r = 0; r < exact.rows(); ++r)
          for (Index j = 0; j < exact.cols(); ++j) approximate(r, j) -= exact(r, j);
      for_tiles([&](Index t) {
        TileFloats apart = share_of(approximate, of_.approximate, t);
        if (rounded.data != v.data) apart -= share_of(exact, of_.exact, t);
        errors[t] += apart.cast<double>().squaredNorm();
      });
      for (const Index i : rows) {
        const double its = row_norm(of_.exact_output.z.row(i), dv_);
        norm += its * its;
      }
    });
    for (double& error : errors) error = ratio(error, norm);
    return errors;
  }

  void scale(Matrix& approximate, const Matrix& exact) {
    for (Index r = 0; r < exact.rows(); ++r) {
      std::vector<double> theirs, ours;
      for (Index t = 0; t < tiles_; ++t) {
        const IndexRange keys = keys_of(t);
        double a = 0, e = 0;
        for (Index j = keys.begin; j < keys.end; ++j) {
          a += double{approximate(r, j)};
          e += double{exact(r, j)};
        }
        theirs.push_back(a);
        ours.push_back(e);
      }
      const double by = scale_of(theirs, ours);
      for (Index j = 0; j < exact.cols(); ++j)
        approximate(r, j) = static_cast<float>(by * double{approximate(r, j)});
    }
  }

  struct Outputs {
    const Eigen::MatrixXd &should_be, &given, &error;  // [rows, dv]
  };
  /// Tiles that explain an error together.
  struct Explanation {
    Index most = 0;  // tiles
    std::vector<Index> tiles;
    Eigen::VectorXd less_one;  // their factors, less 1
    double share = 0;          // of the squared error
  };

  static Eigen::MatrixXd direction_of(const TileFloats& share, const Eigen::VectorXd& mass,
                                      const Eigen::MatrixXd& given) {
    return share.cast<double>() - mass.asDiagonal() * given;
  }

  /// If the weights of tiles t, of masses m_t and shares u_t of z, are multiplied by w_t, then
  ///   z~ = (z + sum (w_t - 1) u_t) / (1 + sum (w_t - 1) m_t),
  /// so z~ - z = sum (w_t - 1) (u_t - m_t z~), which is linear in w - 1: tiles are found by
  /// orthogonal matching pursuit (Pati et al. 1993), as few as explain most of the error.
  void explain(const Outputs& z, const std::vector<TileFloats>& shares,
               const std::vector<Eigen::VectorXd>& masses, Explanation& found) {
    Eigen::MatrixXd left = z.error;
    Eigen::MatrixXd directions(z.error.size(), 0);
    while (std::ssize(found.tiles) < found.most && found.share < TileErrors::mostly) {
      std::vector<double> gains(shares.size());
      for_tiles([&](Index t) {
        const auto at = static_cast<std::size_t>(t);
        const Eigen::MatrixXd direction = direction_of(shares[at], masses[at], z.given);
        const double square = direction.squaredNorm(), along = left.cwiseProduct(direction).sum();
        if (square > 0) gains[at] = along * along / square;
      });
      const auto best = std::ranges::max_element(gains);
      if (!(*best > 0)) return;
      const auto at = static_cast<std::size_t>(best - gains.begin());
      found.tiles.push_back(best - gains.begin());
      directions.conservativeResize(Eigen::NoChange, std::ssize(found.tiles));
      directions.rightCols(1) = direction_of(shares[at], masses[at], z.given).reshaped();
      found.less_one = directions.colPivHouseholderQr().solve(z.error.reshaped()).cwiseMax(-1.0);
      left = (z.error.reshaped() - directions * found.less_one)
                 .reshaped(z.error.rows(), z.error.cols());
      found.share = explained_by(z, shares, masses, found);
    }
  }

  static double explained_by(const Outputs& z, const std::vector<TileFloats>& shares,
                             const std::vector<Eigen::VectorXd>& masses, const Explanation& found) {
    Eigen::MatrixXd above = z.should_be;
    Eigen::VectorXd below = Eigen::VectorXd::Ones(above.rows());
    for (std::size_t f = 0; f < found.tiles.size(); ++f) {
      const auto at = static_cast<std::size_t>(found.tiles[f]);
      above += found.less_one[f] * shares[at].cast<double>();
      below += found.less_one[f] * masses[at];
    }
    double unexplained = 0;
    for (Index r = 0; r < above.rows(); ++r)
      unexplained += below[r] > 0 ? (z.given.row(r) - above.row(r) / below[r]).squaredNorm()
                                  : z.error.row(r).squaredNorm();
    return std::max(0.0, 1 - unexplained / z.error.squaredNorm());
  }

  BandErrors explained_errors(const ReadBand& band) {
    const auto count = static_cast<std::size_t>(tiles_);
    std::vector<TileFloats> shares(count);
    std::vector<Eigen::VectorXd> masses(count);
    std::vector<double> spread;  // sum of p |v| of each row
    std::vector<bool> has_keys;
    const Index all = std::ssize(band.rows);
    for (auto& its : shares) its.resize(all, dv_);
    for (auto& its : masses) its.resize(all);
    Index done = 0;
    in_chunks(band.rows, [&](std::span<const Index> rows) {
      const Matrix p = read(own(), rows);
      for_tiles([&](Index t) {
        const auto at = static_cast<std::size_t>(t);
        shares[at].middleRows(done, p.rows()) = share_of(p, own(), t);
        if (of_.exact.problem().recurrence)  // which divides by no sum
          masses[at].segment(done, p.rows()).setZero();
        else
          masses[at].segment(done, p.rows()) =
              columns_of(p, keys_of(t)).cast<double>().rowwise().sum();
      });
      for (Index r = 0; r < p.rows(); ++r) {
        double sum = 0;
        has_keys.push_back(false);
        for (Index j = 0; j < p.cols(); ++j)
          if (p(r, j) != 0) {
            sum += std::abs(double{p(r, j)}) * lengths_of_v_[j];
            has_keys.back() = true;
          }
        spread.push_back(sum);
      }
      done += p.rows();
    });
    Eigen::MatrixXd z = Eigen::MatrixXd::Zero(all, dv_), given = z;
    for (Index r = 0; r < all; ++r) {
      const Index i = band.rows[r];
      if (!has_keys[r]) continue;  // z may be anything
      for (Index c = 0; c < dv_; ++c) given(r, c) = double{given_z()(i, c)};
      if (const Matrix* known = should_be())
        for (Index c = 0; c < dv_; ++c) z(r, c) = double{(*known)(i, c)};
      else
        for (std::size_t t = 0; t < count; ++t) z.row(r) += shares[t].row(r).cast<double>();
    }
    const Eigen::MatrixXd error = given - z;
    const double whole = error.squaredNorm();
    bool wrong = false;
    for (Index r = 0; r < all; ++r) {
      const Index i = band.rows[r];
      const double apart = error.row(r).norm();
      wrong = wrong || !(apart <= (*budget_)(i, spread[r], z.row(r).norm()));
      if (view_.rows.contains(i)) of_query(i) = static_cast<float>(apart);
    }
    if (wrong) found_.wrong_bands.push_back(band.band);
    const double norm = z.norm(), relative = ratio(whole, norm * norm);
    BandErrors its{std::vector<double>(count, relative), std::vector<double>(count, 1)};
    Explanation found{std::clamp<Index>(all * dv_ / equations_of_tile, 1, most_tiles), {}, {}, 0};
    if (wrong && std::isfinite(whole)) explain({z, given, error}, shares, masses, found);
    its.explained = found.share;
    if (found.share < TileErrors::mostly) return its;
    std::ranges::fill(its.errors, 0.0);
    its.others = std::ssize(found.tiles) - 1;
    for (std::size_t f = 0; f < found.tiles.size(); ++f) {
      const auto at = static_cast<std::size_t>(found.tiles[f]);
      its.factors[at] = 1 + found.less_one[f];
      its.errors[at] =
          std::abs(found.less_one[f]) * direction_of(shares[at], masses[at], given).norm() / norm;
    }
    return its;
  }

  const Diagnosis& of_;
  const TileView view_;
  Run& run_;
  Run quiet_;
  const Lengths lengths_;
  const Index tiles_, dv_;
  std::optional<KeptSoftmax> kept_;
  std::optional<RoundingBudget> budget_;  // of a given z
  std::vector<double> lengths_of_v_;      // and |v_j|
  TileErrors found_;
};

}  // namespace

TileErrors tile_errors(const Diagnosis& of, TileQuestion question, const TileView& view, Run& run,
                       double max_entries) {
  return TileErrorFinder(of, question, view, run).find(max_entries);
}

}  // namespace fovea
