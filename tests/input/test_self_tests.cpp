// Verdicts of the self-test: how it is run and remembered, and which back end they lead to.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "backend/backends.h"
#include "data/error.h"
#include "input/backend_choice.h"
#include "input/self_tests.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const CudaDevice gpu{.name = "GPU", .capability = 90, .bytes = 1, .driver = "1.2", .id = "ab"};

/// A program in place of `fovea`; what it was called with is in the file `calls`.
struct Stand {
  TemporaryDirectory folder;
  std::string program = folder.path() + "/fovea", file = folder.path() + "/cache/verdicts.json",
              calls = folder.path() + "/calls";

  explicit Stand(const std::string& body) {
    std::ofstream(program) << "#!/bin/sh\necho \"$@\" >> '" << calls << "'\n" << body << '\n';
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  SelfTests tests(std::chrono::milliseconds limit = std::chrono::seconds(20)) const {
    return {program, file, limit};
  }
  std::string called() const {
    std::ostringstream text;
    text << std::ifstream(calls).rdbuf();
    return text.str();
  }
};

constexpr const char* passes = R"(echo '{"finding": "", "seconds": 1.5}')";
constexpr const char* finds = R"(echo '{"finding": "Exact: wrong.", "seconds": 1}')";

DeviceReport verdicts_of(const std::vector<std::pair<std::string, Verdict>>& verdicts) {
  DeviceReport report{.device = gpu};
  report.verdict = [verdicts](const std::string& precision) -> std::optional<Verdict> {
    for (const auto& [of, verdict] : verdicts)
      if (of == precision) return verdict;
    return std::nullopt;
  };
  return report;
}

const Verdict passed{.passed = true}, failed{.finding = "Exact: wrong."};

}  // namespace

TEST_CASE("a verdict is found once for each precision and remembered") {
  const Stand stand(passes);
  const SelfTests tests = stand.tests();
  CHECK_FALSE(tests.remembered(gpu, "fp32"));
  const Verdict first = tests.verdict(gpu, "fp32");
  CHECK(first.passed);
  CHECK(first.seconds == 1.5);
  CHECK(first.date.size() == 10);
  CHECK(tests.verdict(gpu, "fp32").passed);
  CHECK(stand.called() == "self-test --precision fp32\n");
  CHECK(tests.verdict(gpu, "bf16").passed);
  CHECK(stand.called() == "self-test --precision fp32\nself-test --precision bf16\n");
  CHECK(tests.remembered(gpu, "fp32")->seconds == 1.5);
  CHECK(tests.remembered(gpu, "fp32")->date == first.date);
  CHECK(contains(verdict_text(first), "passed the self-test (" + first.date + ", 1.5 s)"));
}

TEST_CASE("another GPU or driver or build of the program has no verdict yet") {
  const Stand stand(passes);
  const SelfTests tests = stand.tests();
  tests.test(gpu, "fp32");
  REQUIRE(tests.remembered(gpu, "fp32"));
  CudaDevice other = gpu;
  other.id = "cd";
  CHECK_FALSE(tests.remembered(other, "fp32"));
  other = gpu;
  other.driver = "1.3";
  CHECK_FALSE(tests.remembered(other, "fp32"));
  std::ofstream(stand.program, std::ios::app) << "# another build\n";
  CHECK_FALSE(tests.remembered(gpu, "fp32"));
}

TEST_CASE("a self-test that finds something or crashes or writes nonsense has failed") {
  const auto verdict_of = [](const char* body) {
    const Stand stand(body);
    const Verdict verdict = stand.tests().test(gpu, "fp32");
    CHECK_FALSE(verdict.passed);
    CHECK(stand.tests().remembered(gpu, "fp32"));  // and is not tried again at each start
    CHECK_FALSE(stand.tests().remembered(gpu, "fp32")->passed);
    return verdict.finding;
  };
  CHECK(verdict_of(finds) == "Exact: wrong.");
  CHECK(verdict_of("kill -SEGV $$") == "It crashed.");
  CHECK(verdict_of("echo '{\"testing\": \"Exact, n = 5\"}'; kill -SEGV $$") ==
        "It crashed, in: Exact, n = 5.");
  CHECK(contains(verdict_of("echo nonsense"), "cannot be read"));
  CHECK(contains(verdict_of("echo '{}'"), "cannot be read"));
}

