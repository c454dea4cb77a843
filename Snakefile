# Measures, analyses and reports; the rules of each step are in workflow/rules. config/config.yaml lists the measurements,
# a profile sets where they run. Start with: snakemake --profile profiles/local
import sys
from pathlib import Path

from snakemake.utils import min_version

min_version("9.27")
sys.path.insert(0, str(Path(workflow.basedir) / "workflow"))

from crossover import code_digest
from crossover.config import yaml_file
from crossover.errors import plain
from crossover.workflow import hooks
from crossover.workflow.run import Run

with plain():
    yaml_file.read_yaml("config/config.yaml")


configfile: "config/config.yaml"


run = Run(workflow, config, hooks.tell)
RESULTS = run.results


wildcard_constraints:
    experiment="|".join(run.config.experiments),


include: "workflow/rules/build.smk"
include: "workflow/rules/libzmq.smk"


# With `partial`, existing launches are used as they are, whatever has changed since.
if not run.partial:

    include: "workflow/rules/launch.smk"


include: "workflow/rules/doctor.smk"


# The other steps run where Snakemake runs, so a process that measures one launch is spared them.
if run.decides:

    include: "workflow/rules/analyse.smk"
    include: "workflow/rules/report.smk"


# The targets: one for everything, one per experiment for its launches, tables and figures alone. They have no output, so
# they always run, and a run with nothing to measure ends in `onsuccess` too.
for target, experiments in run.targets.items() if run.decides else ():

    rule:
        name:
            target
        default_target: target == "all"
        input:
            run.receipts(*experiments),
            # A file of each step: a step that has failed left none, and Snakemake makes no missing file between others.
            run.each("{results}/experiments/{experiment}/launches.parquet", *experiments),
            run.each("{results}/figures/{experiment}", *experiments),
            (
                expand(
                    f"{RESULTS}/{{file}}",
                    file=(
                        "launches.parquet",
                        "claims.parquet",
                        "recommended.toml",
                        "figures/ladder",
                        "report/index.html",
                    ),
                )
                if target == "all"
                else []
            ),
        log:
            f"{RESULTS}/logs/{target}.log",
        localrule: True
        conda:
            "envs/report.yaml"
        shell:
            ": > {log:q}"


onstart:
    hooks.start(run)


onsuccess:
    hooks.success(run, log)


onerror:
    hooks.error(run, log)
