# One launch is all cells and arms of one experiment in one placement, in one set of processes. Its output is a receipt, which
# names its raw file: Snakemake deletes and replaces outputs, and raw files are only ever added.

from crossover.planning import receipt


rule launch:
    input:
        # A newer library measures a launch again only if it was a hole.
        libraries=lambda wildcards: (list if run.decides else ancient)(run.libraries(wildcards)),
        # The launches of a job follow each other.
        before=lambda wildcards: ancient(run.before(wildcards)),
    output:
        # Until a launch is measured again, the receipt of the measurement before it stays.
        update(run.path(receipt.PATH)),
    log:
        run.path(receipt.LOG),
    wildcard_constraints:
        launch=r"\d+",
        digest=r"[0-9a-f]+",
        turn=r"\d+",
    # Launches come first, so that the analysis of several experiments runs at once, and none of it between launches.
    priority: 1
    # A job runs its launches one after another in its own Snakemake; by default, each would start another one.
    group:
        run.batch if run.decides else None
    localrule: not run.decides
    conda:
        "../../envs/measure.yaml"
    threads: 1 if run.decides else workflow.cores
    resources:
        mpi="mpiexec",
        tasks=lambda wildcards: run.launch(wildcards).settings.slurm_tasks,
        nodes=lambda wildcards: run.launch(wildcards).settings.nodes,
        runtime=run.minutes,
        # The network between the hosts of a launch. A profile overrides it if the hosts' names belong to another.
        interface="auto",
    params:
        # A parameter that is made with the argument `input` repeats nothing: what differs is listed before the run.
        options=lambda wildcards, input: run.options(wildcards),
    message:
        "Measuring {wildcards.experiment}, placement {wildcards.placement}, launch {wildcards.launch}"
    # exec, so that the supervisor's parent is Snakemake and the supervisor sees it die.
    shell:
        "exec python -m crossover launch"
        " {params.options:q} --mpi {resources.mpi:q} --interface {resources.interface:q}"
        " --libraries {input.libraries:q} --receipt {output:q} --log {log:q} --quiet"
