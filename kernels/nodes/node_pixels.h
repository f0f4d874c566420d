// pool_nodes finds the pixels of tree attention's P from numbers of keys, without evaluating pairs.
#pragma once

#include "backend/operator.h"
#include "backend/profile.h"
#include "device/device_matrix.h"
#include "nodes/node_tables.h"

namespace fovea::cuda {

/// `pixels`: [pool.rows, pool.cols]. Waits for the device several times.
void pool_nodes(const Device& device, const NodeTables& tables, IndexRange rows, Range32 cols,
                Pool pool, const DeviceMatrix& pixels, Run& run);

}  // namespace fovea::cuda