TEST_CASE("a self-test that runs out of time is made again the next time and says where it was") {
  const auto finding_of = [](const char* body) {
    const Stand stand(body);
    const Verdict verdict = stand.tests(std::chrono::seconds(1)).test(gpu, "fp32");
    CHECK_FALSE(verdict.passed);
    CHECK_FALSE(stand.tests().remembered(gpu, "fp32"));
    return verdict.finding;
  };
  CHECK(finding_of("exec sleep 60").starts_with("It was ended after 1 s without a result. Other"));
  const std::string found =
      finding_of(R"(echo '{"testing": "first"}'; echo '{"testing": "second"}'; exec sleep 60)");
  CHECK_MESSAGE(contains(found, "without a result, in: second. Other"), found);
  CHECK(contains(found, "The next start tests again"));
}

TEST_CASE("a self-test has its time for each head that it names") {
  const Stand stand(std::string(R"(for i in 1 2 3; do echo '{"testing": "a"}'; sleep 2; done; )") +
                    passes);
  // Together longer than the limit, each with seconds to spare on a busy machine.
  const Verdict verdict = stand.tests(std::chrono::seconds(5)).test(gpu, "fp32");
  CHECK_MESSAGE(verdict.passed, verdict.finding);
  CHECK(stand.tests().remembered(gpu, "fp32"));
}

TEST_CASE("a self-test that was stopped or found no memory is made again the next time") {
  for (const char* body : {"echo first >&2; echo 'fovea: no memory' >&2; exit 4",
                           "echo 'fovea: stopped' >&2; exit 130"}) {
    const Stand stand(body);
    const Verdict verdict = stand.tests().test(gpu, "fp32");
    CHECK_FALSE(verdict.passed);
    CHECK(contains(verdict.finding, "It was not finished: fovea: "));
    CHECK_FALSE(stand.tests().remembered(gpu, "fp32"));
  }
}

TEST_CASE("without the program nothing is known of the GPU") {
  const Stand stand(passes);
  const SelfTests tests(stand.program + "-gone", stand.file);
  const Verdict verdict = tests.test(gpu, "fp32");
  CHECK_FALSE(verdict.passed);
  CHECK(contains(verdict.finding, "could not be started"));
  CHECK_FALSE(tests.remembered(gpu, "fp32"));
}

TEST_CASE("a damaged file of verdicts is replaced") {
  const Stand stand(passes);
  const SelfTests tests = stand.tests();
  tests.test(gpu, "fp32");
  std::ofstream(stand.file) << "{ nonsense";
  CHECK_FALSE(tests.remembered(gpu, "fp32"));
  CHECK(tests.verdict(gpu, "fp32").passed);
  CHECK(tests.remembered(gpu, "fp32"));
}

TEST_CASE("auto takes the GPU only where it has passed") {
  const BackendChoice choice;
  CHECK(choose_backend(choice, verdicts_of({{"fp32", passed}})).backend == "cuda");
  const ChosenBackend cpu = choose_backend(choice, verdicts_of({{"fp32", failed}}));
  CHECK(cpu.backend == "cpu");
  REQUIRE(cpu.notes.size() == 2);
  CHECK(cpu.notes[0] == "GPU failed the self-test of fp32. Exact: wrong.");
  const ChosenBackend untested = choose_backend(choice, verdicts_of({}));
  CHECK(untested.backend == "cpu");
  CHECK(untested.untested);
  CHECK(choose_backend(choice, DeviceReport{.why_not = "none"}).backend == "cpu");
}

TEST_CASE(
    "auto computes fp32 from split numbers where that is faster and passed, and says where not") {
  const auto chosen = [](bool faster, const std::string& asked,
                         const std::vector<std::pair<std::string, Verdict>>& verdicts) {
    DeviceReport report = verdicts_of(verdicts);
    report.device->split_is_faster = faster;
    return choose_backend({.precision = asked}, report);
  };
  CHECK(chosen(true, "fp32", {{"fp32-split", passed}}).precision == "fp32-split");
  CHECK(chosen(true, "fp32", {{"fp32-split", passed}}).notes.empty());
  CHECK(chosen(false, "fp32", {{"fp32-split", passed}, {"fp32", passed}}).precision == "fp32");
  const ChosenBackend lanes = chosen(true, "fp32", {{"fp32-split", failed}, {"fp32", passed}});
  CHECK(lanes.backend == "cuda");
  CHECK(lanes.precision == "fp32");
  REQUIRE(lanes.notes.size() == 1);
  CHECK(lanes.notes[0] == "GPU failed the self-test of fp32-split. Exact: wrong.");
  CHECK(chosen(true, "bf16", {{"bf16", failed}, {"fp32-split", passed}}).precision == "fp32-split");
  CHECK(chosen(false, "fp32-split", {{"fp32-split", failed}, {"fp32", passed}}).precision ==
        "fp32");
  const ChosenBackend cpu = chosen(true, "fp32", {{"fp32-split", failed}, {"fp32", failed}});
  CHECK(cpu.backend == "cpu");
  CHECK(cpu.precision == "fp32");
  CHECK(cpu.notes.size() == 3);
  CHECK(choose_backend({.backend = "cuda"}, verdicts_of({})).precision ==
        "fp32");  // as it is named
}

