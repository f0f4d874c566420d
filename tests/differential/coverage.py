"""Whether each number that the JSON of the commands can hold was compared with a formula.

The keys are read from the sources that write the documents, the parameters from `fovea variants`. A new key that no
case shows is a failure, and so is a number that was seen and not compared.
"""
import json
import pathlib
import re

import compared

ROOT = pathlib.Path(__file__).parents[2]
COMMANDS = ("compute", "rankmap", "spans", "pareto", "heads", "heads --measures", "heads --triage")
# What writes the documents of these commands, and the tables that name their numbers.
WRITERS = ("report/json_output", "report/measured_heads", "report/triaged_heads", "report/head_table_files",
           "cli/reports/report", "cli/commands/rankmap_command", "cli/commands/spans_command",
           "cli/commands/pareto_command", "cli/exploration", "cli/head_measuring", "cli/head_triaging")
# Files that write other documents: none of their numbers are those of the commands above.
OTHER_WRITERS = frozenset((
    "batch/item_queue", "batch/item_runner", "batch/results_folder", "batch/results_table", "batch/results_trials",
    "cli/bench/selections", "cli/commands/bench_command", "cli/commands/effect_command", "cli/commands/heads_command",
    "cli/commands/info_command", "cli/commands/paper_command", "cli/commands/variants_command",
    "cli/fit_validation", "cli/reports/devices_report", "cli/reports/effect_report", "cli/reports/fit_report",
    "cli/reports/interaction_report", "cli/reports/selections_report", "effect/effect_json", "report/panel_numbers",
    "window/docks/effect_dock", "window/docks/explore_dock", "window/docks/measures_page", "window/docks/triage_page"))
FIGURES = "core/analysis"
# Keys of words, and of times (see compared.NOT_COMPARED); words of these sources that are no keys.
WORDS = frozenset((
    "as_good attention backend better block_sparse causal computed conditions default definition device dk dq even failed "
    "finding from_sampled_rows hierarchy id input inputs interval_over label layer_label least logits meaning measure "
    "missing model near_keep not_tried notes of on_front output parameter partition pattern precision range refused "
    "relative sampled slow_machine source stored top type undecided uniform unit unnormalised variant vertical_and_slash "
    "where within_budget "
    "_interval all apply apply_ms apply_speed_up exact_ms exact_total first_run learning learning_ms plan seconds speed_up "
    "timings_ms total total_ms total_speed_up").split())
KEY = re.compile(r'\{\s*"([a-z][a-z0-9_]*)",|\["([a-z][a-z0-9_]*)"\]|put_estimate\([^;]*?"([a-z0-9_]+)",|'
                 r'\.id = "([a-z0-9_]+)"|"([a-z0-9_]+_)" \+ |\+ "(_[a-z_]+)"')


def keys_of(path):
    return {next(filter(None, match)) for match in KEY.findall(path.read_text())}


def keys():
    """{key: file}: a whole one, or an end as `_standard_error`, or a beginning as `level_share_`."""
    files = [ROOT / "app" / f"{name}.cpp" for name in WRITERS] + sorted((ROOT / FIGURES).glob("*.*"))
    return {key: path.name for path in files for key in keys_of(path) if key not in WORDS}


def is_shown(key, names):
    if key.startswith("_"):
        return any(name.endswith(key) for name in names)
    return key in names or (key.endswith("_") and any(name.startswith(key) for name in names))


def gaps(program):
    """Lines that say what nobody compares."""
    wrong = [f"{command}: {path} is a number that nothing is compared with" for command, path in
             sorted(compared.SEEN - compared.COMPARED) if command in COMMANDS and compared.is_compared(path)]
    paths = {path for command, path in compared.COMPARED if command in COMMANDS}
    names = {part.replace("[]", "") for path in paths for part in path.split(".")}
    wrong += [f"{file} can write “{key}”, which no case of the differential test shows"
              for key, file in sorted(keys().items()) if not is_shown(key, names)]
    for variant in json.loads(program.call("variants", "--json"))["variants"]:
        wrong += [f"the parameter {parameter['id']} of {variant['id']} is set by no case"
                  for parameter in variant["parameters"] if (variant["id"], parameter["id"]) not in compared.SET]
    written = {str(path.relative_to(ROOT / "app").with_suffix("")) for path in (ROOT / "app").rglob("*.cpp")
               if re.search(r"\bDocument\b|nlohmann", path.read_text())}
    wrong += [f"app/{name}.cpp writes JSON, and is not among the writers that coverage.py knows"
              for name in sorted(written - set(WRITERS) - OTHER_WRITERS)]
    return wrong
