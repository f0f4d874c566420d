// The numbers behind panels, for other programs: JSON holds those of any panel, CSV and NPY those
// of one panel. A matrix comes with the tokens of its rows and columns and how it is pooled.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "panels/panel.h"
#include "report/json_output.h"

namespace fovea {

Document numbers_json(const Panel& panel, const std::stop_token& stop = {});
/// The numbers of several panels, as a list, row by row.
Document numbers_json(const std::vector<std::vector<Panel>>& panels,
                      const std::stop_token& stop = {});
/// For a matrix, a header of the keys, and a line for each row that begins with its queries: "17",
/// or "16-19" if it covers several. The corner says how it is pooled.
std::string numbers_csv(const Panel& panel, const std::stop_token& stop = {});
/// A file of float32, [rows, cols] or [n]. Throws UsageError if the panel has no such numbers.
std::string numbers_npy(const Panel& panel);
/// "attention weight P of queries 0 to 63 and keys 0 to 63, max of 2 × 2": the facts that an array
/// alone does not hold.
std::string words_of_numbers(const Panel& panel);

/// By the ending of `path`: .json, .csv or .npy; else a directory, which gets a .csv and a .npy for
/// each panel, or a .json if the panel is no matrix. Throws UsageError for several panels in a .csv
/// or .npy, UnavailableError, and Cancelled.
void write_numbers(const std::string& path, const std::vector<std::vector<Panel>>& panels,
                   const std::stop_token& stop = {});
/// Throws what write_numbers would throw for this number of panels, and UnavailableError.
void check_numbers_name(const std::string& path, std::size_t panels);

}  // namespace fovea
