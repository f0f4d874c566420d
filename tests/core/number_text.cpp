// How numbers are written.
#include "data/number_text.h"

#include <doctest/doctest.h>

#include <bit>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "temporary_directory.h"

using namespace fovea;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double quiet_nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("numbers of captions have three digits, and powers of ten written out") {
  CHECK(format_number(0) == "0");
  CHECK(format_number(0.12345) == "0.123");
  CHECK(format_number(12) == "12");
  CHECK(format_number(1234) == "1.23×10³");
  CHECK(format_number(1e6) == "10⁶");
  CHECK(format_number(-1e-12) == "-10⁻¹²");
  CHECK(format_number(-4.5e-7) == "-4.5×10⁻⁷");
  CHECK(format_number(1234, 4) == "1234");
  for (const auto& [value, text] : {std::pair{0.7, "0.70"},
                                    {0.999, "1.0"},
                                    {0.0996, "0.10"},
                                    {12.0, "12"},
                                    {0.0, "0"},
                                    {4e-7, "4×10⁻⁷"}})
    CHECK(format_number(value, 2, Zeros::keep) == text);
  CHECK(format_percent(0.1234) == "12.3 %");
  CHECK(format_percent(0.996, 2) == "10² %");  // two digits: 1.0e+02
  for (const double nan : {quiet_nan, -quiet_nan}) {
    CHECK(format_number(nan) == "–");
    CHECK(format_percent(nan) == "–");
    CHECK(format_fixed(nan, 2) == "–");
    CHECK(format_exactly(nan) == "nan");
  }
  CHECK(format_number(infinity) == "∞");
  CHECK(format_number(-infinity) == "-∞");
  CHECK(format_fixed(-infinity, 2) == "−∞");
}

TEST_CASE(
    "numbers of drawings are short, with a true minus, and rounded before their power is chosen") {
  CHECK(format_drawn(0) == "0");
  CHECK(format_drawn(-0.25) == "−0.25");
  CHECK(format_drawn(4e-5) == "4×10⁻⁵");
  CHECK(format_drawn(-4e-5) == "−4×10⁻⁵");
  CHECK(format_drawn(-1e-5) == "−10⁻⁵");
  CHECK(format_drawn(9.996e-5) == "10⁻⁴");
  CHECK(format_drawn(9.996e-4) == "0.001");
  CHECK(format_drawn(9.996e7) == "10⁸");
  CHECK(format_drawn(0.001) == "0.001");
  CHECK(format_drawn(131072) == "131072");
  CHECK(format_drawn(-131072, 1) == "−131072");
  CHECK(format_drawn(1.31072e6) == "1.31×10⁶");
  CHECK(format_drawn(infinity) == "∞");
  CHECK(format_drawn(-infinity) == "−∞");
  CHECK(format_drawn(quiet_nan) == "NaN");
  CHECK(format_fixed(-0.2, 2) == "−0.20");
  CHECK(format_fixed(-0.0, 1) == "0.0");
  CHECK(power_of_ten(-12) == "10⁻¹²");
  CHECK(power_of_ten(0) == "1");
}

TEST_CASE("numbers of cells have no zero before the point") {
  CHECK(format_compact(0.042, 3) == ".042");
  CHECK(format_compact(-0.5, 3) == "−.500");
  CHECK(format_compact(1e-9, 3) == "10⁻⁹");
  CHECK(format_compact(-4e-6, 3) == "−10⁻⁶");
  CHECK(format_compact(12.34, 3) == "12.3");
  CHECK(format_compact(99.96, 2) == "100");
  CHECK(format_compact(-1234, 3) == "−1234");
  CHECK(format_compact(-4e6, 4) == "−4×10⁶");
  CHECK(format_compact(infinity, 3) == "∞");
}

