"""Compares a forward pass of a model with that of transformers on PyTorch, in float32 on the same
threads, in turn:  python encoder_peer.py BENCH_ENCODER FOLDER TOKENS_OR_SIDE THREADS [RUNS]

Prints both medians, and the median ratio with its quartiles; below 1, Fovea is faster.
"""

import statistics
import subprocess
import sys
import time

import torch
import transformers


def main():
    program, folder, size, threads = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    runs = int(sys.argv[5]) if len(sys.argv) > 5 else 21
    torch.set_num_threads(threads)
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    if hasattr(model.config, "vocab_size"):
        ids = 1000 + 37 * torch.arange(size) % (model.config.vocab_size - 1000)
        inputs = {"input_ids": ids[None]}
    else:
        values = (torch.arange(3 * size * size) % 251).float() / 125 - 1
        inputs = {"pixel_values": values.reshape(1, 3, size, size)}
    fovea = subprocess.Popen([program, folder, str(size), str(threads), "0"], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def own():
        fovea.stdin.write("\n")
        fovea.stdin.flush()
        return float(fovea.stdout.readline())

    def peer():
        begin = time.perf_counter()
        with torch.inference_mode():
            model(**inputs)
        return (time.perf_counter() - begin) * 1000

    times = []
    for run in range(runs + 2):
        pair = (own(), peer()) if run % 2 else (peer(), own())[::-1]
        if run >= 2:  # the first ones warm up
            times.append(pair)
    fovea.stdin.close()
    fovea.wait()
    ratios = sorted(ours / theirs for ours, theirs in times)
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{folder}: {size}, {threads} threads: Fovea {statistics.median(t[0] for t in times):.1f} ms, "
          f"PyTorch {statistics.median(t[1] for t in times):.1f} ms, "
          f"ratio {middle:.2f} ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
