// A HeadTable as files: a configuration that another program can read to compute the heads so.
#pragma once

#include <string>

#include "data/source.h"
#include "report/json_output.h"
#include "sweep/head_table.h"

namespace fovea {

/// {"budget": ..., "heads": [{layer, head, variant, parameters, seed, scale, causal, ...}]}
Document to_json(const HeadTable& table, const Source& source);

/// The same as a table: a heading, and a line for each head.
std::string to_csv(const HeadTable& table);

}  // namespace fovea
