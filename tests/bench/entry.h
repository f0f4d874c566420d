// An Entry is a contender that is bound to heads: its errors are found, and its runs are timed.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "bench/contenders.h"
#include "bench/sampled_rows.h"

namespace fovea::bench {

/// Times of one run, in ms.
struct Times {
  double kernels = 0;                    // by events on the device, without transfers
  double late = 0;                       // of those, stages that may hold time of the host
  std::map<std::string, double> stages;  // transfers too
  std::string kernel;                    // what it was done by, with a head start; "mma"
};

/// From Q, K and V in the memory of the host to Z in it, in ms: wall-clock time, and what its parts
/// say of themselves.
struct EndToEnd {
  double total = 0;                      // of planning, binding and the run
  std::map<std::string, double> stages;  // "plan", "plan: hash", ..., "bind", ..., "run", ...
};

/// Errors on random and on peaked logits, which are found before anything is timed.
struct Gate {
  RowErrors random, peaked;
  bool passed() const { return accurate(random) && accurate(peaked); }
  /// "error 3e-3, of the plain formula 1e-3, on peaked logits"; empty if it has passed.
  std::string reason() const;
};

/// Times of the stages of a run.
Times times_of(const Profile& profile);

/// Throws UnavailableError where another kernel has run than `expected`, one of which was asked
/// for, or one timed out. Without a head start the kernel is not known, and nothing is thrown.
void require_kernel(const Times& times, const std::vector<std::string>& expected);

/// A head with logits of 16 times the standard deviation.
Problem peaked(const Problem& head);

class Entry {
 public:
  /// Heads of one shape, and all of them as one problem (side_by_side.h), which outlive the entry.
  /// Plans and binds. Throws Error where the contender does not run on the device.
  Entry(const Backend& backend, Contender contender, const std::vector<Problem>& heads,
        const Problem& together);

  const Operator& bound() const { return *operator_; }

  /// `z`: receives the output. Throws as require_kernel.
  Times run(Output* z = nullptr) const;
  /// Over `rows` rows of the heads, and of the first of them when it is peaked.
  Gate gate(int rows) const;

  /// Plans, binds and runs, with transfers. Heads are planned one after the other; putting their
  /// plans side by side is the benchmark's own doing and not counted. The stage "again" is the
  /// total of a second time, with the tensors on the device.
  EndToEnd end_to_end() const;

 private:
  std::unique_ptr<Operator> plan_and_bind(const std::vector<Problem>& heads,
                                          const Problem& together, EndToEnd& took) const;
  RowErrors errors(int rows) const;

  const Backend& backend_;
  const Contender contender_;
  const std::vector<Problem>& heads_;
  const Problem& together_;
  const std::vector<std::string> kernels_;
  std::unique_ptr<Operator> operator_;
};

}  // namespace fovea::bench