TEST_CASE("numbers are written alike in a locale with a decimal comma") {
  const test::TemporaryDirectory folder;
  // A system may have no other locale than "C", and none to make one from.
  const std::string letters =
      folder.write("letters", "<escape_char> /\nCHARMAP\n<U0000>..<U007F> /x00\nEND CHARMAP\n");
  const std::string numbers = folder.write("numbers",
                                           "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
                                           "grouping -1\nEND LC_NUMERIC\n");
  const std::string make =
      "localedef -c -f " + letters + " -i " + numbers + " " + folder / "comma >/dev/null 2>&1";
  [[maybe_unused]] const int warned = std::system(make.c_str());  // of all that is not defined
  ::setenv("LOCPATH", folder.path().c_str(), 1);
  REQUIRE(std::setlocale(LC_NUMERIC, "comma"));
  REQUIRE(std::localeconv()->decimal_point == std::string(","));
  CHECK(format_number(0.5) == "0.5");
  CHECK(format_drawn(0.5) == "0.5");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_plain(1.25e-7) == "1.25×10⁻⁷");
  std::setlocale(LC_NUMERIC, "C");
  ::unsetenv("LOCPATH");
}

TEST_CASE("numbers of a terminal have four digits, and NaN and infinities have words") {
  CHECK(format_plain(0.27518) == "0.2752");
  CHECK(format_plain(1e-3) == "0.001");
  CHECK(format_plain(9.99e-4) == "9.99×10⁻⁴");
  CHECK(format_plain(-5.4e-5) == "-5.4×10⁻⁵");
  CHECK(format_plain(123456) == "1.235×10⁵");
  CHECK(format_plain(1e6) == "10⁶");
  CHECK(format_plain(infinity) == "infinite");
  CHECK(format_plain(-infinity) == "-infinite");
  CHECK(format_plain(quiet_nan) == "-");
}

TEST_CASE("numbers that are read back keep what was typed") {
  CHECK(format_exactly(0.1) == "0.1");
  CHECK(format_exactly(1e-5) == "1e-05");
  CHECK(format_exactly(0.123456789012) == "0.123456789012");
  CHECK(format_exactly(131072) == "131072");
  CHECK(format_exactly(1e6 / 3) == "333333.3333333333");
  std::mt19937_64 bits(1);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::bit_cast<double>(bits());
    const std::string text = format_exactly(value);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    if (read != value && !std::isnan(value)) FAIL(text);
  }
}

TEST_CASE("counts, bytes and times have three digits and a unit") {
  CHECK(format_count(999) == "999");
  CHECK(format_count(1000) == "1.00 k");
  CHECK(format_count(12345678) == "12.3 M");
  CHECK(format_count(1000, Zeros::drop) == "1 k");
  CHECK(format_count(100000, Zeros::drop) == "100 k");  // zeros before the point stay
  CHECK(format_count(0.5) == "0.50");
  CHECK(format_count(9994) == "9.99 k");
  CHECK(format_count(9996) == "10.0 k");
  CHECK(format_count(99960) == "100 k");
  CHECK(format_count(999600) == "1.00 M");
  CHECK(format_bytes(1023.7 * 1024) == "1.00 MiB");
  CHECK(format_bytes(1536) == "1.50 KiB");
  CHECK(format_bytes(1536, Zeros::drop) == "1.5 KiB");
  CHECK(format_bytes(1010 * 1024.0, Zeros::drop) == "1010 KiB");
  CHECK(format_bytes(infinity) == "infinite");
  CHECK(format_time(0.0456) == "45.6 µs");
  CHECK(format_time(1.234) == "1.23 ms");
  CHECK(format_time(2100) == "2.10 s");
  CHECK(format_time(90e3) == "1.5 min");
  CHECK(format_time(quiet_nan) == "-");
  CHECK(plural(1, "head") == "1 head");
  CHECK(plural(0, "head") == "0 heads");
  CHECK(plural(1, "leaf") == "1 leaf");
  CHECK(plural(4, "empty leaf") == "4 empty leaves");
}
