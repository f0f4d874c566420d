// A DevicesReport is what this machine can compute on, and how its GPU did in the self-test.
#pragma once

#include <ostream>
#include <vector>

#include "backend/backends.h"
#include "input/backend_choice.h"
#include "report/json_output.h"

namespace fovea {

struct DevicesReport {
  std::string cpu;  // "CPU AVX-512, 2 threads"
  std::optional<CudaDevice> gpu;
  std::string why_no_gpu;
  std::vector<std::pair<std::string, Verdict>> verdicts;  // of each precision
};

/// Tests precisions without a verdict, or all if `again`. `told` is called before each test.
DevicesReport report_devices(const SelfTests& tests, bool again,
                             const std::function<void(const std::string& precision)>& told);

void print(std::ostream& out, const DevicesReport& report);
Document devices_json(const DevicesReport& report);

}  // namespace fovea
