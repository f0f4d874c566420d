// The benchmark of the kernels; options.h has its options.
// What is not accurate, on random and on peaked logits, is not timed. The contenders of a group
// (length, heads, mask) take turns, round after round, so that the device is in the same state for
// all of them. The file is written whenever there is something new, first after one run of each
// contender, so that little is lost when the time is up. Times of kernels are those of events on
// the device, without the time of launching (device/head_start.h); all heads are in one launch. End
// to end is from Q, K and V in the memory of the host to Z in it, with the stages of planning,
// binding and the run. FOVEA_COMMIT and FOVEA_DRIVER name the commit and the driver.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <thread>

#include "analysis/cost.h"
#include "backend/backends.h"
#include "bench/bandwidth.h"
#include "bench/contenders.h"
#include "bench/entry.h"
#include "bench/figures.h"
#include "bench/map_errors.h"
#include "bench/options.h"
#include "bench/side_by_side.h"
#include "data/draw_purpose.h"
#include "data/random.h"
#include "device/head_start.h"

using namespace fovea;
using namespace fovea::bench;

namespace {

constexpr int fewest_rounds = 5;         // where the spread ends them
constexpr double beyond_caches = 128e6;  // bytes between two uses of an input

using Clock = std::chrono::steady_clock;

// ---- Heads and operators ---------------------------------------------------------------------

/// What contenders that take turns have in common.
struct Group {
  Index n = 0, heads = 0, d = 0;
  bool causal = false;
};

/// Independent standard normal heads. (Zeros would run faster.)
std::vector<Problem> random_heads(const Group& group, std::uint64_t seed) {
  std::vector<Problem> out(static_cast<std::size_t>(group.heads));
  std::vector<std::jthread> makers;
  for (Index h = 0; h < group.heads; ++h)
    makers.emplace_back([&out, &group, seed, h] {
      Random random(seed, stream_of(DrawPurpose{0xbe7c5}, h));
      const auto gaussian = [&] {
        Matrix m(group.n, group.d);
        for (Index i = 0; i < m.rows(); ++i)
          for (Index c = 0; c < m.cols(); ++c) m(i, c) = static_cast<float>(random.normal());
        return m;
      };
      Matrix q = gaussian(), k = gaussian(), v = gaussian();
      out[static_cast<std::size_t>(h)] =
          make_problem(std::move(q), std::move(k), std::move(v), 0, group.causal, h);
    });
  makers.clear();
  return out;
}

/// A contender with its entries, one for each set of inputs, and what was measured of it.
struct Entrant {
  Contender contender;
  std::vector<std::unique_ptr<const Entry>> entries = {};
  std::vector<double> kernels = {}, end_to_end = {};
  double late = 0;  // the largest share of a run
  std::map<std::string, std::vector<double>> stages = {}, end_to_end_stages = {};
  std::string kernel = {};
  Gate gate = {};
  bool left_out =
      false;  // not on this device, not in its memory, not accurate, or by another kernel

  void record(const Times& times) {
    kernels.push_back(times.kernels);
    kernel = times.kernel;
    if (times.kernels > 0) late = std::max(late, times.late / times.kernels);
    for (const auto& [name, milliseconds] : times.stages) stages[name].push_back(milliseconds);
  }
  void record(const EndToEnd& took) {
    end_to_end.push_back(took.total);
    for (const auto& [name, milliseconds] : took.stages)
      end_to_end_stages[name].push_back(milliseconds);
  }
  void forget_times() {
    kernels.clear();
    stages.clear();
    late = 0;
  }
};

/// One more set of inputs.
struct Inputs {
  std::vector<Problem> heads;
  Problem together;
};

// ---- Groups ----------------------------------------------------------------------------------

class Bench {
 public:
  using Save = std::function<void(const std::vector<Figure>&, const std::vector<Refused>&)>;

  /// `save` is called with all figures whenever there is a new one.
  Bench(const Options& options, Save save)
      : options_(options), save_(std::move(save)), start_(Clock::now()) {
    std::string why_not;
    for (const std::string& precision : wanted_precisions()) {
      backends_[precision] = make_cuda_backend({.precision = precision}, &why_not);
      if (backends_[precision]) continue;
      std::cerr << "left out: " << precision << ": " << why_not << "\n";
    }
    if (std::ranges::none_of(backends_, [](const auto& each) { return each.second != nullptr; }))
      throw UnavailableError(why_not);
  }

