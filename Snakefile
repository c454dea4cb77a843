# Measures, analyses and reports; the rules of each step are in workflow/rules. config/config.yaml lists the measurements,
# a profile sets where they run. Start with: snakemake --profile profiles/local
import math
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
sys.path.insert(0, str(Path(workflow.basedir) / "workflow"))

from crossover import code_digest
from crossover.config import claim_list, schema, yaml_file
from crossover.errors import plain
from crossover.measure.machine import provenance
from crossover.planning import (
    batches,
    command_line,
    demand,
    estimate,
    inventory,
    plan,
    second_sweep,
    unmeasured,
)
from crossover.records import disk_space
from crossover.slurm import acceptance, earlier_jobs, partition
from crossover.workflow import claim, folders, replication, session

with plain():
    yaml_file.read_yaml("config/config.yaml")


configfile: "config/config.yaml"


with plain():
    schema.require_plain(workflow.config_settings.config)
    session.require_rule_names(workflow.resource_settings)
    if session.decides(workflow):
        folders.require_own()
    complete = schema.complete(config)
    folders.require(complete["results"])
    run = replication.replicated(complete) | {"hosts": session.hosts(workflow)}
    claim_list.require(claim_list.read("config/claims.yaml"), run["entrants"])

slurm = session.slurm_resources(workflow) if session.decides(workflow) and not run["partial"] else {}
if slurm and (wanted := plan.most_hosts(run)) > 1:
    # Launches with more hosts than one job can have are left out and named.
    run["hosts"], run["too_few_nodes"] = acceptance.most_hosts(slurm, wanted)
# No job requests more time than Slurm grants.
most_minutes = math.inf
if slurm:
    allowed = partition.most_minutes(slurm.get("slurm_partition"))
    most_minutes = acceptance.most_minutes(slurm, min(batches.longest_minutes(run, slurm), allowed))
session.expose()
session.begin(workflow)
RESULTS = run["results"]
held = inventory.launches(RESULTS, run["tier"]) if session.decides(workflow) else []
run["held"] = {name: inventory.files(held, name) for name in run["experiments"]}
# Parsing the command takes a moment, and matters only if measured launches could be lost.
command = command_line.own() if held else command_line.Command()
# With --sdm, launches run with the software of another environment, which is unknown here.
here = held and not workflow.deployment_settings.deployment_method
asked = demand.Demand(run, command, provenance.software() if here else None)
kept = asked.kept(held)
old = inventory.of_no_tier(RESULTS, run["tier"]) if session.decides(workflow) else []
remarks = (
    asked.leaves_out(held, inventory.other_tiers(RESULTS, run["tier"], schema.TIERS), old)
    if run["partial"]
    else []
)
batch = batches.names(
    run, batches.bounds(slurm, most_minutes), [each.launch for each in kept], session.slurm_extra(workflow)
)
course = estimate.Course(run, workflow.nodes, batch, available=lambda: session.most_nodes(workflow))


# Each job has a bound of its own.
resource_scopes:
    alone="local",


wildcard_constraints:
    experiment="|".join(run["experiments"]),
    launch=r"\d+",


include: "workflow/rules/build.smk"
include: "workflow/rules/libzmq.smk"


# With `partial`, existing launches are used as they are, whatever has changed since.
if not run["partial"]:

    include: "workflow/rules/launch.smk"


include: "workflow/rules/analyse.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/doctor.smk"
include: "workflow/rules/outlook.smk"


rule all:
    default_target: True
    input:
        plan.raw_files(run),
        second_sweep.raw_files(run, checkpoints.refinement, *run["experiments"]),
        f"{RESULTS}/recommended.toml",
        f"{RESULTS}/report/index.html",
    localrule: True


# One target per experiment: its launches, tables and figures alone.
for name in run["experiments"]:

    rule:
        name:
            name
        input:
            plan.raw_files(run, name),
            second_sweep.raw_files(run, checkpoints.refinement, name),
            f"{RESULTS}/figures/{name}",
        localrule: True


# Measured launches that the command names as targets need no job.
if named := sorted({each.path for each in kept} & {str(Path(target)) for target in command.targets}):

    rule kept:
        input:
            named,
        localrule: True

    session.ask_instead(workflow, named, "kept")


session.repeat(workflow, [*inventory.passing(held), *asked.repeated(held)])
session.leave_updated_files_alone()
session.join(workflow)
session.when_planned(workflow, look)
session.when_idle(workflow, idle)


onstart:
    with plain():
        disk_space.require(RESULTS)
        claim.claim(RESULTS)
    if workflow.executor_plugin.name == "slurm":
        with plain():
            if left := earlier_jobs.cancel(RESULTS):
                print(left, file=sys.stderr, flush=True)
        session.outwait_controller()
        session.request_whole_memory()
    # The doctor reports refused jobs itself, and checks the rest.
    if not conclude.asked(workflow):
        if workflow.executor_plugin.name == "slurm":
            with plain():
                acceptance.check(
                    workflow.executor_settings.array_jobs,
                    session.requests(workflow),
                )
        keep_command()
        tell()
        watch()


onsuccess:
    if conclude.asked(workflow):
        sys.exit(conclude.conclude(workflow, RESULTS, log, fit()))
    failed = end()
    answer()
    if failed:
        sys.exit(1)


onerror:
    if conclude.asked(workflow):
        conclude.conclude(workflow, RESULTS, log, fit())
    else:
        end()
        with plain():
            disk_space.require(RESULTS)
