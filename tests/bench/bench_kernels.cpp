// The kernels' benchmark:
//   bench_kernels [--out FILE] [--seconds S] [--lengths N,N..] [--heads H,H..] [--rounds R]
//                 [--only attention|maps|peaked]
// The contenders of a group (length, heads, mask) take turns, round after round, so that the device
// is in the same state for all of them. Times are those of events on the device, of kernels only;
// all heads are in one launch. FOVEA_COMMIT and FOVEA_DRIVER name the commit and the driver.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iostream>
#include <sstream>
#include <thread>

#include "analysis/cost.h"
#include "bench/contenders.h"
#include "bench/figures.h"
#include "bench/map_errors.h"
#include "bench/side_by_side.h"
#include "data/random.h"
#include "device/device_operator.h"
#include "variants/variant.h"

using namespace fovea;
using namespace fovea::bench;

namespace {

constexpr int sampled_rows = 16, sampled_map_rows = 2;
constexpr double beyond_caches = 128e6;  // bytes between two uses of an input

using Clock = std::chrono::steady_clock;

struct Options {
  std::string out;
  double seconds = 150;
  int rounds = 30;
  std::string only;  // empty: everything
  std::vector<Index> lengths{131072, 4096, 16384, 65536}, heads{12, 1};
};

// ---- Heads and operators ---------------------------------------------------------------------

/// Independent standard normal heads. (Zeros would run faster.)
std::vector<Problem> random_heads(Index n, Index heads, bool causal, std::uint64_t seed) {
  std::vector<Problem> out(static_cast<std::size_t>(heads));
  std::vector<std::jthread> makers;
  for (Index h = 0; h < heads; ++h)
    makers.emplace_back([&out, n, causal, seed, h] {
      Random random(seed, stream_of(0xbe7c5, h));
      const auto gaussian = [&] {
        Matrix m(n, d);
        for (Index i = 0; i < n; ++i)
          for (Index c = 0; c < d; ++c) m(i, c) = static_cast<float>(random.normal());
        return m;
      };
      Matrix q = gaussian(), k = gaussian(), v = gaussian();
      out[static_cast<std::size_t>(h)] =
          make_problem(std::move(q), std::move(k), std::move(v), 0, causal, h);
    });
  makers.clear();
  return out;
}

std::unique_ptr<Operator> plan_and_bind(const Backend& backend, const Contender& c,
                                        const std::vector<Problem>& heads,
                                        const Problem& together) {
  const Variant& variant = find_variant(c.id);
  Values values = defaults(variant.schema);
  for (const auto& [id, text] : c.settings) set_value(variant.schema, values, id, text);
  Profile profile;
  Run run{profile};
  const Structure derive_all;
  std::vector<Plan> plans;
  for (const Problem& head : heads) {
    Planning planning{backend, run, 0, derive_all};
    plans.push_back(variant.plan(head, values, planning));
  }
  return backend.bind(std::make_shared<const Plan>(side_by_side(plans)), together, run);
}

bool moves_data(const std::string& stage) {
  return stage == "upload" || stage == "download" || stage == "flatten";
}

double device_ms(const Profile& profile) {
  double sum = 0;
  for (const StageTime& stage : profile.stages())
    if (!moves_data(stage.name)) sum += stage.milliseconds;
  return sum;
}

/// A contender with its operators, one for each set of inputs, and what was measured of it.
struct Entrant {
  Contender contender;
  std::vector<std::unique_ptr<Operator>> operators = {};
  std::vector<double> device = {};
  std::map<std::string, std::vector<double>> stages = {};
  RowErrors error = {};
  bool left_out = false;  // not on this device, or not in its memory

