# Looks before anything is measured: two jobs like a launch's, and looks where Snakemake runs. Snakemake -F doctor.
# The findings are printed when the run ends, however it ends: a job that is refused must not hide the others'.

from crossover.doctor import attempt, checks, conclude

DOCTOR = f"{RESULTS}/doctor"
# On one machine there is no second host, and no queue to wait in.
EXAMINED = [place for place, count in attempt.HOSTS.items() if count <= session.hosts(workflow)]
LOOKED_AT = [check for check in checks.WHERE_SNAKEMAKE_RUNS if check != "queue" or workflow.nodes]


rule examine:
    output:
        f"{DOCTOR}/{{placement}}.json",
    log:
        f"{RESULTS}/logs/doctor/{{placement}}.log",
    wildcard_constraints:
        placement="|".join(attempt.HOSTS),
    # What a job that fails has to say, it says the first time.
    retries: 0
    conda:
        "../../envs/measure.yaml"
    resources:
        mpi="mpiexec",
        tasks=2,
        nodes=attempt.wanted,
        runtime=5,
        interface="auto",
    message:
        "Examining placement {wildcards.placement}"
    shell:
        "python -m crossover examine --placement {wildcards.placement} --mpi {resources.mpi:q}"
        " --interface {resources.interface:q}"
        " --output {output:q} --log {log:q}"


for check in LOOKED_AT:

    rule:
        name:
            f"look_{check}"
        output:
            f"{DOCTOR}/{check}.json",
        log:
            f"{RESULTS}/logs/doctor/{check}.log",
        localrule: True
        conda:
            f"../../envs/{checks.WHERE_SNAKEMAKE_RUNS[check]}.yaml"
        params:
            check=check,
        message:
            "Looking at {params.check}"
        shell:
            "python -m crossover look {params.check} --output {output:q} 2>&1 | tee {log:q}"


rule doctor:
    input:
        expand(f"{DOCTOR}/{{seen}}.json", seen=[*EXAMINED, *LOOKED_AT]),
    localrule: True
