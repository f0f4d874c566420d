// fovea sweep: many heads, settings of variants and seeds from a plan file, by any number of
// processes at once.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "batch/item_queue.h"
#include "batch/item_runner.h"
#include "batch/results_trials.h"
#include "batch/table_refresh.h"
#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/checks.h"
#include "cli/options/command_line.h"
#include "cli/options/figure_names.h"
#include "cli/options/source_options.h"
#include "cli/reports/pareto_figure.h"
#include "data/error.h"
#include "data/number_text.h"
#include "data/text.h"
#include "data/utf8.h"
#include "figure/figure.h"
#include "input/painting.h"
#include "io/atomic_file.h"
#include "report/text_table.h"

namespace fovea {
namespace {

using SweepClock = std::chrono::steady_clock;

constexpr double sweep_told_every = 5;  // seconds
constexpr auto poll_every = std::chrono::milliseconds(200);
constexpr std::size_t shown_items = 5;
constexpr int some_failed = 5;  // exit status

struct SweepOptions {
  std::string plan, output, merge, shard = "1/1", plot, figure;
  bool dry_run = false, retry_failed = false, no_session = false;
};

double seconds_from(SweepClock::time_point start) {
  return std::chrono::duration<double>(SweepClock::now() - start).count();
}

std::string count_text(std::size_t count, const char* noun) {
  return plural(count, noun);
}

std::string time_left_text(double seconds) {
  if (seconds < 90) return std::to_string(static_cast<int>(seconds) + 1) + " s";
  if (seconds < 5400) return std::to_string(static_cast<int>(seconds / 60 + 0.5)) + " min";
  return format_plain(seconds / 3600) + " h";
}

/// Gives each rank of mpirun on this machine a share of the cores, unless the plan states threads.
int threads_of_rank(int planned) {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
    const char* text = std::getenv(name);
    const int ranks = text ? std::atoi(text) : 0;
    if (planned > 0 || ranks <= 1) continue;
    cpu_set_t mine;
    const int all = std::thread::hardware_concurrency();
    const int bound = ::sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : all;
    const int online = std::max(all, bound);
    return std::max(1, std::min(bound, online / ranks));
  }
  return planned;
}

/// Whether this is not mpirun's first rank, which speaks for all.
bool is_later_rank() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank && std::atoi(rank) > 0;
}

/// Reports the progress of the shard now and then.
class SweepProgress {
 public:
  SweepProgress(const ItemQueue& queue, std::ostream& err)
      : queue_(queue), err_(err), before_(queue.done()) {}

  void tell(bool now = false) {
    if (is_later_rank()) return;
    const double seconds = seconds_from(start_);
    if (!now && seconds - told_ < sweep_told_every) return;
    told_ = seconds;
    std::string text = std::to_string(queue_.done()) + " of " + count_text(queue_.total(), "item");
    if (queue_.failed() > 0) text += ", " + std::to_string(queue_.failed()) + " failed";
    const std::size_t left = queue_.total() - queue_.done(), made = queue_.done() - before_;
    if (left > 0 && made > 0)
      text += ", about " +
              time_left_text(seconds * static_cast<double>(left) / static_cast<double>(made)) +
              " left";
    err_ << text + '\n' << std::flush;
  }

 private:
  const ItemQueue& queue_;
  std::ostream& err_;
  std::size_t before_;
  SweepClock::time_point start_ = SweepClock::now();
  double told_ = 0;
};

/// Throws UnavailableError if this machine lacks the back end or the precision of the plan. If the
/// plan is only checked and needs a GPU, prints a note instead and returns null: another machine
/// may have one.
std::unique_ptr<Backend> backend_of(const BatchPlan& plan, bool only_checked, std::ostream& notes) {
  BackendChoice choice = plan.backend;
  choice.threads = threads_of_rank(choice.threads);
  choice.at_once = only_checked;
  try {
    return BackendOptions{choice}.make(notes);
  } catch (const UnavailableError& error) {
    const std::string text = plan.path + ": " + error.what();
    const bool on_gpu =
        choice.backend == "cuda" || (choice.backend == "auto" && choice.precision != "fp32");
    if (!only_checked || !on_gpu) throw UnavailableError(text);
    print_note(notes, text);
    return nullptr;
  }
}

void work_through(ItemQueue& queue, const BatchItems& items, const Backend& backend,
                  const Console& console) {
  ItemRunner runner(items, queue.folder().plan(), backend);
  SweepProgress progress(queue, console.err);
  TableRefresh table(queue.folder());
  if (queue.done() > 0) progress.tell(true);
  for (;;) {
    const auto item = queue.take();
    if (!item && queue.finished()) break;
    if (console.stop.stop_requested()) throw Cancelled();
    if (item)
      queue.put(runner.run(*item, console.stop));
    else
      std::this_thread::sleep_for(poll_every);
    progress.tell();
    table.refresh();
  }
  progress.tell(true);
}

