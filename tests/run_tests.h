// What every test program ends with: a filter that matches no case is a failure, not a success.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>

namespace fovea::test {

/// Notes whether any case passed the filters.
struct CaseCount final : doctest::IReporter {
  static inline bool any = false;

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

inline int run_tests(doctest::Context& context) {
  const int status = context.run();
  if (status != 0 || context.shouldExit() || CaseCount::any) return status;
  std::fputs("no test case matches the filter\n", stderr);
  return 1;
}

}  // namespace fovea::test
