// pool_nodes makes pixels of P of tree attention from numbers of keys, never from pairs.
#pragma once

#include "backend/operator.h"
#include "backend/profile.h"
#include "device/device_matrix.h"
#include "nodes/node_tables.h"

namespace fovea::cuda {

/// `pixels`: [pool.rows, pool.cols]. Waits for the device now and then.
void pool_nodes(const Device& device, const NodeTables& tables, IndexRange rows, Range cols,
                Pool pool, const DeviceMatrix& pixels, Run& run);

}  // namespace fovea::cuda
