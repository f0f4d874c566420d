// How numbers are written.
#include "data/number_text.h"

#include <doctest/doctest.h>

#include <limits>

using namespace fovea;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

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
  CHECK(format_percent(0.1234) == "12.3 %");
  CHECK(format_percent(0.996, 2) == "10² %");  // two digits: 1.0e+02
}

TEST_CASE("numbers of a terminal have four digits, and NaN and infinities have words") {
  CHECK(format_plain(0.27518) == "0.2752");
  CHECK(format_plain(1e-3) == "0.001");
  CHECK(format_plain(9.99e-4) == "9.99e-04");
  CHECK(format_plain(123456) == "1.235e+05");
  CHECK(format_plain(1e6) == "1.00e+06");
  CHECK(format_plain(infinity) == "infinite");
  CHECK(format_plain(-infinity) == "-infinite");
  CHECK(format_plain(nan) == "-");
}

TEST_CASE("numbers that are read back keep what was typed") {
  CHECK(format_exactly(0.1) == "0.1");
  CHECK(format_exactly(1e-5) == "1e-05");
  CHECK(format_exactly(0.123456789012) == "0.123456789012");
  CHECK(format_exactly(131072) == "131072");
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
  CHECK(format_time(nan) == "-");
  CHECK(plural(1, "head") == "1 head");
  CHECK(plural(0, "head") == "0 heads");
  CHECK(plural(1, "leaf") == "1 leaf");
  CHECK(plural(4, "empty leaf") == "4 empty leaves");
}
