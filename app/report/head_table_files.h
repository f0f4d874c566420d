// A HeadTable as files: a configuration with which another program can compute the heads.
#pragma once

#include <string>

#include "data/source.h"
#include "report/json_output.h"
#include "sweep/head_table.h"

namespace fovea {

/// {"budget": ..., "heads": [{layer, head, variant, parameters, seed, scale, causal, ...}]}
Document to_json(const HeadTable& table, const Source& source);

/// As a table: a heading, and a line for each head.
std::string to_csv(const HeadTable& table);

}  // namespace fovea