  void run() {
    const auto wanted = [&](const char* part) {
      return options_.only.empty() || options_.only == part;
    };
    if (wanted("attention")) measure_groups();
    if (wanted("maps"))
      for (const std::string& precision : wanted_precisions())
        measure_maps({*std::ranges::max_element(options_.lengths), 1, options_.widths.front()},
                     precision);
    save_(figures_, refused_);
  }

  const std::vector<Figure>& figures() const { return figures_; }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  void measure_groups() {
    std::vector<Group> groups;
    for (const Index d : options_.widths)
      for (const Index heads : options_.heads)
        for (const Index n : options_.lengths)
          for (const bool causal : options_.masks) groups.push_back({n, heads, d, causal});
    auto left = static_cast<double>(groups.size());
    for (const Group& group : groups) measure_group(group, (options_.seconds - elapsed()) / left--);
  }

  void measure_group(const Group& group, double seconds) {
    const double until = elapsed() + seconds;
    std::vector<Contender> list = contenders(group.n, group.causal);
    std::erase_if(list, [&](const Contender& c) { return !options_.wants(c.id, c.precision); });
    if (list.empty()) throw UsageError("there is no contender of these names and precisions");
    const double set_bytes = 16.0 * static_cast<double>(group.n * group.heads * group.d);
    const int sets = static_cast<int>(
        std::clamp(std::ceil(beyond_caches / (set_bytes * static_cast<double>(list.size()))), 1.0,
                   options_.sets));
    std::deque<Inputs> inputs;  // entries refer to them
    for (int set = 0; set < sets; ++set) {
      auto problems = random_heads(group, static_cast<std::uint64_t>(set));
      Problem together = side_by_side(problems);
      inputs.push_back({std::move(problems), std::move(together)});
    }
    const std::vector<Figure> before = figures_;
    std::vector<Entrant> entrants;
    const auto update_figures = [&] {
      figures_ = before;
      add_figures(entrants, group);
      save_(figures_, refused_);
    };
    for (const Contender& c : list) {
      Entrant entrant{c};
      for (const Inputs& each : inputs) enter(entrant, each);
      if (entrant.left_out) continue;
      entrants.push_back(std::move(entrant));
      unless_refused(entrants.back(), inputs.front(),
                     [](Entrant& e) { e.record(e.entries.front()->run()); });
      update_figures();
    }
    for (Entrant& entrant : entrants) entrant.forget_times();  // not taken in turn
    int rounds = 0;
    const auto settled = [&] {
      return std::ranges::all_of(entrants,
                                 [&](const Entrant& e) { return e.left_out || is_settled(e); });
    };
    for (; goes_on(rounds, until - seconds / 2) && !settled(); ++rounds)
      for (Entrant& entrant : entrants)
        unless_refused(entrant, inputs.front(), [&](Entrant& e) {
          e.record(e.entries[static_cast<std::size_t>(rounds % sets)]->run());
        });
    update_figures();
    measure_end_to_end(entrants, inputs.front(), until, update_figures);
    std::cerr << "n = " << group.n << ", " << group.heads << " heads, d = " << group.d
              << (group.causal ? ", causal" : "") << ": " << rounds << " rounds, " << elapsed()
              << " s\n";
  }

  std::vector<std::string> wanted_precisions() const {
    return options_.precisions.empty() ? precisions() : options_.precisions;
  }

  bool goes_on(int rounds, double until) const {
    return rounds < options_.rounds && (rounds < 3 || elapsed() < until);
  }

  // Whether its times spread as little as was asked for.
  bool is_settled(const Entrant& e) const {
    return options_.spread > 0 && std::ssize(e.kernels) >= fewest_rounds &&
           relative_spread(e.kernels) <= options_.spread;
  }