  void record(const Profile& profile) {
    device.push_back(device_ms(profile));
    for (const StageTime& stage : profile.stages())
      stages[stage.name].push_back(stage.milliseconds);
  }
};

// ---- Groups ----------------------------------------------------------------------------------

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), start_(Clock::now()) {
    for (const std::string& precision : precisions()) {
      std::string why_not;
      backends_[precision] = make_cuda_backend({.precision = precision}, &why_not);
      if (backends_[precision]) continue;
      if (precision == precisions().front()) throw UnavailableError(why_not);
      std::cerr << "left out: " << precision << ": " << why_not << "\n";
    }
  }

  /// Calls `after_group` with all figures so far, so that they are not lost when the time is up.
  template <class AfterGroup>
  std::vector<Figure> run(AfterGroup after_group) {
    const auto wanted = [&](const char* part) {
      return options_.only.empty() || options_.only == part;
    };
    if (wanted("attention")) measure_groups(after_group);
    if (wanted("maps"))
      for (const std::string& precision : precisions()) {
        measure_maps(*std::ranges::max_element(options_.lengths), precision);
        after_group(figures_);
      }
    if (wanted("peaked")) check_peaked(*std::ranges::min_element(options_.lengths));
    return std::move(figures_);
  }

  std::string device() const { return backends_.at(precisions().front())->device(); }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  template <class AfterGroup>
  void measure_groups(AfterGroup after_group) {
    double left_groups = 2.0 * static_cast<double>(options_.lengths.size() * options_.heads.size());
    for (const Index heads : options_.heads)
      for (const Index n : options_.lengths)
        for (const bool causal : {false, true}) {
          measure_group(n, heads, causal, (options_.seconds - elapsed()) / left_groups--);
          after_group(figures_);
        }
  }

  void measure_group(Index n, Index heads, bool causal, double seconds) {
    const double until = elapsed() + seconds;
    const std::vector<Contender> list = contenders(n, causal);
    const double set_bytes = 16.0 * static_cast<double>(n * heads * d);
    const int sets = static_cast<int>(std::clamp(
        std::ceil(beyond_caches / (set_bytes * static_cast<double>(list.size()))), 1.0, 16.0));
    std::vector<Entrant> entrants;
    for (const Contender& c : list) entrants.push_back({c});
    std::vector<Problem> inputs;
    for (int set = 0; set < sets; ++set) {
      const auto problems = random_heads(n, heads, causal, static_cast<std::uint64_t>(set));
      inputs.push_back(side_by_side(problems));
      for (Entrant& entrant : entrants) enter(entrant, problems, inputs.back());
    }
    std::erase_if(entrants, [](const Entrant& e) { return e.left_out; });
    int rounds = 0;
    for (; rounds < options_.rounds && (rounds < 3 || elapsed() < until); ++rounds)
      for (Entrant& entrant : entrants) run_once(entrant, inputs, rounds % sets);
    for (const Entrant& entrant : entrants) {
      const auto exact = std::ranges::find_if(entrants, [&](const Entrant& e) {
        return e.contender.id == "exact" && e.contender.precision == entrant.contender.precision;
      });
      add_figure(entrant, exact == entrants.end() ? nullptr : &*exact, n, heads, causal);
    }
    std::cerr << "n = " << n << ", " << heads << " heads" << (causal ? ", causal" : "") << ": "
              << rounds << " rounds, " << elapsed() << " s\n";
  }

  // Binds one more set of inputs; the first also warms up and is checked against float64.
  void enter(Entrant& entrant, const std::vector<Problem>& heads, const Problem& together) {
    const Contender& c = entrant.contender;
    entrant.left_out |= !backends_[c.precision];
    if (entrant.left_out) return;
    try {
      auto bound = plan_and_bind(*backends_[c.precision], c, heads, together);
      if (!dynamic_cast<const cuda::DeviceOperator*>(bound.get()))
        throw UnavailableError("does not run on the device");
      if (entrant.operators.empty()) {
        Profile profile;
        Run run{profile};
        const Output out = bound->apply(together.v, run);
        entrant.error = errors_of(bound->plan(), together, out.z, sampled_rows);
      }
      entrant.operators.push_back(std::move(bound));
    } catch (const Error& error) {
      entrant.left_out = true;
      entrant.operators.clear();
      std::cerr << "left out: " << c.id << ", " << c.precision << ", n = " << heads.front().n()
                << ": " << error.what() << "\n";
    }
  }

  static void run_once(Entrant& entrant, const std::vector<Problem>& inputs, int set) {
    Profile profile;
    Run run{profile};
    const auto at = static_cast<std::size_t>(set);
    entrant.operators[at]->apply(inputs[at].v, run);
    entrant.record(profile);
  }

  Figure figure_of(const Entrant& entrant, Index n, Index heads, bool causal) const {
    Figure f{.what = entrant.contender.id,
             .precision = entrant.contender.precision,
             .settings = describe(entrant.contender),
             .note = {},
             .n = n,
             .heads = heads,
             .d = d,
             .causal = causal,
             .device_ms = spread_of(entrant.device)};
    for (const auto& [name, samples] : entrant.stages) f.stages[name] = spread_of(samples);
    f.floor_ms = floor_of(f.what, f.precision, causal, n, heads);
    f.error = entrant.error;
    if (f.device_ms.samples < 30) f.note = "fewer than 30 samples";
    return f;
  }

  void add_figure(const Entrant& entrant, const Entrant* exact, Index n, Index heads, bool causal) {
    Figure f = figure_of(entrant, n, heads, causal);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < entrant.device.size() && exact && exact != &entrant; ++i)
      ratios.push_back(exact->device[i] / entrant.device[i]);
    f.speed_up = spread_of(ratios);
    f.multiply_adds = count_cost(entrant.operators.front()->plan(), d, d).multiply_adds;
    figures_.push_back(std::move(f));
  }

  // One head: Z alone, then with the maps of maxima and of means from the same pass, in turn.
  void measure_maps(Index n, const std::string& precision) {
    const auto heads = random_heads(n, 1, false, 0);
    const Problem& head = heads.front();
    Entrant z{{"exact", precision, {}}}, maps{{"maps", precision, {}}};
    enter(z, heads, head);
    if (z.operators.empty()) return;
    const Operator& op = *z.operators.front();
    const Index pixel = (n + 1023) / 1024;
    const double until = elapsed() + std::max(5.0, options_.seconds / 10);
    RowsOutput found;
    for (int round = 0; round < options_.rounds && (round < 3 || elapsed() < until); ++round) {
      run_once(z, heads, 0);
      Profile profile;
      Run run{profile};
      found = op.apply_rows(head.v, {0, n}, pixel, run);
      maps.record(profile);
    }
    const MapErrors errors = map_errors_of(head, found, pixel, sampled_map_rows);
    maps.error = errors.most.ours > errors.mean.ours ? errors.most : errors.mean;
    Figure f = figure_of(maps, n, 1, false);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < z.device.size(); ++i)
      ratios.push_back(z.device[i] / maps.device[i]);
    f.speed_up = spread_of(ratios);
    f.note += std::string(f.note.empty() ? "" : "; ") +
              "Z and, in fp32, the maps of maxima and of means over squares of " +
              std::to_string(pixel) +
              " tokens; the speed-up is over Z alone, the error the larger of the two maps'";
    figures_.push_back(std::move(f));
  }

  // Logits with a standard deviation of 16 instead of 1: only for the errors.
  void check_peaked(Index n) {
    const Problem head = random_heads(n, 1, false, 0).front();
    Matrix q = Matrix::copy_of(head.q);
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < d; ++c) q(i, c) *= 16;
    const Problem peaked =
        make_problem(std::move(q), Matrix::copy_of(head.k), Matrix::copy_of(head.v), head.scale);
    for (const std::string& precision : precisions()) {
      Entrant entrant{{"exact", precision, {}}};
      enter(entrant, {peaked}, peaked);
      if (entrant.left_out) continue;
      entrant.contender.id = "exact, peaked";
      Figure f = figure_of(entrant, n, 1, false);
      f.note = "error on peaked logits; not timed";
      figures_.push_back(std::move(f));
    }
  }

  const Options options_;
  const Clock::time_point start_;
  std::map<std::string, std::unique_ptr<Backend>> backends_;
  std::vector<Figure> figures_;
};