TEST_CASE("16 bits fall back to fp32 and to the CPU, and a note says so") {
  const BackendChoice choice{.precision = "bf16"};
  const ChosenBackend best = choose_backend(choice, verdicts_of({{"bf16", passed}}));
  CHECK(best.precision == "bf16");
  CHECK(best.notes.empty());
  const ChosenBackend fp32 =
      choose_backend(choice, verdicts_of({{"bf16", failed}, {"fp32", passed}}));
  CHECK(fp32.backend == "cuda");
  CHECK(fp32.precision == "fp32");
  REQUIRE(fp32.notes.size() == 1);
  CHECK(contains(fp32.notes[0], "self-test of bf16"));
  const ChosenBackend cpu =
      choose_backend(choice, verdicts_of({{"bf16", failed}, {"fp32", failed}}));
  CHECK(cpu.backend == "cpu");
  CHECK(cpu.precision == "fp32");
  CHECK(cpu.notes.size() == 3);
  CHECK_THROWS_AS(choose_backend(choice, DeviceReport{.why_not = "none"}), UnavailableError);
}

TEST_CASE("16 bits by warpgroups have a verdict of their own, and fall back to warps") {
  DeviceReport report = verdicts_of({{"bf16-wgmma", passed}, {"bf16", failed}});
  report.device->wgmma = true;
  CHECK(verdict_names(*report.device) ==
        std::vector<std::string>{"fp32", "fp32-split", "bf16-wgmma", "bf16", "fp16-wgmma", "fp16"});
  CHECK(verdict_names(gpu) == std::vector<std::string>{"fp32", "fp32-split", "bf16", "fp16"});
  for (const std::string& name : verdict_names(*report.device)) {
    CAPTURE(name);
    const CudaOptions options = options_of_verdict(name).value();
    CHECK(options.wgmma == name.ends_with("-wgmma"));
    CHECK(options.precision + (options.wgmma ? "-wgmma" : "") == name);
  }
  for (const char* name : {"fp32-wgmma", "fp32-split-wgmma", "-wgmma", "fp64", ""})
    CHECK_FALSE(options_of_verdict(name).has_value());
  for (const char* backend : {"auto", "cuda"}) {
    const BackendChoice choice{.backend = backend, .precision = "bf16"};
    const ChosenBackend best = choose_backend(choice, report);
    CHECK(best.backend == "cuda");
    CHECK(best.precision == "bf16");
    CHECK(best.wgmma);
    CHECK(best.notes.empty());
    DeviceReport failing = verdicts_of({{"bf16-wgmma", failed}, {"bf16", passed}});
    failing.device->wgmma = true;
    const ChosenBackend warps = choose_backend(choice, failing);
    CHECK(warps.precision == "bf16");
    CHECK_FALSE(warps.wgmma);
    REQUIRE(warps.notes.size() == 1);
    CHECK(warps.notes[0] == "GPU failed the self-test of bf16-wgmma. Exact: wrong.");
    DeviceReport untested = verdicts_of({{"bf16", passed}});
    untested.device->wgmma = true;
    CHECK_FALSE(choose_backend(choice, untested).wgmma);
  }
  // All the way down.
  DeviceReport none = verdicts_of({{"bf16-wgmma", failed}, {"bf16", failed}, {"fp32", failed}});
  none.device->wgmma = true;
  const ChosenBackend cpu = choose_backend({.precision = "bf16"}, none);
  CHECK(cpu.backend == "cpu");
  CHECK(cpu.notes.size() == 4);
}

TEST_CASE("who asks for cuda or cpu gets it, whatever the verdict") {
  const ChosenBackend cuda =
      choose_backend({.backend = "cuda", .precision = "bf16"}, verdicts_of({{"bf16", failed}}));
  CHECK(cuda.backend == "cuda");
  CHECK(cuda.precision == "bf16");
  CHECK_THROWS_AS(choose_backend({.backend = "cuda"}, DeviceReport{.why_not = "none"}),
                  UnavailableError);
  CHECK(choose_backend({.backend = "cpu"}, verdicts_of({{"fp32", passed}})).backend == "cpu");
  CHECK_THROWS_AS(choose_backend({.backend = "cpu", .precision = "bf16"}, DeviceReport()),
                  UnavailableError);
}
