"""`fovea pareto --json`, `fovea heads --json` and `--csv`: trials of settings, their spread, the best of them."""
import csv
import io
import math


import compute
from compared import differences, leaves, number
from computed import Computed

TEXTS = ("source", "backend", "device", "precision", "notes", "not_tried[", "x.", "y.", "settings[", "trials[", "refused",
         "budget.", "heads[", "answer.")
MORE_IS_BETTER = ("mass_kept", "top1_recall", "top8_recall", "top64_recall", "output_cosine", "output_min_cosine",
                  "output_pearson")
SMALL = {"output_rel_fro": 0.1, "row_rel_error_p90": 0.1, "attention_tv": 0.1, "mass_kept": 0.9}
BOUND = "oracle"  # no attention to use
COSTS = MEASURES = ("multiply_adds", "ratio_to_exact", "bytes")


def defined(value):
    value = number(value)
    return value is not None and not math.isnan(value)


def quantile(values, share):
    """Straight lines between the ordered numbers; infinite next to infinity."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    if at == low or ordered[low] == ordered[high]:
        return ordered[low]
    return math.inf if math.isinf(ordered[high]) else ordered[low] + (at - low) * (ordered[high] - ordered[low])


def median_interval(values):
    """From the k-th smallest to the k-th largest, with the largest k for which at most 5 % of all samples miss."""
    count, below, k = len(values), 0, 0
    while below + math.comb(count, k) / 2 ** count <= 0.025:
        below += math.comb(count, k) / 2 ** count
        k += 1
    ordered = sorted(values)
    return (ordered[k - 1], ordered[count - k]) if k else None


def setting_of(trial):
    return trial["variant"], str(trial["parameters"])


def value_of(trial, axis):
    """A measure, or a parameter of the variant."""
    return number(trial["parameters"].get(axis) if axis in trial["parameters"] else trial["measures"].get(axis))


def settings_differ(document, x, y):
    """What is said of each setting over the heads, or over seeds of one head, from the trials."""
    places, wrong = {}, []
    for trial in document["trials"]:
        if x in MEASURES or x in trial["parameters"]:  # what has no such parameter is not drawn
            places.setdefault(setting_of(trial), []).append(trial)
    found = document["settings"]
    expected = {}
    medians = []
    for number_of, trials in enumerate(places.values()):
        refused = [t for t in trials if "refused" in t]
        both = [(value_of(t, x), value_of(t, y)) for t in trials if "refused" not in t]
        pairs = [(a, b) for a, b in both if defined(a) and defined(b)]
        where = f"settings[{number_of}]."
        expected[where + "n"] = (trials[0]["n"], 0)
        seeds = max(1, len({t["seed"] for t in trials}))
        expected[where + "heads"] = (len(pairs) // seeds, 0)
        expected[where + "seeds"] = (seeds, 0)
        expected |= {f"{where}parameters.{path}": (number(value), 0) for path, value in leaves(trials[0]["parameters"])}
        errors = [b for _, b in pairs]
        interval = median_interval(errors) if pairs and (seeds == 1 or min(errors) < max(errors)) else None
        if interval:
            expected |= {where + f"interval[{end}]": (interval[end], 0) for end in (0, 1)}
        elif pairs:
            expected[where + "interval"] = (None, 0)
        if len(both) > len(pairs):
            expected[where + "heads_without"] = (len(both) - len(pairs), 0)
        if refused:
            expected[where + "heads_refused"] = (len(refused), 0)
        for axis, numbers in (("x", [a for a, _ in pairs]), ("y", [b for _, b in pairs])):
            if not numbers:
                expected[where + axis] = (None, 0)
            for name, share in (("median", 0.5), ("p10", 0.1), ("p90", 0.9)) if numbers else ():
                value = quantile(numbers, share)
                expected[where + f"{axis}.{name}"] = (value, 1e-12 * abs(value) if math.isfinite(value) else 0)
        medians.append((quantile([a for a, _ in pairs], 0.5), quantile([b for _, b in pairs], 0.5), len(pairs) // seeds)
                       if pairs else (math.inf, math.inf, 0))
    if any(x in trial["parameters"] for trial in document["trials"]):  # no cost, so that there is no front
        medians = [(math.inf, math.inf, 0)] * len(medians)
    most = max([1] + [count for _, _, count in medians])
    signed = [(-a if x in MORE_IS_BETTER else a, -b if y in MORE_IS_BETTER else b,
               count == most and variant != BOUND)
              for (a, b, count), (variant, _) in zip(medians, places)]
    for place, (a, b, on_all) in enumerate(signed):
        beaten = any(all_heads and math.isfinite(c) and math.isfinite(d) and c <= a and d <= b and (c < a or d < b)
                     for c, d, all_heads in signed)
        expected[f"settings[{place}].on_front"] = (on_all and math.isfinite(a) and math.isfinite(b) and not beaten, 0)
    if len(found) != len(places):
        wrong.append(f"{len(found)} settings; expected {len(places)}")
    return expected, wrong


def trials_differ(program, layer, document):
    """Some settings once more by compute: the same functions give the same numbers."""
    wrong = []
    places = {}
    for place, trial in enumerate(document["trials"]):
        places.setdefault((setting_of(trial), trial["seed"]), []).append((place, trial))
    exact = None
    names = list(places)
    for which in [names[0]] + [names[i] for i in layer.draw.random.permutation(len(names))[:3]]:
        trials = places[which]
        if any("refused" in trial for _, trial in trials):
            continue
        values = {key: ",".join(map(str, value)) if isinstance(value, list) else value
                  for key, value in trials[0][1]["parameters"].items() if value != []}
        computed = Computed(program, layer, which[0][0], values, which[1])
        exact = exact or computed
        wrong += compute.check(layer, exact, computed)
        total = {cost: 0.0 for cost in COSTS}
        for place, trial in trials:
            measures = trial["measures"]
            for cost in COSTS:
                total[cost] += number(measures[cost]) or 0
            for key, value in measures.items():
                if key not in COSTS:
                    right = computed.measure(trial["head"], key)
                    if number(value) != right:
                        wrong.append(f"trials[{place}].measures.{key} is {value}; expected {right}, as of compute")
        for cost in ("multiply_adds", "bytes"):
            right = computed.document["cost"][cost]
            if total[cost] != right:
                wrong.append(f"{cost} of {which} is {total[cost]}; expected {right}, as of compute")
    return wrong


def ratios_differ(document):
    wrong, exact = [], {}
    for place, trial in enumerate(document["trials"]):
        if "refused" in trial:
            continue
        if trial["variant"] == "exact":
            exact[trial["head"]] = trial["measures"]["multiply_adds"]
        own, of = trial["measures"]["multiply_adds"], exact[trial["head"]]
        ratio = trial["measures"]["ratio_to_exact"]
        right = own / of if of else math.inf if own else None
        if number(ratio) != right and not (right and abs(number(ratio) - right) <= 1e-15 * right):
            wrong.append(f"trials[{place}].measures.ratio_to_exact is {ratio}; expected {right}")
    return wrong


def best(trials, limited, most, wanted):
    """The least of `wanted` that keeps the budget; of equals the one with less of the other."""
    kept = [(number(t["measures"][wanted]), number(t["measures"][limited]), place) for place, t in enumerate(trials)
            if "refused" not in t and t["variant"] != BOUND
            and defined(t["measures"].get(wanted)) and defined(t["measures"].get(limited))]
    kept = [k for k in kept if k[1] <= most and math.isfinite(k[0])]
    return trials[min(kept)[2]] if kept else None


def answer_expected(document, y, at_most):
    """What makes the least error within the budget, and what is next to it, of all that was measured on all heads."""
    worse = -1 if y in MORE_IS_BETTER else 1
    places = {}
    for trial in document["trials"]:
        places.setdefault(setting_of(trial), []).append(trial)
    points = []
    for trials in places.values():
        pairs = [(number(t["measures"].get("ratio_to_exact")), number(t["measures"].get(y))) for t in trials
                 if "refused" not in t]
        pairs = [(a, b) for a, b in pairs if defined(a) and defined(b)]
        if pairs:
            errors = [b for _, b in pairs]
            one_seed = len({t["seed"] for t in trials}) == 1
            interval = median_interval(errors) if one_seed or min(errors) < max(errors) else None
            points.append((worse * quantile(errors, 0.5), quantile([a for a, _ in pairs], 0.5), len(points), trials,
                           interval))

    def heads(point):
        return len({t["head"] for t in point[3] if "refused" not in t
                    and all(defined(t["measures"].get(name)) for name in ("ratio_to_exact", y))})

    most = max(map(heads, points), default=0)
    points = [p for p in points if p[3][0]["variant"] not in ("exact", BOUND) and math.isfinite(p[0]) and math.isfinite(p[1])
              and heads(p) == most]
    kept = sorted(p for p in points if p[1] <= at_most)
    best = kept[0] if kept else None
    others = [p for p in kept if best and p[3][0]["variant"] != best[3][0]["variant"]]
    small = SMALL.get(y)
    near = sorted((p for p in points if small is not None and p[0] <= worse * small and p[1] < 1),
                  key=lambda p: (p[1], p[0]))
    expected = {"answer.cost_at_most": (at_most, 0), "answer.small_error": (small, 0)}
    for name, point in (("best", best), ("next", others[0] if others else None),
                        ("cheapest_with_small_error", near[0] if near and best else None)):
        where = f"answer.{name}"
        if not point:
            expected[where] = (None, 0)
            continue
        expected[where + ".error"] = (worse * point[0], 1e-12 * abs(point[0]))
        expected[where + ".cost"] = (point[1], 1e-12 * point[1])
        expected[where + ".seed"] = (point[3][0]["seed"], 0)
        expected |= {f"{where}.parameters.{path}": (number(value), 0) for path, value in
                     leaves(point[3][0]["parameters"])}
        if point[4]:
            expected |= {f"{where}.interval[{end}]": (point[4][end], 0) for end in (0, 1)}
        else:
            expected[where + ".interval"] = (None, 0)
    return expected


def undecided(document, y):
    """Whether both errors, head by head, have a ratio whose median may be 1."""
    best_one, other = document["answer"]["best"], document["answer"]["next"]
    if not best_one or not other:
        return False
    errors = [{t["head"]: number(t["measures"].get(y)) for t in document["trials"]
               if setting_of(t) == setting_of(one) and t["seed"] == one["seed"]} for one in (best_one, other)]
    ratios = [errors[1][head] / a for head, a in errors[0].items()
              if defined(a) and a > 0 and defined(errors[1].get(head))]
    interval = median_interval(ratios)
    return bool(interval and interval[0] <= 1 <= interval[1])


def heads_differ(program, layer, trials, words, seed):
    by_cost = bool(layer.draw.one_in(2))
    most = layer.draw.of([0.2, 0.5, 1.5] if by_cost else [0.05, 0.5, 2.0])
    budget = ["--cost" if by_cost else "--within", most]
    document = program.json("heads", *layer.source, *words, *budget)
    limited, wanted = ("ratio_to_exact", "output_rel_fro") if by_cost else ("output_rel_fro", "ratio_to_exact")
    plain = {"seed": seed, "budget.most": most, "budget.measure": limited, "budget.least": wanted}
    expected = {name: (value, 0) for name, value in plain.items()}
    for head in range(layer.heads):
        own = [t for t in trials if t["head"] == head]
        found = best(own, limited, most, wanted)
        choice = found or own[0]
        where = f"heads[{head}]."
        plain = {"layer": 0, "head": head, "n": layer.keys, "variant": choice["variant"], "seed": seed,
                 "scale": layer.scale, "causal": layer.causal, "within_budget": found is not None}
        plain |= {"parameters." + path: value for path, value in leaves(choice["parameters"])}
        plain |= {name: choice["measures"].get(name) for name in ("output_rel_fro", "ratio_to_exact", "multiply_adds")}
        expected |= {where + name: (number(value), 0) for name, value in plain.items()}
    wrong = differences(document, expected, TEXTS)
    table = list(csv.DictReader(io.StringIO(program.call("heads", *layer.source, *words, *budget, "--csv"))))
    for row, entry in zip(table, document["heads"], strict=True):
        for name, text in row.items():
            value = entry[name]
            if name == "parameters":
                value = " ".join(f"{key}={','.join(f'{v:g}' for v in x) if isinstance(x, list) else x}"
                                 for key, x in value.items())
                same = [word for word in text.split()] == [w for w in value.split()] or numbers_equal(text, value)
            elif isinstance(value, bool):
                same = text == str(value).lower()
            elif isinstance(value, str):
                same = text == value
            else:
                same = text == "" if value is None else float(text) == value
            if not same:
                wrong.append(f"heads --csv: {name} is {text}; expected {value}, as in --json")
    return wrong


def numbers_equal(text, other):
    """Words key=value, whose values may be written as 1 or 1.0."""
    def parsed(words):
        pairs = [word.split("=") for word in words.split()]
        try:
            return [(key, [float(v) for v in value.split(",")] if value and value[0] in "-.0123456789" else value)
                    for key, value in pairs]
        except ValueError:
            return pairs
    return parsed(text) == parsed(other)


def check(program, layer, variants, seed, x=None, y=None, at_most=None, seeds=1,
          more=("--no-learn",)):
    words = [word for variant in variants for word in ("--variant", variant)] + ["--settings", 4, "--seed", seed, *more]
    x = x or layer.draw.of(["multiply_adds", "ratio_to_exact", "bytes"])
    y = y or layer.draw.of(["output_rel_fro", "attention_tv", "attention_kl", "mass_kept", "row_rel_error_p90"]
                           if layer.dv else ["attention_tv", "attention_kl", "mass_kept"])
    at_most = at_most or layer.draw.of([0.1, 0.3, 1.0])
    document = program.json("pareto", *layer.source, *words, "--x", x, "--y", y, "--seeds", seeds, "--cost", at_most)
    expected, wrong = settings_differ(document, x, y)
    expected["seed"] = (seed, 0)
    expected |= {"x.id": (x, 0), "y.id": (y, 0)} | answer_expected(document, y, at_most)
    if x not in MEASURES:
        expected["x.parameter"] = (True, 0)
    expected["answer.undecided"] = (undecided(document, y), 0)
    tried = {}  # how many seeds each setting had
    for place, trial in enumerate(document["trials"]):
        where = f"trials[{place}]."
        own = tried[setting_of(trial), trial["head"]] = tried.get((setting_of(trial), trial["head"]), -1) + 1
        plain = {"layer": 0, "n": layer.keys, "seed": seed + own, "scale": layer.scale, "causal": layer.causal}
        if "refused" in trial:
            plain["scale"], plain["causal"] = trial["scale"], trial["causal"]
        expected |= {where + name: (value, 0) for name, value in plain.items()}
        # Numbers of a trial are those of compute, which trials_differ compares.
        expected |= {where + path: (number(value), 0) for path, value in leaves(trial)
                     if path.split(".")[0].split("[")[0] in ("measures", "parameters", "head")}
    wrong += differences(document, expected, TEXTS) + ratios_differ(document)
    wrong += trials_differ(program, layer, document)
    if layer.dv and x in MEASURES and seeds == 1:
        wrong += heads_differ(program, layer, document["trials"], words, seed)
    return wrong
