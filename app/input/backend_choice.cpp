#include "input/backend_choice.h"

#include "backend/backends.h"
#include "data/error.h"

namespace fovea {
namespace {

void refuse_16_bits(const BackendChoice& choice, const std::string& why_not) {
  if (choice.precision != "fp32")
    throw UnavailableError("precision " + choice.precision + ": the CPU computes in fp32" +
                           (why_not.empty() ? "" : "; back end cuda: " + why_not));
}

std::string failure(const CudaDevice& device, const std::string& precision,
                    const Verdict& verdict) {
  return device.name + " failed the self-test of " + precision + ". " + verdict.finding;
}

// The verdicts that can stand for a precision on a device, in the order in which they are tried.
std::vector<std::string> candidates(const std::string& precision, const CudaDevice& device) {
  std::vector<std::string> names{precision};
  if (precision == "fp32") names.clear();
  if (precision != "fp32-split" && device.split_is_faster) names.push_back("fp32-split");
  names.push_back("fp32");
  return names;
}

}  // namespace

DeviceReport report_device(const SelfTests& tests, bool only_remembered) {
  DeviceReport report;
  report.device = find_cuda_device(&report.why_not);
  report.verdict = [tests, only_remembered, device = report.device](const std::string& precision) {
    return only_remembered ? tests.remembered(*device, precision)
                           : std::optional(tests.verdict(*device, precision));
  };
  return report;
}

ChosenBackend choose_backend(const BackendChoice& choice, const DeviceReport& report) {
  ChosenBackend chosen{.backend = "cpu", .precision = "fp32"};
  if (choice.backend == "cpu" || (choice.backend == "auto" && !report.device)) {
    refuse_16_bits(choice, choice.backend == "cpu" ? "" : report.why_not);
    return chosen;
  }
  if (!report.device) throw UnavailableError("back end cuda: " + report.why_not);
  const std::string by_warpgroups = wgmma_verdict_name(*report.device, choice.precision);
  if (!by_warpgroups.empty()) {
    const auto verdict = report.verdict(by_warpgroups);
    chosen.wgmma = verdict && verdict->passed;
    if (verdict && !verdict->passed)
      chosen.notes.push_back(failure(*report.device, by_warpgroups, *verdict));
    if (chosen.wgmma || choice.backend == "cuda") {
      chosen.backend = "cuda";
      chosen.precision = choice.precision;
      return chosen;
    }
  }
  if (choice.backend == "cuda") return {.backend = "cuda", .precision = choice.precision};
  for (const std::string& precision : candidates(choice.precision, *report.device)) {
    const auto verdict = report.verdict(precision);
    if (!verdict) {
      chosen.untested = true;
      return chosen;
    }
    if (verdict->passed) {
      chosen.backend = "cuda";
      chosen.precision = precision;
      return chosen;
    }
    chosen.notes.push_back(failure(*report.device, precision, *verdict));
  }
  chosen.notes.push_back("The CPU computes in fp32; --backend cuda uses the GPU all the same.");
  return chosen;
}

std::unique_ptr<Backend> make_backend(const BackendChoice& choice,
                                      std::vector<std::string>* notes) {
  const DeviceReport report = choice.backend == "cpu"
                                  ? DeviceReport()
                                  : report_device(SelfTests::of_this_program(), choice.at_once);
  ChosenBackend chosen = choose_backend(choice, report);
  if (chosen.backend == "cuda") {
    std::string why_not;
    if (auto cuda = make_cuda_backend(
            {.precision = chosen.precision, .threads = choice.threads, .wgmma = chosen.wgmma},
            &why_not)) {
      if (notes) *notes = std::move(chosen.notes);
      return cuda;
    }
    if (choice.backend == "cuda") throw UnavailableError("back end cuda: " + why_not);
    refuse_16_bits(choice, why_not);
    chosen.notes.push_back("The CPU computes. Back end cuda: " + why_not);
  }
  if (notes) *notes = std::move(chosen.notes);
  return make_cpu_backend({.threads = choice.threads});
}

}  // namespace fovea
