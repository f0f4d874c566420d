// NAME.pgf places words on a body, a PDF file that is written beside it. The body is called after
// its content, NAME-body-1f0c93ab.pdf, and is there before a NAME.pgf that names it: whatever ends
// the program, words stand on the body that they were written for.
#pragma once

#include <QByteArray>
#include <functional>
#include <stop_token>
#include <string>

namespace fovea {

/// The body of the NAME.pgf that is there now, which goes when another figure is written over it.
/// Empty: there is none, or the file is none of Fovea's.
std::string pgf_body(const std::string& path);

/// Throws UsageError for a .pgf whose name LaTeX would read as something else.
void require_pgf_name(const std::string& path);

/// Writes the body, then what `text` makes of the body's name, and removes the body of before.
/// Throws UnavailableError and Cancelled; then the old figure is as it was.
void write_pgf(const std::string& path, const QByteArray& body,
               const std::function<QByteArray(const QString& body)>& text,
               const std::stop_token& stop);

/// With which the text of every NAME.pgf begins.
inline constexpr const char* pgf_begin = "%% A figure of Fovea.";

}  // namespace fovea
