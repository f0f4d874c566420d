"""`fovea bench --json`, where it is no time, against what compute says."""
import compute
from compared import differences, leaves, number

TEXTS = ("input", "backend", "device", "precision", "measurements[")
TIMES = ("gemm_gflops", "memory_pass_ms", "peak_bytes")  # and memory: of this machine


def check(program, layer, exact, computed):
    document = program.json("bench", *layer.source, *computed.words, "--repeat", 1)
    wrong = []
    for name in TIMES:
        document.pop(name)
    expected = {"n": layer.keys, "d": layer.d, "heads": layer.heads, "causal": layer.causal}
    expected = {name: (value, 0) for name, value in expected.items()}
    made = {"exact": exact, computed.variant: computed}
    for place, measured in enumerate(document["measurements"]):
        where = f"measurements[{place}]."
        wrong += compute.times_differ(measured.pop("timings_ms"), where + "timings_ms")
        measured.pop("gflops")
        speed_up, share = number(measured.pop("speed_up")), number(measured.pop("share_of_promised"))
        interval = measured.pop("speed_up_interval", None)  # there is none of a few rounds
        if interval and not interval[0] <= speed_up <= interval[1]:
            wrong.append(f"{where}speed_up {speed_up} is not within its interval {interval}")
        of = made[measured["variant"]]
        # Of one head where compute has the sum of all.
        cost = {name: number(value) for name, value in of.document["cost"].items()}
        heads = 1 if measured["cost"]["bytes"] == cost["bytes"] else layer.heads
        for name, value in cost.items():
            right = value if name == "ratio_to_exact" or value is None else value / heads
            expected[f"{where}cost.{name}"] = (right, 1e-12 * (right or 0) if right != float("inf") else 0)
        promised = None
        if cost["ratio_to_exact"] not in (None, 0, float("inf")):
            promised = 1 / cost["ratio_to_exact"]
            expected[where + "promised_speed_up"] = (promised, 1e-12 * promised)
            if share is None or abs(share - speed_up / promised) > 1e-12 * share:
                wrong.append(f"{where}share_of_promised is {share}; expected {speed_up} / {promised}")
        else:
            measured.pop("promised_speed_up")
        expected |= {f"{where}parameters.{path}": (value, 0) for path, value in leaves(of.document["parameters"])}
    return wrong + differences(document, expected, TEXTS)