  // In turn, once each, and again those that will be done in time.
  void measure_end_to_end(std::vector<Entrant>& entrants, const Inputs& inputs, double until,
                          const std::function<void()>& update_figures) {
    const int most =
        options_.spread > 0 ? std::min(fewest_rounds, options_.rounds) : options_.rounds;
    for (int sample = 0; sample < most; ++sample)
      for (Entrant& entrant : entrants) {
        std::vector<double>& took = entrant.end_to_end;
        if (entrant.left_out) continue;
        if (sample > 0 && elapsed() + took.back() / 1000 > until) continue;
        unless_refused(entrant, inputs, [&](Entrant& e) {
          e.record(e.entries[took.size() % e.entries.size()]->end_to_end());
        });
        if (sample == 0) update_figures();
      }
    update_figures();
  }

  // Binds one more set of inputs; the first also warms up and is held against float64. A lost
  // device ends the program.
  void enter(Entrant& entrant, const Inputs& inputs) {
    const Contender& c = entrant.contender;
    entrant.left_out |= !backends_[c.precision];
    if (entrant.left_out) return;
    std::string reason;
    try {
      auto entry =
          std::make_unique<const Entry>(*backends_[c.precision], c, inputs.heads, inputs.together);
      if (entrant.entries.empty()) {
        entrant.gate = entry->gate(sampled_rows);
        reason = entrant.gate.reason();
      }
      entrant.entries.push_back(std::move(entry));
    } catch (const DeviceLostError&) {
      throw;
    } catch (const std::exception& error) {
      reason = error.what();
    }
    if (!reason.empty()) refuse(entrant, inputs, reason);
  }

  void refuse(Entrant& entrant, const Inputs& inputs, const std::string& reason) {
    const Contender& c = entrant.contender;
    entrant.left_out = true;
    entrant.entries.clear();
    const Problem& head = inputs.heads.front();
    refused_.push_back(
        {c.id, c.precision, head.n(), std::ssize(inputs.heads), head.causal, reason});
    std::cerr << "left out: " << c.id << ", " << c.precision << ", n = " << head.n() << ": "
              << reason << "\n";
  }

  // Measures, unless the entrant is refused now or was before. A lost device
  // ends the program.
  template <class Measure>
  void unless_refused(Entrant& entrant, const Inputs& inputs, Measure measure) {
    if (entrant.left_out) return;
    try {
      measure(entrant);
    } catch (const DeviceLostError&) {
      throw;
    } catch (const UnavailableError& error) {
      refuse(entrant, inputs, error.what());
    }
  }

  Figure figure_of(const Entrant& entrant, const Group& group) const {
    Figure f{.what = entrant.contender.id,
             .precision = entrant.contender.precision,
             .settings = describe(entrant.contender),
             .kernel = entrant.kernel,
             .note = {},
             .n = group.n,
             .heads = group.heads,
             .d = group.d,
             .causal = group.causal,
             .kernel_ms = spread_of(entrant.kernels),
             .end_to_end_ms = spread_of(entrant.end_to_end)};
    for (const auto& [name, samples] : entrant.stages) f.stages[name] = spread_of(samples);
    for (const auto& [name, samples] : entrant.end_to_end_stages)
      f.end_to_end_stages[name] = spread_of(samples);
    f.floor_ms = floor_of(f.what, f.precision, f.causal, f.n, f.heads, f.d);
    f.error = entrant.gate.random;
    f.error_peaked = entrant.gate.peaked;
    if (f.kernel_ms.samples < 30) f.note = "fewer than 30 samples";
    if (entrant.late > 0.01)
      f.note +=
          std::string(f.note.empty() ? "" : "; ") + "launches came late: holds time of the host";
    return f;
  }

  void add_figures(const std::vector<Entrant>& entrants, const Group& group) {
    for (const Entrant& entrant : entrants) {
      if (entrant.left_out) continue;
      const auto exact = std::ranges::find_if(entrants, [&](const Entrant& e) {
        return !e.left_out && e.contender.id == "exact" &&
               e.contender.precision == entrant.contender.precision;
      });
      add_figure(entrant, exact == entrants.end() ? nullptr : &*exact, group);
    }
  }

  void add_figure(const Entrant& entrant, const Entrant* exact, const Group& group) {
    Figure f = figure_of(entrant, group);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < entrant.kernels.size() && exact && exact != &entrant; ++i)
      ratios.push_back(exact->kernels[i] / entrant.kernels[i]);
    f.speed_up = spread_of(ratios);
    f.multiply_adds =
        count_cost(entrant.entries.front()->bound().plan(), group.d, group.d).multiply_adds;
    figures_.push_back(std::move(f));
  }

