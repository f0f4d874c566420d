// fovea fit: learns the tree of tree attention for the heads of a source, and writes it.
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/checks.h"
#include "cli/options/command_line.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "cli/reports/fit_report.h"
#include "data/error.h"
#include "data/fnv1a.h"
#include "data/text.h"
#include "data/utf8.h"
#include "io/atomic_file.h"
#include "io/fit_file.h"
#include "report/json_output.h"
#include "session/tree_trial.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double progress_every = 2, written_every = 5;  // seconds
constexpr Index steps_a_round = 5;                       // of each head, between reports

struct FitOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::string variant, output, resume, credit = "path";
  std::vector<std::string> validated_on;
  std::optional<Index> steps;
  Index bootstrap = 0;
  bool json = false;
};

double elapsed_seconds(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string hash_text(std::uint64_t hash) {
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += "0123456789abcdef"[hash >> shift & 15];
  return text;
}

std::uint64_t hash_of(const Problem& problem, std::uint64_t before) {
  for (const MatrixView m : {problem.q, problem.k, problem.v})
    for (Index i = 0; i < m.rows; ++i)
      before = fnv1a({reinterpret_cast<const char*>(m.row(i)),
                      static_cast<std::size_t>(m.cols) * sizeof(float)},
                     before);
  return before;
}

/// Whether it is a regular file, which /dev/null is not.
bool is_file(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

/// Whether the name is taken, also by a link that leads nowhere: Fovea writes through no link that
/// a person did not name.
bool is_taken(const std::string& path) {
  std::error_code none;
  return std::filesystem::exists(std::filesystem::symlink_status(path, none));
}

bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return std::filesystem::equivalent(a, b, none);
}

using FileTime = std::optional<std::filesystem::file_time_type>;

/// When the content of a file was last changed; nothing if there is no file.
FileTime time_of(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? FileTime() : time;
}

/// The trainers of the heads, and the file that they are written to.
class Fitting {
 public:
  Fitting(const FitOptions& options, const Source& source, const Console& console)
      : options_(options), console_(console), variant_(find_variant(options.variant)) {
    const Layer& layer = source.layers[options.heads.layer_in(source)];
    n_ = layer.keys();
    report_.variant = &variant_;
    report_.values = options.parameters.applied(variant_, layer.keys());
    fit_ = fit_of(variant_, report_.values);
    steps_ = options.steps.value_or(fit_.parameters.steps);
    report_.source = source.path;
    report_.layer = options.heads.layer_in(source);
    report_.seed = options.parameters.seed;
    report_.leaves = 1;
    for (const int children : fit_.shape.branching) report_.leaves *= children;
    heads_ = options.heads.heads_in(source);
  }

  void begin(const Source& source, const Backend& backend) {
    std::uint64_t hash = fnv1a("");
    Profile profile;
    Run run{profile, console_.stop};
    for (const Index head : heads_) {
      run.check();
      const Problem problem = options_.heads.problem(source, head, run.stop);
      hash = hash_of(problem, hash);
      LearningOptions learning =
          learning_options(fit_.parameters, fit_.goal, options_.parameters.seed, head);
      learning.bootstrap = options_.bootstrap;
      learning.credit = options_.credit == "dense" ? Credit::dense : Credit::path;
      trainers_.push_back(
          make_trainer(fit_, learning, problem, options_.parameters.seed, backend, run));
      scale_ = problem.scale;
      causal_ = problem.is_causal();
    }
    if (const std::string sample = sample_text(n_); !sample.empty())
      console_.err << "learning from and measuring on " << sample << '\n';
    set_about(hash);
    if (!options_.resume.empty()) resume(run);
    first_ = 0;
    for (const Trainer& trainer : trainers_)
      if (!trainer.diverged()) first_ = std::max(first_, trainer.steps());
    if (std::ranges::all_of(trainers_, &Trainer::diverged))
      console_.err << "learning has diverged in every head: the file keeps the best trees before "
                      "that; try a smaller rate\n";
    target_ = first_ + steps_;
  }

  /// Learns until all heads are done, or until Ctrl-C, after which the learned trees are written
  /// first.
  void learn(const Backend& backend) {
    start_ = Clock::now();
    double told = 0, written = 0;
    try {
      write();
      while (!done()) {
        round(backend);
        const double now = elapsed_seconds(start_);
        if (now - told >= progress_every || told == 0) tell(told = now);
        if (now - written < written_every) continue;
        write();
        written = now;
      }
    } catch (const Cancelled&) {
      write();
      console_.err << "stopped after " << steps_text() << ". The best trees so far are in "
                   << printable(output_) << "; -o " << printable(shell_word(output_))
                   << " --resume " << printable(shell_word(output_)) << " goes on\n";
      throw;
    }
    write();
    report_.seconds = elapsed_seconds(start_);
    for (std::size_t h = 0; h < trainers_.size(); ++h)
      if (trainers_[h].diverged())
        console_.err << "head " << heads_[h] << ": learning diverged after "
                     << plural(trainers_[h].steps(), "step")
                     << ". The best tree of before is kept\n";
  }

  void validate(const FitValidation& validation, const Backend& backend) {
    std::vector<ComputeRequest> trees;
    for (const Trainer& trainer : trainers_)
      trees.push_back({.variant = &variant_,
                       .values = report_.values,
                       .seed = report_.seed,
                       .given = tensors_of(trainer.best())});
    report_.validation = validation.measure(trees, backend, console_.stop);
  }

  FitReport report() {
    report_.output = output_;
    report_.bootstrap = options_.bootstrap;
    report_.credit = options_.credit;
    for (std::size_t h = 0; h < trainers_.size(); ++h)
      report_.heads.push_back({.head = heads_[h],
                               .steps = trainers_[h].steps(),
                               .diverged = trainers_[h].diverged(),
                               .start = trainers_[h].start().measured,
                               .best = trainers_[h].best(),
                               .curve = trainers_[h].curve()});
    return report_;
  }

 private:
  void set_about(std::uint64_t hash) {
    const std::string heads = join(
        heads_, [](Index head) { return std::to_string(head); }, ",");
    about_ = {{"variant", variant_.id}, {"layer", std::to_string(report_.layer)}, {"heads", heads}};
    for (std::size_t f = 0; f < variant_.schema.size(); ++f)
      if (variant_.schema[f].id != "steps")
        about_.emplace_back(variant_.schema[f].id, "'" + to_text(report_.values[f]) + "'");
    about_.emplace_back("bootstrap", std::to_string(options_.bootstrap));
    about_.emplace_back("credit", options_.credit);
    about_.emplace_back("seed", std::to_string(report_.seed));
    about_.emplace_back("scale", format_exactly(scale_));
    about_.emplace_back("causal", causal_ ? "true" : "false");
    about_.emplace_back("a hash of Q, K and V of", hash_text(hash));
  }

  void resume(Run& run) {
    if (is_same_file(output_, options_.resume)) written_at_ = time_of(output_);
    const FitFile file = read_fit(options_.resume, run.stop);
    check_about(options_.resume, file, about_);
    if (file.states.size() != trainers_.size())
      throw InputError(options_.resume, std::to_string(file.states.size()) +
                                            " heads found; expected " +
                                            std::to_string(trainers_.size()));
    try {
      for (std::size_t h = 0; h < trainers_.size(); ++h) trainers_[h].restore(file.states[h], run);
    } catch (const InputError& error) {
      throw InputError(options_.resume, error.what());
    }
  }

  bool done() const {
    return std::ranges::all_of(
        trainers_, [&](const Trainer& t) { return t.diverged() || t.steps() >= target_; });
  }

  void round(const Backend& backend) {
    Profile profile;
    Run run{profile, console_.stop};
    backend.share_out(trainers_.size(), run, [&](Index h) {
      Profile own;
      Run of_head{own, console_.stop};
      Trainer& trainer = trainers_[h];
      // Some heads may be behind others after Ctrl-C. They catch up.
      trainer.learn(std::min(target_, trainer.steps() + steps_a_round), of_head, &backend);
    });
  }

  Index steps_done() const {
    Index least = target_;
    for (const Trainer& t : trainers_)
      if (!t.diverged()) least = std::min(least, t.steps());
    return least;
  }
  std::string steps_text() const {
    return std::to_string(steps_done()) + " of " + plural(target_, "step");
  }

  void tell(double seconds) const {
    double error = 0, cost = 0;
    for (const Trainer& t : trainers_) {
      error += t.best().measured.held_out_error;
      cost += t.best().measured.cost(report_.leaves);
    }
    const auto count = static_cast<double>(trainers_.size());
    const double done = steps_done() - first_, left = target_ - steps_done();
    console_.err << steps_text() << ", held-out error " << format_plain(error / count)
                 << ", χ times leaves " << format_plain(cost / count)
                 << (count > 1 ? " in the mean over heads" : "");
    if (done > 0) console_.err << ", " << format_time(1e3 * seconds * left / done) << " left";
    console_.err << '\n';
  }

  /// If another program, such as a second fit, has written the file meanwhile, it is kept, and this
  /// fit goes on under another name. The time of the file tells, not its inode, which some network
  /// file systems change. A file that is written between this check and the renaming is replaced.
  void keep_file_of_other() {
    if (!is_file(output_) || written_at_ == time_of(output_)) return;
    const std::filesystem::path asked = options_.output;
    const std::string taken = output_;
    for (int number = 2; is_taken(output_); ++number)
      output_ = (asked.parent_path() / asked.stem()).string() + "-" + std::to_string(number) +
                asked.extension().string();
    console_.err << "another program has written " << printable(taken)
                 << " since this fit began. It is kept; "
                 << "this fit goes on in " << printable(output_) << '\n';
  }

  void write() {
    keep_file_of_other();
    FitFile file{.about = about_, .trees = {}, .states = {}};
    for (const Trainer& trainer : trainers_) {
      file.trees.push_back(tensors_of(trainer.best()));
      file.states.push_back(trainer.state());
    }
    write_fit(output_, file);
    written_at_ = time_of(output_);
  }

  const FitOptions& options_;
  const Console& console_;
  const Variant& variant_;
  Fit fit_;
  FitReport report_;
  std::vector<Index> heads_;
  std::vector<Trainer> trainers_;
  std::vector<std::pair<std::string, std::string>> about_;
  Index n_ = 0, steps_ = 0, first_ = 0, target_ = 0;
  double scale_ = 0;
  bool causal_ = false;
  Clock::time_point start_;
  std::string output_ = options_.output;  // another name if another program has taken this one
  FileTime written_at_;
};

/// The file is written from the first step on, so the trees of another fit would be lost.
void require_no_other_fit(const FitOptions& options) {
  if (is_file(options.output) && !is_same_file(options.output, options.resume))
    throw UsageError(
        "-o " + fovea::quoted(options.output) + " exists, and a fit replaces no file: name " +
        "another one, or go on from an earlier fit with --resume " + fovea::quoted(options.output));
}

void run_fit(const FitOptions& options, const Console& console) {
  const auto ending = std::filesystem::path(options.output).extension();
  if (!ending.empty() && ending != ".safetensors")
    throw UsageError("-o " + options.output + "; expected a name that ends in .safetensors");
  require_writable(options.output);
  require_no_other_fit(options);
  const Source source = options.source.load(console.stop, options.backend.threads);
  options.heads.tell_layer(source, console.err);
  Fitting fitting(options, source, console);
  const FitValidation validation(options.validated_on, options.source, options.heads, source,
                                 options.backend.threads, console.stop);
  const auto backend = options.backend.make(console.err);
  fitting.begin(source, *backend);
  fitting.learn(*backend);
  if (validation.wanted()) fitting.validate(validation, *backend);
  if (options.json)
    print(console.out, to_json(fitting.report()));
  else
    print(console.out, fitting.report());
}

}  // namespace

