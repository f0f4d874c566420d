// A Profile is how long each stage of one run took. A Run carries it, together with the stop token
// and the progress.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "data/stop.h"

namespace fovea {

struct StageTime {
  std::string name;
  double milliseconds = 0;
};

class Profile {
 public:
  /// Measures its lifetime. Stages of the same name are added.
  class Stage {
   public:
    Stage(Profile& profile, std::string name)
        : profile_(profile), name_(std::move(name)), start_(std::chrono::steady_clock::now()) {
      profile_.begin_stage();
    }
    Stage(const Stage&) = delete;
    Stage& operator=(const Stage&) = delete;
    ~Stage() {
      const std::chrono::duration<double, std::milli> took =
          std::chrono::steady_clock::now() - start_;
      profile_.end_stage(std::move(name_), took.count());
    }

   private:
    Profile& profile_;
    std::string name_;
    std::chrono::steady_clock::time_point start_;
  };

  [[nodiscard]] Stage stage(std::string name) { return Stage(*this, std::move(name)); }
  void add(const std::string& name, double milliseconds);
  void add(const Profile& other);
  const std::vector<StageTime>& stages() const { return stages_; }
  double total_ms() const;

 private:
  void begin_stage();
  void end_stage(std::string name, double milliseconds) noexcept;

  /// Has room for the stages that have begun, so that ending one allocates nothing.
  std::vector<StageTime> stages_;
  std::size_t begun_ = 0;
};

/// How far a long piece of work is, readable from any thread.
struct Progress {
  std::atomic<double> fraction{0};
};

/// Accompanies a call that may take long. Only `stop` and `progress` may be used from several
/// threads.
struct Run {
  Profile& profile;
  std::stop_token stop = {};
  Progress* progress = nullptr;
  double begin = 0, end = 1;  // the part of the whole work that this run is

  /// The part [from, to) of this run.
  Run part(double from, double to) const {
    const double size = end - begin;
    return {profile, stop, progress, begin + from * size, begin + to * size};
  }
  /// This run, with its stages in another profile.
  Run in(Profile& other) const { return {other, stop, progress, begin, end}; }
  /// This run without its progress: its caller reports how far it is.
  Run quiet() const { return {profile, stop}; }
  /// Reports that this share of the run is done, in [0, 1]. Only one of several threads may report:
  /// otherwise a smaller share could follow a larger one.
  void reached(double fraction) const {
    if (progress) progress->fraction = begin + fraction * (end - begin);
  }
  void check() const { check_stop(stop); }
};

}  // namespace fovea