struct PlotAxes {
  std::string x, y;

  Quantity cost(const std::vector<const Variant*>& tried) const {
    return cost_axis(x, tried, "--plot");
  }
  Quantity error() const { return measured_axis(y, "--plot"); }
};

/// Nothing if no figure is wanted.
std::optional<PlotAxes> axes_of(const SweepOptions& options) {
  if (options.plot.empty() != options.figure.empty())
    throw UsageError("--plot X:Y and --figure FILE belong together");
  if (options.plot.empty()) return std::nullopt;
  check_figure_name(options.figure, "--figure");
  const auto colon = options.plot.find(':');
  if (colon == std::string::npos)
    throw UsageError("--plot " + options.plot +
                     "; expected X:Y, such as multiply_adds:output_rel_fro");
  return PlotAxes{options.plot.substr(0, colon), options.plot.substr(colon + 1)};
}

/// Checks the axes before anything is computed.
void check_axes(const PlotAxes& axes, const BatchPlan& plan) {
  std::vector<const Variant*> planned;
  for (const PlannedVariant& variant : plan.variants) planned.push_back(variant.variant);
  const Quantity x = axes.cost(planned), y = axes.error();
  if ((x.is_timed() || y.is_timed()) && plan.rounds == 0)
    throw UsageError("--plot " + axes.x + ":" + axes.y + " needs times, and rounds is 0 in " +
                     plan.path);
}

void draw_results(const ResultsTable& table, const PlotAxes& axes, const SweepOptions& options,
                  const Console& console) {
  const std::vector<Trial> trials = trials_of(table);
  std::vector<const Variant*> tried;
  for (const Trial& trial : trials)
    if (std::ranges::find(tried, trial.variant) == tried.end()) tried.push_back(trial.variant);
  const Quantity x = axes.cost(tried), y = axes.error();
  const auto settings = drawable_settings(trials, x, y);
  const std::string where = options.no_session      ? ""
                            : options.merge.empty() ? options.output
                                                    : options.merge;
  const Painting painting;
  Figure figure =
      pareto_figure(settings, x, y, named(where, count_text(table.rows().size(), "item")));
  if (!options.no_session) figure.recipe.command = command_line(console.words, options.figure);
  write_figure(options.figure, figure);
}

void print_results(const ResultsTable& table, const ResultsFolder& folder, std::ostream& out) {
  out << count_text(table.rows().size(), "result") << " in " << printable(folder.csv());
  if (table.failed() > 0) out << ", " << table.failed() << " of them failed";
  if (table.missing() > 0) out << "; " << count_text(table.missing(), "item") << " missing";
  out << '\n';
}

void print_items(const BatchItems& items, const Shard& shard, std::ostream& out) {
  std::vector<std::size_t> first;
  std::size_t count = 0, heads = 0;
  for (std::size_t h = 0; h < items.heads().size(); ++h) {
    const BatchHead& head = items.heads()[h];
    if (!shard.has(h)) continue;
    ++heads;
    count += head.items;
    for (std::size_t i = 0; i < head.items && first.size() < shown_items; ++i)
      first.push_back(head.first_item + i);
  }
  out << count_text(count, "item") << " on " << count_text(heads, "head") << '\n';
  for (const std::size_t item : first)
    out << "  " << item << ": " << printable(items.text_of(item)) << '\n';
  if (count > first.size()) out << "  ...\n";
}

void tell_sweep_left_out(const BatchItems& items, std::ostream& err) {
  const std::string ids = join(items.left_out(), &Variant::id);
  if (!ids.empty())
    print_note(err, "left out of causal heads, as they have no causal form: " + ids);
}

void run_merge(const SweepOptions& options, const Console& console) {
  const auto axes = axes_of(options);
  if (axes) require_writable(options.figure);
  ResultsFolder folder(options.merge);
  folder.open();
  const ResultsTable table = merge_results(folder);
  if (axes) draw_results(table, *axes, options, console);
  print_results(table, folder, console.out);
}

/// Whether the figure goes into the folder of the results, which may not be there yet.
bool is_in_results(const std::filesystem::path& figure, const std::filesystem::path& folder) {
  return std::filesystem::absolute(figure).lexically_normal().parent_path() ==
         std::filesystem::absolute(folder / "figure").lexically_normal().parent_path();
}

