#include "spectra/spectra.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "backend/singular_values.h"
#include "device/buffer.h"
#include "device/timeline.h"
#include "spectra/jacobi.h"
#include "spectra/row_basis.h"

namespace fovea::cuda {
namespace {

// Bytes of device memory for blocks that are decomposed together, if there is more than one.
constexpr std::size_t chunk_bytes = std::size_t{128} << 20;
// Steps of all bases between two checks of how far they are: less than a millisecond.
constexpr int steps_at_once = 8;

Index longer_side(MatrixView block) {
  return std::max(block.rows, block.cols);
}
std::size_t shorter_side(MatrixView block) {
  return static_cast<std::size_t>(std::min(block.rows, block.cols));
}
std::size_t size_of(MatrixView block) {
  return static_cast<std::size_t>(block.rows * block.cols);
}
std::size_t workspace_of(MatrixView block) {  // doubles
  return static_cast<std::size_t>(most_rank * (block.rows + block.cols) + block.rows);
}

using Ids = std::span<const std::size_t>;

class Decomposition {
 public:
  Decomposition(std::span<const MatrixView> blocks, const Device& device, const Backend& cpu,
                Run& run)
      : blocks_(blocks), device_(device), cpu_(cpu), run_(run) {
    out_.values.resize(blocks.size());
    for (const MatrixView& block : blocks)
      out_.resolved.push_back(std::min(block.rows, block.cols));
    for (const MatrixView& block : blocks) total_ += decomposition_effort(block.rows, block.cols);
  }

  Spectra run() {
    std::array<std::vector<std::size_t>, 3> small;  // sides up to 16, 32, 64
    std::vector<std::size_t> large;
    for (std::size_t id = 0; id < blocks_.size(); ++id) {
      const Index side = longer_side(blocks_[id]);
      if (shorter_side(blocks_[id]) == 0) continue;
      if (side <= jacobi_side)
        small[side <= 16 ? 0 : side <= 32 ? 1 : 2].push_back(id);
      else
        (side <= basis_side ? large : left_).push_back(id);
    }
    in_chunks(large, [&](Ids ids) { by_basis(ids); });
    for (const auto& ids : small) in_chunks(ids, [&](Ids part) { by_rotations(part); });
    leave_to_cpu();
    return std::move(out_);
  }

 private:
  MatrixView block(std::size_t id) const { return blocks_[id]; }

  // Their order is kept, so that blocks of similar size are together.
  template <class Work>
  void in_chunks(Ids ids, const Work& work) {
    for (std::size_t first = 0, last = 0; first < ids.size(); first = last) {
      std::size_t bytes = 0;
      for (; last < ids.size(); ++last) {
        bytes += sizeof(float) * size_of(block(ids[last]));
        if (longer_side(block(ids[last])) > jacobi_side)
          bytes += sizeof(double) * (workspace_of(block(ids[last])) + most_rank * most_rank);
        if (bytes > chunk_bytes && last > first) break;
      }
      run_.check();
      work(ids.subspan(first, last - first));
    }
  }

  void settle(std::size_t id) {
    settled_ += decomposition_effort(block(id).rows, block(id).cols);
    run_.reached(settled_ / total_);
  }

  // One after another, without gaps. `entries` outlives the work on the device.
  Buffer<float> upload(Ids ids, std::vector<float>& entries) const {
    std::size_t size = 0;
    for (const std::size_t id : ids) size += size_of(block(id));
    entries.reserve(size);
    for (const std::size_t id : ids)
      for (Index i = 0; i < block(id).rows; ++i)
        entries.insert(entries.end(), block(id).row(i), block(id).row(i) + block(id).cols);
    return {device_, std::span<const float>(entries)};
  }

  void by_rotations(Ids ids) {
    std::vector<SmallBlock> places;
    Index side = 0;
    std::int64_t entry = 0, value = 0;
    for (const std::size_t id : ids) {
      const MatrixView b = block(id);
      places.push_back({.entries = entry,
                        .rows = static_cast<std::int32_t>(b.rows),
                        .cols = static_cast<std::int32_t>(b.cols),
                        .stride = static_cast<std::int32_t>(b.cols),
                        .values = value});
      entry += b.rows * b.cols;
      value += std::min(b.rows, b.cols);
      side = std::max(side, longer_side(b));
    }
    std::vector<float> host_entries, found(static_cast<std::size_t>(value));
    Timeline timeline(device_);
    const Buffer<float> values(device_, found.size());
    const Buffer<float> entries = [&] {
      const auto stage = timeline.stage("upload");
      return upload(ids, host_entries);
    }();
    const Buffer<SmallBlock> blocks(device_, std::span<const SmallBlock>(places));
    {
      const auto stage = timeline.stage("decompose");
      jacobi({blocks.data(), static_cast<int>(ids.size()), static_cast<int>(side)}, entries.data(),
             values.data(), device_.stream());
    }
    values.download(found.data(), found.size());
    timeline.finish(run_.profile);
    for (std::size_t b = 0; b < ids.size(); ++b) {
      const auto from = found.begin() + places[b].values;
      out_.values[ids[b]].assign(from,
                                 from + static_cast<std::ptrdiff_t>(shorter_side(block(ids[b]))));
      settle(ids[b]);
    }
  }

