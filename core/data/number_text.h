// How numbers are written for people, in one place. Numbers that are read back by a program are
// written in full (format_exactly); all others have as many digits as are worth reading.
#pragma once

#include <cstdint>
#include <string>

namespace fovea {

/// Whether zeros that end a number are kept, so that numbers of one kind have equally many digits.
enum class Zeros { keep, drop };

/// In captions and tables: significant digits, and a power of ten if %g would write an exponent:
/// "0.123", "0.70" with zeros, "4.5×10⁻⁷", "10⁶", "∞", and "–" for NaN.
std::string format_number(double value, int digits = 3, Zeros zeros = Zeros::drop);

/// On axes and in read-outs: as format_number with a true minus, but whole numbers up to a million
/// are written out, and powers of ten begin below 1e-3: "−0.25", "131072", "4×10⁻⁵", "∞", "NaN".
std::string format_drawn(double value, int digits = 3);

/// In the cells of a matrix: numbers below 1 have `digits` decimals without the zero before the
/// point, ".042", "−.500", and "10⁻⁷" if these show nothing. Numbers from 1 on have `digits`
/// significant digits, "12.3", or are written as format_drawn writes them if they have more before
/// the point: "1234", "4×10⁶".
std::string format_compact(double value, int decimals);

/// With a true minus and so many decimals: "−0.20"; "∞" and "–" as format_number has them.
std::string format_fixed(double value, int decimals);

/// "10⁻⁷"; "1" and "10" for the exponents 0 and 1.
std::string power_of_ten(int exponent);

/// A share in percent: "12.3 %", and "–" for NaN.
std::string format_percent(double share, int digits = 3);

/// A share of a cost in percent, for titles and sentences: "0.92 %", "8.4 %", "20 %", "128 %"; "–"
/// for NaN.
std::string format_share(double share);

/// On a terminal: four significant digits as %g writes them, or three and a power of ten below 1e-3
/// and from 1e6 on: "0.2752", "1.2×10⁻⁷"; "infinite", "-infinite", and "-" for NaN.
std::string format_plain(double value);

/// Twelve significant digits, or as many more as are needed to read back the same number: "0.1",
/// "1e-05"; "nan" for NaN of either sign.
std::string format_exactly(double value);

/// Three significant digits with a unit, "12.3 G", "1.50 MiB", "45.6 µs". Whole numbers below the
/// first unit are written out. Numbers that are not finite are written as by format_plain.
std::string format_count(double count, Zeros zeros = Zeros::keep);
std::string format_bytes(double bytes, Zeros zeros = Zeros::keep);
std::string format_time(double milliseconds, Zeros zeros = Zeros::keep);

/// "heads", "leaves".
std::string plural_of(const std::string& noun);

/// "1 head", "12 heads".
std::string plural(std::int64_t count, const std::string& noun);

}  // namespace fovea