// ---- The program -----------------------------------------------------------------------------

std::vector<Index> numbers(const std::string& text) {
  std::vector<Index> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(std::stoll(part));
  return out;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw UsageError(name + " needs a value");
    const std::string value = argv[i + 1];
    if (name == "--out")
      options.out = value;
    else if (name == "--seconds")
      options.seconds = std::stod(value);
    else if (name == "--rounds")
      options.rounds = std::stoi(value);
    else if (name == "--lengths")
      options.lengths = numbers(value);
    else if (name == "--heads")
      options.heads = numbers(value);
    else if (name == "--only" && (value == "attention" || value == "maps" || value == "peaked"))
      options.only = value;
    else
      throw UsageError("unknown option " + name + " " + value);
  }
  return options;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "unknown";
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  Bench bench(options);
  const std::string device = bench.device();
  const auto save = [&](const std::vector<Figure>& figures) {
    if (options.out.empty()) return;
    std::ofstream out(options.out);
    out << to_json({environment("FOVEA_COMMIT"), today(), device, environment("FOVEA_DRIVER")},
                   figures);
    out.flush();
    if (!out) throw InputError(options.out, "cannot be written");
  };
  const std::vector<Figure> figures = bench.run(save);
  save(figures);
  std::cout << device << "\n" << to_table(figures);
} catch (const UnavailableError& error) {
  std::cerr << error.what() << "\n";
  return 77;
} catch (const std::exception& error) {
  std::cerr << "bench_kernels: " << error.what() << "\n";
  return 1;
}
