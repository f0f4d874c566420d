// doctest itself, compiled once for all test programs, and how they end.
#define DOCTEST_CONFIG_IMPLEMENT
#include "run_tests.h"

#include <cstdio>

namespace fovea::test {
namespace {

bool any = false;

/// Notes whether any case passed the filters.
struct CaseCount final : doctest::IReporter {
  explicit CaseCount(const doctest::ContextOptions&) {}
  void test_run_end(const doctest::TestRunStats& run) override {
    any = run.numTestCasesPassingFilters > 0;
  }
  void report_query(const doctest::QueryData&) override { any = true; }
  void test_run_start() override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

DOCTEST_REGISTER_LISTENER("count", 1, CaseCount);

}  // namespace

bool any_case() {
  return any;
}

int run_tests(doctest::Context& context) {
  const int status = context.run();
  if (status != 0 || context.shouldExit() || any) return status;
  std::fputs("no test case matches the filter\n", stderr);
  return 1;
}

}  // namespace fovea::test
