// NAME.pgf places words on a body, a PDF file that is written beside it. The body is called after
// its content, NAME-body-1f0c93ab.pdf, and is written before the NAME.pgf that names it: however
// the program ends, words stand on the body that they were written for.
#pragma once

#include <QByteArray>
#include <functional>
#include <stop_token>
#include <string>

namespace fovea {

/// The body of the NAME.pgf that is there now, which is removed when another figure replaces it.
/// Empty if there is none, or if Fovea did not write the file.
std::string pgf_body(const std::string& path);

/// Throws UsageError for a .pgf whose name LaTeX would read as something else.
void require_pgf_name(const std::string& path);

/// Writes the body, then the text that `text` makes from the body's name, and removes the earlier
/// body. Throws UnavailableError and Cancelled, and then leaves the old figure as it was.
void write_pgf(const std::string& path, const QByteArray& body,
               const std::function<QByteArray(const QString& body)>& text,
               const std::stop_token& stop);

/// The beginning of every NAME.pgf.
inline constexpr const char* pgf_begin = "%% A figure of Fovea.";

}  // namespace fovea
