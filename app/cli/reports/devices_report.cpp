#include "cli/reports/devices_report.h"

#include "backend/backends.h"
#include "data/number_text.h"
#include "report/text_table.h"

namespace fovea {
namespace {

std::string capability_text(const CudaDevice& device) {
  return std::to_string(device.capability / 10) + "." + std::to_string(device.capability % 10);
}

}  // namespace

DevicesReport report_devices(const SelfTests& tests, bool again,
                             const std::function<void(const std::string& precision)>& told) {
  DevicesReport report{.cpu = make_cpu_backend()->device()};
  report.gpu = find_cuda_device(&report.why_no_gpu);
  if (!report.gpu) return report;
  for (const std::string& precision : verdict_names(*report.gpu)) {
    auto verdict = again ? std::nullopt : tests.remembered(*report.gpu, precision);
    if (!verdict) {
      told(precision);
      verdict = tests.test(*report.gpu, precision);
    }
    report.verdicts.emplace_back(precision, *verdict);
  }
  return report;
}

void print(std::ostream& out, const DevicesReport& report) {
  std::vector<std::pair<std::string, std::string>> facts{{"Processor", report.cpu}};
  if (const auto& gpu = report.gpu)
    facts.emplace_back("GPU", gpu->name + ", compute capability " + capability_text(*gpu) + ", " +
                                  format_bytes(gpu->bytes) + ", driver " + gpu->driver);
  else
    facts.emplace_back("GPU", "none (" + report.why_no_gpu + ")");
  for (const auto& [precision, verdict] : report.verdicts)
    facts.emplace_back(precision, verdict_text(verdict));
  print_facts(out, facts);
}

Document devices_json(const DevicesReport& report) {
  Document document{{"cpu", report.cpu}, {"gpu", nullptr}};
  if (const auto& gpu = report.gpu) {
    Document verdicts = Document::object();
    for (const auto& [precision, verdict] : report.verdicts)
      verdicts[precision] = {{"passed", verdict.passed},
                             {"finding", verdict.finding},
                             {"seconds", number_json(verdict.seconds)},
                             {"date", verdict.date}};
    document["gpu"] = {{"name", gpu->name},
                       {"compute_capability", capability_text(*gpu)},
                       {"bytes", gpu->bytes},
                       {"driver", gpu->driver},
                       {"self_test", verdicts}};
  } else {
    document["why_no_gpu"] = report.why_no_gpu;
  }
  return document;
}

}  // namespace fovea
