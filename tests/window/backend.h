// A CpuLike computes as the CPU does; tests derive from it what goes wrong.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/backends.h"

namespace fovea::test {

class CpuLike : public Backend {
 public:
  std::string id() const override { return cpu_->id(); }
  std::string device() const override { return cpu_->device(); }
  std::string precision() const override { return cpu_->precision(); }
  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& problem,
                                 Run& run) const override {
    return cpu_->bind(std::move(plan), problem, run);
  }
  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    return cpu_->lsh_buckets(x, directions, run);
  }
  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    return cpu_->route(x, tree, run);
  }
  Matrix product(MatrixView a, MatrixView b, Run& run) const override {
    return cpu_->product(a, b, run);
  }
  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t count,
                                         Run& run) const override {
    return cpu_->stable_order(keys, count, run);
  }
  Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const override {
    return cpu_->singular_values(blocks, run);
  }

 private:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend({.threads = 1});
};

/// An operator that does something else before each call, and has no rows.
class Wrapped : public Operator {
 public:
  Wrapped(std::unique_ptr<Operator> inner, std::function<void()> before_apply,
          std::function<void()> before_tile)
      : Operator(inner->shared_plan(), inner->problem()),
        inner_(std::move(inner)),
        before_apply_(std::move(before_apply)),
        before_tile_(std::move(before_tile)) {}

 private:
  Output do_apply(MatrixView v, Run& run) const override {
    before_apply_();
    return inner_->apply(v, run);
  }
  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    before_tile_();
    return inner_->tile(rows, cols, pool, run);
  }
  std::unique_ptr<Operator> inner_;
  std::function<void()> before_apply_, before_tile_;
};

}  // namespace fovea::test