  void by_basis(Ids ids) {
    std::vector<LargeBlock> places;
    std::int64_t entry = 0, work = 0;
    RowBasisArgs args{.count = static_cast<int>(ids.size()),
                      .enough = negligible_share * negligible_share};
    for (const std::size_t id : ids) {
      const MatrixView b = block(id);
      places.push_back({.entries = entry,
                        .rows = static_cast<std::int32_t>(b.rows),
                        .cols = static_cast<std::int32_t>(b.cols),
                        .basis = work,
                        .coefficients = work + most_rank * b.cols,
                        .rest = work + most_rank * (b.rows + b.cols)});
      entry += b.rows * b.cols;
      work += static_cast<std::int64_t>(workspace_of(b));
      args.rows = std::max(args.rows, places.back().rows);
      args.cols = std::max(args.cols, places.back().cols);
    }
    std::vector<float> host_entries, found(ids.size() * most_rank);
    Timeline timeline(device_);
    const Buffer<float> values(device_, found.size());
    const Buffer<double> workspace(device_, static_cast<std::size_t>(work)),
        gram(device_, ids.size() * most_rank * most_rank);
    const Buffer<BasisProgress> progress(device_, ids.size());
    const Buffer<SmallBlock> small(device_, ids.size());
    const Buffer<float> entries = [&] {
      const auto stage = timeline.stage("upload");
      return upload(ids, host_entries);
    }();
    const Buffer<LargeBlock> blocks(device_, std::span<const LargeBlock>(places));
    args.blocks = blocks.data();
    args.entries = entries.data();
    args.workspace = workspace.data();
    args.progress = progress.data();
    std::vector<BasisProgress> ends;
    {
      const auto stage = timeline.stage("decompose");
      ends = grow_bases(args, progress);
      gram_of_coefficients(args, gram.data(), small.data(), device_.stream());
      jacobi_of_gram({small.data(), args.count, most_rank}, gram.data(), values.data(),
                     device_.stream());
    }
    values.download(found.data(), found.size());
    timeline.finish(run_.profile);
    for (std::size_t b = 0; b < ids.size(); ++b)
      keep(ids[b], ends[b], std::span(found).subspan(b * most_rank, most_rank));
  }

  std::vector<BasisProgress> grow_bases(const RowBasisArgs& args,
                                        const Buffer<BasisProgress>& progress) const {
    std::vector<BasisProgress> now(progress.size());
    begin_basis(args, device_.stream());
    for (int step = 0; step <= most_rank; ++step) {
      extend_basis(args, step, device_.stream());
      if (step < most_rank && (step + 1) % steps_at_once != 0) continue;
      run_.check();
      progress.download(now.data(), now.size());
      device_.wait();
      if (std::ranges::none_of(
              now, [](const BasisProgress& p) { return p.state == BasisState::growing; }))
        break;
    }
    return now;
  }

  // What the basis does not span is given as equal values, whose sum bounds that of the true ones.
  void keep(std::size_t id, const BasisProgress& end, std::span<const float> found) {
    if (end.state == BasisState::rank_too_high) return left_.push_back(id);
    auto& values = out_.values[id];
    values.assign(shorter_side(block(id)), std::numeric_limits<float>::quiet_NaN());
    if (end.state == BasisState::complete) {
      const auto rank = std::min(static_cast<std::size_t>(end.rank), values.size());
      std::copy_n(found.begin(), rank, values.begin());
      const auto bound =
          rank < values.size()
              ? static_cast<float>(std::sqrt(end.left / static_cast<double>(values.size() - rank)))
              : 0.0f;
      std::fill(values.begin() + static_cast<std::ptrdiff_t>(rank), values.end(), bound);
      std::ranges::sort(values, std::greater{});
      if (bound > 0)
        out_.resolved[id] =
            std::ranges::count_if(values, [bound](float sigma) { return sigma > bound; });
    }
    settle(id);
  }

  void leave_to_cpu() {
    if (left_.empty()) return;
    std::ranges::stable_sort(left_);  // the largest first again
    std::vector<MatrixView> views;
    for (const std::size_t id : left_) views.push_back(block(id));
    Run rest = run_.part(settled_ / total_, 1);
    Spectra spectra = cpu_.singular_values(views, rest);
    for (std::size_t b = 0; b < left_.size(); ++b) {
      out_.values[left_[b]] = std::move(spectra.values[b]);
      out_.resolved[left_[b]] = spectra.resolved[b];
    }
    out_.left_to_cpu = std::ssize(left_);
  }

  const std::span<const MatrixView> blocks_;
  const Device& device_;
  const Backend& cpu_;
  Run& run_;
  Spectra out_;
  std::vector<std::size_t> left_;
  double total_ = 0, settled_ = 0;
};

}  // namespace

Spectra singular_values(std::span<const MatrixView> blocks, const Device& device,
                        const Backend& cpu, Run& run) {
  return Decomposition(blocks, device, cpu, run).run();
}

}  // namespace fovea::cuda