void add_fit_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "fit", "Learn the tree of tree attention for the heads of a source, and write it");
  auto options = std::make_shared<FitOptions>();
  options->source.add_to(*command);
  command->add_option("--variant", options->variant, "tf, or tc, which learns alpha too")
      ->required();
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "all", true);
  options->backend.add_to(*command);
  command
      ->add_option("--steps", options->steps,
                   "Steps of learning, each on 256 queries; with --resume so many more. Default: "
                   "the parameter `steps`")
      ->check(CLI::Range(1, 1000000));
  command
      ->add_option("--bootstrap", options->bootstrap,
                   "First so many steps at each smaller height, from 1 on (Algorithm 1 of "
                   "Treeformer); 0: none")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  command
      ->add_option("--credit", options->credit,
                   "What a decision of the tree is credited with. path: the change of the loss if "
                   "it alone were taken the other way. dense: all leaves on both sides, as in the "
                   "paper")
      ->check(CLI::IsMember({"path", "dense"}))
      ->capture_default_str();
  command
      ->add_option(
          "-o,--output", options->output,
          "Write the best trees to this new .safetensors file, which --structure takes; it "
          "is always whole, and kept up to date while learning. A file that exists is "
          "refused unless --resume names it")
      ->required()
      ->check(refuse_empty);
  command
      ->add_option("--resume", options->resume,
                   "Go on where this file of an earlier fit of the same heads was written")
      ->check(refuse_empty);
  command
      ->add_option(
          "--validate", options->validated_on,
          "Try the trees on the same heads of this source, too, which they are not learned "
          "from, and beside them the median tree of each head; may be repeated. A text or "
          "an image is read by the model of SOURCE")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(refuse_empty);
  command->add_flag("--json", options->json,
                    "One JSON document on standard output, with the curves of learning");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_fit(*options, console); };
  });
}

}  // namespace fovea
