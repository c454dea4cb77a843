# Checks a site before anything is measured, by two jobs like a launch's: snakemake -F doctor. The findings
# are printed however the run ends, because one refused job must not hide the others.

from crossover.doctor import facts

DOCTOR = f"{RESULTS}/doctor"
# One machine has no second host, nor has a partition of one node.
EXAMINED = facts.placements(run.config.hosts)


rule examine:
    output:
        f"{DOCTOR}/{{placement}}.json",
    log:
        f"{RESULTS}/logs/doctor/{{placement}}.log",
    wildcard_constraints:
        placement="|".join(facts.HOSTS),
    # A second try would tell nothing new.
    retries: 0
    localrule: not run.decides
    conda:
        "../../envs/measure.yaml"
    resources:
        mpi="mpiexec",
        tasks=2,
        nodes=lambda wildcards: facts.HOSTS[wildcards.placement],
        runtime=5,
        interface="auto",
    message:
        "Examining placement {wildcards.placement}"
    shell:
        "python -m crossover examine --placement {wildcards.placement} --mpi {resources.mpi:q}"
        " --interface {resources.interface:q}"
        " --output {output:q} --log {log:q}"


rule doctor:
    input:
        expand(f"{DOCTOR}/{{placement}}.json", placement=EXAMINED),
    localrule: True