  // One head: Z alone, then with the maps of maxima and of means from the same pass, in turn.
  void measure_maps(const Group& group, const std::string& precision) {
    Inputs inputs{random_heads(group, 0), {}};
    const Problem& head = inputs.together = inputs.heads.front();
    Entrant z{{"exact", precision, {}}}, maps{{"maps", precision, {}}};
    enter(z, inputs);
    if (z.left_out) return;
    const Entry& entry = *z.entries.front();
    const Index pixel = (group.n + 1023) / 1024;
    const double until = elapsed() + std::max(5.0, options_.seconds / 10);
    unless_refused(maps, inputs, [&](Entrant& e) {
      const std::vector<Problem> sharp{peaked(head)};
      const Entry sharp_entry(*backends_[precision], z.contender, sharp, sharp.front());
      e.gate = {map_errors(entry, head, pixel, e),
                map_errors(sharp_entry, sharp.front(), pixel, e)};
    });
    if (maps.left_out) return;
    if (!maps.gate.passed()) return refuse(maps, inputs, maps.gate.reason());
    maps.forget_times();
    for (int round = 0; goes_on(round, until) && !is_settled(maps); ++round)
      unless_refused(maps, inputs, [&](Entrant& e) {
        z.record(entry.run());
        maps_of(entry, head, pixel, e);
      });
    if (maps.left_out) return;
    Figure f = figure_of(maps, group);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < z.kernels.size(); ++i)
      ratios.push_back(z.kernels[i] / maps.kernels[i]);
    f.speed_up = spread_of(ratios);
    f.note +=
        std::string(f.note.empty() ? "" : "; ") +
        "Z and, of the same logits, the maps of maxima and of means over squares of " +
        std::to_string(pixel) +
        " tokens; the speed-up is over Z alone, the errors are of the map that is less accurate";
    figures_.push_back(std::move(f));
    save_(figures_, refused_);
  }

  static RowsOutput maps_of(const Entry& entry, const Problem& head, Index pixel, Entrant& maps) {
    Profile profile;
    Run run{profile};
    RowsOutput found = entry.bound().apply_rows(head.v, {0, head.n()}, pixel, run);
    const Times times = times_of(profile);
    require_kernel(times, kernels_for("maps", maps.contender.precision,
                                      find_cuda_device(nullptr).value().wgmma));
    maps.record(times);
    return found;
  }

  static RowErrors map_errors(const Entry& entry, const Problem& head, Index pixel, Entrant& maps) {
    const int rows = std::max(4, static_cast<int>(sampled_rows / pixel));  // of pixels
    return map_errors_of(head, maps_of(entry, head, pixel, maps), pixel, rows,
                         maps.contender.precision)
        .worse();
  }

  const Options options_;
  const Save save_;
  const Clock::time_point start_;
  std::map<std::string, std::unique_ptr<Backend>> backends_;
  std::vector<Figure> figures_;
  std::vector<Refused> refused_;
};

// ---- The program -----------------------------------------------------------------------------

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
  const Options options = options_from(argc, argv);
  cuda::set_head_start(options.head_start);
  std::string device;
  std::map<std::string, double> transfers;
  Bench bench(
      options, [&](const std::vector<Figure>& figures, const std::vector<Refused>& refused) {
        if (options.out.empty()) return;
        const std::string unfinished = options.out + ".new";  // a program may end at any time
        std::ofstream out(unfinished);
        out << to_json(
            {environment("FOVEA_COMMIT"), today(), device, environment("FOVEA_DRIVER"), transfers},
            figures, refused);
        out.close();
        if (!out) throw InputError(unfinished, "cannot be written");
        std::filesystem::rename(unfinished, options.out);
      });
  device = find_cuda_device(nullptr).value().name;
  transfers = bandwidths();
  bench.run();
  std::cout << device << "\n" << to_table(bench.figures());
} catch (const UnavailableError& error) {
  std::cerr << error.what() << "\n";
  return 77;
} catch (const std::exception& error) {
  std::cerr << "bench_kernels: " << error.what() << "\n";
  return 1;
}
