// The benchmark's entries behind a C interface, so that a program with other kernels measures them
// in turn with its own (torch_peers.py loads it with ctypes). Not thread-safe. Where a call fails
// (null, or a negative number) fovea_bench_message says why.
#pragma once

extern "C" {

struct fovea_bench;

const char* fovea_bench_message();
/// The name of the GPU; null if there is none.
const char* fovea_bench_device();

/// The contenders of a group, a line each: "hyper bf16".
const char* fovea_bench_contenders(long long n, int causal);
/// Plans and binds a contender. q, k, v: [heads, n, d] in the memory of the host, copied.
fovea_bench* fovea_bench_open(const char* id, const char* precision, long long n, long long heads,
                              long long d, int causal, const float* q, const float* k,
                              const float* v);
void fovea_bench_close(fovea_bench* entry);
/// "block=16".
const char* fovea_bench_settings(const fovea_bench* entry);
/// What the last run was computed by: "wgmma".
const char* fovea_bench_kernel(const fovea_bench* entry);
/// The least time that an H200 could take, in ms; 0 if not known.
double fovea_bench_floor(const fovea_bench* entry);

/// 1: accurate, 0: not, as the message says. errors[4]: on random logits and on peaked ones, each
/// ours and that of the plain formula in the same precision (sampled_rows.h).
int fovea_bench_gate(fovea_bench* entry, double* errors);
/// Runs once. Fails where another kernel ran than was asked for. times[2]: of the kernels, and how
/// much of that may be time of the host, in ms. z: [heads, n, d], or null.
int fovea_bench_run(fovea_bench* entry, double* times, float* z);
/// In ms, from Q, K and V to Z in the memory of the host, with planning.
double fovea_bench_end_to_end(fovea_bench* entry);
}