/// The folder has a plan.json of its own.
void refuse_folder_of_plan(const SweepOptions& options) {
  const auto kept = std::filesystem::path(options.output) / "plan.json";
  if (std::error_code unknown; std::filesystem::equivalent(kept, options.plan, unknown))
    throw UsageError("-o " + options.output + " is the folder of " + options.plan +
                     ", where results have a file plan.json of their own; choose another folder");
}

void run_plan(const SweepOptions& options, const Console& console) {
  const Shard shard = shard_from(options.shard);
  const auto axes = axes_of(options);
  BatchPlan plan = read_batch_plan(options.plan);
  if (axes) {
    check_axes(*axes, plan);
    std::vector<std::string> read = plan.sources;
    read.push_back(options.plan);
    refuse_to_replace("--figure", options.figure, Source{}, read);
  }
  if (axes && !is_in_results(options.figure, options.output)) require_writable(options.figure);
  if (!options.dry_run) refuse_folder_of_plan(options);
  const auto backend = backend_of(plan, options.dry_run, console.err);
  const BatchItems items(std::move(plan), console.stop);
  tell_sweep_left_out(items, console.err);
  if (options.dry_run) return print_items(items, shard, console.out);
  ResultsFolder folder(options.output);
  folder.prepare(items, console.stop);
  if (axes) require_writable(options.figure);
  ItemQueue queue(items, folder, shard, options.retry_failed);
  if (queue.unfinished_bytes() > 0)
    print_note(console.err, folder.path() + "/" + ResultsFolder::journal(shard) +
                                " ends with a row that was written only in part: its item is "
                                "computed again, and the next row replaces that part");
  if (!queue.has_locks())
    print_note(console.err,
               "this file system has no locks: let one process work here at a time, or give each a "
               "--shard");
  std::optional<ResultsTable> table;
  try {
    work_through(queue, items, *backend, console);
    table = queue.leave();
  } catch (const Cancelled&) {
    console.err << queue.done() << " of " << count_text(queue.total(), "item") << " are kept in "
                << printable(folder.path()) << ": the same command goes on\n";
    queue.leave();
    throw;
  } catch (const UnavailableError& error) {
    throw UnavailableError(error.what() + std::string("; results until now are kept in ") +
                           folder.path() + ": the same command goes on");
  }
  if (axes) draw_results(table ? *table : folder.read(), *axes, options, console);
  if (table)
    print_results(*table, folder, console.out);
  else if (!is_later_rank())
    console.out << "others still work in " << printable(folder.path())
                << ": the last one writes the table\n";
  if (queue.failed() > 0)
    throw Error(some_failed, std::to_string(queue.failed()) + " of " +
                                 count_text(queue.total(), "item") +
                                 " failed: see \"error\" in the results; --retry-failed computes "
                                 "them again");
}

void run_sweep(const SweepOptions& options, const Console& console) {
  if (!options.merge.empty()) return run_merge(options, console);
  if (options.plan.empty()) throw UsageError("PLAN.json is missing, or --merge FOLDER");
  if (options.output.empty() && !options.dry_run) throw UsageError("-o FOLDER is missing");
  run_plan(options, console);
}

}  // namespace

void add_sweep_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "sweep", "Heads, settings of variants and seeds of a plan file; can be stopped and goes on");
  auto options = std::make_shared<SweepOptions>();
  auto* plan = command
                   ->add_option("PLAN", options->plan,
                                "A .json file: sources, layers, heads, variants with lists of "
                                "values, seeds")
                   ->check(refuse_empty);
  auto* output = command
                     ->add_option("-o,--output", options->output,
                                  "The folder of the results: results.jsonl and results.csv. "
                                  "Items that are there already are not computed again; several "
                                  "processes may work in it at once")
                     ->type_name("FOLDER")
                     ->check(refuse_empty);
  command->add_flag("--dry-run", options->dry_run,
                    "Check the plan, say how many items it has and show the first");
  command
      ->add_option("--shard", options->shard,
                   "Only the I-th of N shares of the heads, I from 1 to N; into a file of its own")
      ->type_name("I/N");
  command->add_flag("--retry-failed", options->retry_failed, "Compute items again that failed");
  command
      ->add_option("--merge", options->merge,
                   "Gather the results of all shards in this folder, and say what is missing")
      ->type_name("FOLDER")
      ->check(refuse_empty)
      ->excludes(plan)
      ->excludes(output);
  command
      ->add_option("--plot", options->plot,
                   "Draw the results: a cost or a parameter against an error, as fovea pareto does")
      ->type_name("X:Y");
  command->add_option("--figure", options->figure, "The figure's file: .png, .svg, .pdf or .pgf")
      ->check(refuse_empty);
  add_no_session(*command, options->no_session);
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_sweep(*options, console); };
  });
}

}  // namespace fovea
