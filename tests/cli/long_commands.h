// Each command that computes, on heads with which it takes minutes.
#pragma once

#include <string>
#include <vector>

#include "temporary_directory.h"

namespace fovea::test {

/// The plan of `sweep` is written into the folder, and what is written would go there, too.
inline std::vector<std::vector<std::string>> long_commands(const TemporaryDirectory& folder) {
  const std::string head = "synthetic:clusters?n=131072&d=64",
                    shorter = "synthetic:smooth?n=16384&d=64";
  const std::string plan = folder.write(
      "plan.json", R"({"sources": [")" + head + R"("], "variants": ["exact"], "rounds": 0})");
  return {{"compute", head, "--variant", "exact", "-o", folder / "z.safetensors"},
          {"fit", head, "--variant", "tf", "-o", folder / "trees.safetensors"},
          {"rankmap", shorter, "--partition", "uniform", "--leaf", "1024"},
          {"render", head, "--variant", "exact", "--view", "heatmap", "-o", folder / "figure.png"},
          {"report", head, "-o", folder / "report.pdf"},
          {"pareto", head, "-o", folder / "front.pdf"},
          {"heads", head},
          {"spans", head, "--variant", "exact"},
          {"paper", "running-time", "-o", folder / "paper.pdf"},
          {"sweep", plan, "-o", folder / "results"},
          {"bench", "--n", "131072", "--d", "64", "--variant", "all"}};
}

}  // namespace fovea::test
