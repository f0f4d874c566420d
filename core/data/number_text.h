// How numbers are written for people, in one place. Numbers that are read back by a program are
// written in full (format_exactly); all others have as many digits as are worth reading.
#pragma once

#include <cstdint>
#include <string>

namespace fovea {

/// In captions and tables: significant digits without trailing zeros, and powers of ten where %g
/// has an exponent: "0.123", "4.5×10⁻⁷", "10⁶"; "∞", and "–" for NaN.
std::string format_number(double value, int digits = 3);

/// On axes and in read-outs: the same with a true minus, but whole numbers up to a million are
/// written out, and powers of ten begin below 1e-3: "−0.25", "131072", "4×10⁻⁵"; "∞", "NaN".
std::string format_drawn(double value, int digits = 3);

/// In the cells of a matrix: below 1 as many decimals, without the zero before the point: ".042",
/// "−.500"; "~0" for what they do not show. From 1 on as many significant digits, "12.3", and from
/// where they do not reach the point as format_drawn: "1234", "4×10⁶".
std::string format_compact(double value, int decimals);

/// With a true minus and so many decimals: "−0.20"; "∞" and "–" as format_number has them.
std::string format_fixed(double value, int decimals);

/// "10⁻⁷"; "1" and "10" for the exponents 0 and 1.
std::string power_of_ten(int exponent);

/// The same of 100 times a share: "12.3 %"; "–" for NaN.
std::string format_percent(double share, int digits = 3);

/// On a terminal: four significant digits as %g writes them, or three and an exponent below 1e-3
/// and from 1e6 on: "0.2752", "1.20e-07"; "infinite", "-infinite", and "-" for NaN.
std::string format_plain(double value);

/// Twelve significant digits, or as many more as are needed to read back the same number: "0.1",
/// "1e-05"; "nan" for NaN of either sign.
std::string format_exactly(double value);

/// Whether zeros that end a number are kept, so that numbers of a column have equally many digits.
enum class Zeros { keep, drop };

/// Three significant digits with a unit, "12.3 G", "1.50 MiB", "45.6 µs"; whole numbers below the
/// first unit as they are. What is not finite is written as format_plain does.
std::string format_count(double count, Zeros zeros = Zeros::keep);
std::string format_bytes(double bytes, Zeros zeros = Zeros::keep);
std::string format_time(double milliseconds, Zeros zeros = Zeros::keep);

/// "heads", "leaves".
std::string plural_of(const std::string& noun);

/// "1 head", "12 heads".
std::string plural(std::int64_t count, const std::string& noun);

}  // namespace fovea
