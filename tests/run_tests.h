// What the main function of every test program ends with.
#pragma once

#include <doctest/doctest.h>

namespace fovea::test {

/// Runs the cases that pass the filters. Returns the exit status: a filter that matches no case is
/// a failure.
int run_tests(doctest::Context& context);

/// Whether any case passed the filters of the last run.
bool any_case();

}  // namespace fovea::test
