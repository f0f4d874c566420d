// Prints how near exact attention comes to the best matrix product of this machine, and how near
// block-sparse attention comes to exact:  bench_peak [--rounds N] [--n N] [--d D] [--isa NAME]
// [--threads N] [--sparse]
// Not a test. Rates are by the processor time of the process, so that they are right on a shared
// machine too, and what is compared takes turns.
#include <time.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include "backend/backends.h"
#include "bench/peer_sgemm.h"
#include "cli/bench/measurement.h"
#include "report/text_table.h"
#include "session/session.h"

using namespace fovea;
using fovea::bench::PeerSgemm;

namespace {

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Something to measure: its number of multiply-adds and how it is run.
struct Subject {
  std::string name;
  double multiply_adds = 0;
  std::function<void()> run;
  std::vector<double> rates;  // GFLOP/s of one core
};

/// Every subject in turn, round after round; the first round is not counted.
void take_turns(std::vector<Subject>& subjects, int rounds) {
  for (int round = 0; round <= rounds; ++round)
    for (Subject& subject : subjects) {
      const double start = processor_seconds();
      subject.run();
      const double took = processor_seconds() - start;
      if (round > 0) subject.rates.push_back(2e-9 * subject.multiply_adds / took);
    }
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Median of the ratios of a round.
double ratio(const Subject& a, const Subject& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.rates.size(); ++i) ratios.push_back(a.rates[i] / b.rates[i]);
  return median(ratios);
}

/// A variant bound to a problem, ready to be applied.
class Bound {
 public:
  Bound(const std::string& id, const Problem& problem, const Backend& backend) : problem_(problem) {
    Profile profile;
    Run run{profile};
    const Structure derive_all;
    Planning planning{backend, run, 0, derive_all};
    const Variant& variant = find_variant(id);
    auto plan = std::make_shared<Plan>(
        variant.plan(problem, values_for_length(variant, problem.n()), planning));
    plan->planning_multiply_adds = 0;
    multiply_adds_ = count_cost(*plan, problem.d(), problem.dv()).multiply_adds;
    operator_ = backend.bind(std::move(plan), problem, run);
  }

  double multiply_adds() const { return multiply_adds_; }
  void apply() const {
    Profile profile;
    Run run{profile};
    operator_->apply(problem_.v, run);
  }

 private:
  Problem problem_;
  std::unique_ptr<Operator> operator_;
  double multiply_adds_ = 0;
};

struct Options {
  int rounds = 9;
  std::vector<Index> lengths{4096, 16384, 32768}, widths{64, 128};
  std::vector<std::string> isas{"avx2", "avx512"};
  std::vector<int> threads{1, 2};
  bool sparse = false;
};

/// The products that attention is made of, and a square one.
class Products {
 public:
  Products(const PeerSgemm& peer, Index n, Index d, int threads)
      : peer_(peer), workers_(threads), a_(size, 0.5f), b_(size, 0.25f), c_(size) {
    const Index rows = std::min<Index>(n, 2048);
    shapes_ = {
        {"square", {side, side, side}}, {"QK'", {rows, rows, d, true}}, {"SV", {rows, d, rows}}};
  }
  void add_to(std::vector<Subject>& subjects) {
    for (const auto& of : shapes_) {
      const auto multiply = [this, &shape = of.second] {
        peer_.multiply(shape, a_.data(), b_.data(), c_.data(), workers_);
      };
      subjects.push_back({of.first, of.second.multiply_adds(), multiply, {}});
    }
  }

 private:
  static constexpr Index side = 2048;
  static constexpr std::size_t size = side * side;

  const PeerSgemm& peer_;
  Workers workers_;
  std::vector<std::pair<std::string, PeerSgemm::Shape>> shapes_;
  std::vector<float> a_, b_, c_;
};

void compare_with_peer(const Options& options, const PeerSgemm& peer, Index n, Index d, int threads,
                       TextTable& table) {
  const auto problem = random_heads(n, d, 1, false, 0).front();
  std::vector<Subject> subjects;
  Products products(peer, n, d, threads);
  products.add_to(subjects);
  std::vector<Bound> bound;
  bound.reserve(options.isas.size());
  for (const std::string& isa : options.isas) {
    bound.emplace_back("exact", problem, *make_cpu_backend({.threads = threads, .isa = isa}));
    subjects.push_back({isa, bound.back().multiply_adds(), [&b = bound.back()] { b.apply(); }, {}});
  }
  take_turns(subjects, options.rounds);
  std::vector<std::string> row{std::to_string(n), std::to_string(d), std::to_string(threads)};
  for (const Subject& s : subjects) row.push_back(format_plain(median(s.rates)));
  for (std::size_t i = 3; i < subjects.size(); ++i)
    row.push_back(format_plain(ratio(subjects[i], subjects[0])));
  table.rows.push_back(row);
}

void compare_sparse(const Options& options, Index n, Index d, int threads, const std::string& isa,
                    TextTable& table) {
  const auto backend = make_cpu_backend({.threads = threads, .isa = isa});
  std::vector<Subject> subjects;
  std::vector<Bound> bound;
  bound.reserve(16);
  for (const char* id : {"exact", "fixed", "strided", "tf", "hyper"})
    for (const bool causal : {false, true}) {
      bound.emplace_back(id, random_heads(n, d, 1, causal, 0).front(), *backend);
      subjects.push_back({std::string(id) + (causal ? ", causal" : ""),
                          bound.back().multiply_adds(),
                          [&b = bound.back()] { b.apply(); },
                          {}});
    }
  take_turns(subjects, options.rounds);
  for (const Subject& s : subjects)
    table.rows.push_back({std::to_string(n), std::to_string(d), std::to_string(threads), isa,
                          s.name, format_plain(median(s.rates)),
                          format_plain(ratio(s, subjects.front()))});
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--sparse") {
      options.sparse = true;
      continue;
    }
    if (i + 1 == argc) throw UsageError(name + "; expected a value");
    const std::string value = argv[++i];
    if (name == "--isa")
      options.isas = {value};
    else if (name == "--rounds")
      options.rounds = std::max(1, std::stoi(value));
    else if (name == "--n")
      options.lengths = {std::stol(value)};
    else if (name == "--d")
      options.widths = {std::stol(value)};
    else if (name == "--threads")
      options.threads = {std::stoi(value)};
    else
      throw UsageError("unknown option " + name);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.sparse) {
    TextTable table{{"n", "d", "threads", "<isa", "<variant", "GFLOP/s a core", "of exact"}, {}};
    for (const Index d : options.widths)
      for (const int threads : options.threads)
        for (const std::string& isa : options.isas)
          compare_sparse(options, options.lengths.back(), d, threads, isa, table);
    print(std::cout, table);
    return 0;
  }
  const auto peer = PeerSgemm::load();
  if (!peer) {
    std::cout << "libopenblas.so.0 is not installed\n";
    return 0;
  }
  TextTable table{{"n", "d", "threads", "square", "QK'", "SV"}, {}};
  for (const std::string& isa : options.isas) table.header.push_back(isa);
  for (const std::string& isa : options.isas) table.header.push_back(isa + "/square");
  std::cout << "OpenBLAS for " << peer->kernels() << "; GFLOP/s of one core\n\n";
  for (const Index n : options.lengths)
    for (const Index d : options.widths)
      for (const int threads : options.threads)
        compare_with_peer(options, *peer, n, d, threads, table);
  print(std::cout, table);
}
