# One launch is all cells and arms of one experiment in one placement, in one set of processes.
# A measured launch that is kept (`demand.kept`) is no output of this rule. Snakemake would delete an output before its
# job, and make it again whenever the rule changes.

own = second_sweep.of_wildcards(run)


rule launch:
    input:
        libraries=lambda wildcards: plan.libraries(run, wildcards.experiment),
    output:
        # When a launch is remeasured, the old file stays until the supervisor renames the new one over it.
        update(plan.RAW.replace("{results}", RESULTS).replace("{tier}", run["tier"])),
    log:
        plan.LOG.replace("{results}", RESULTS).replace("{tier}", run["tier"]),
    wildcard_constraints:
        experiment=inventory.others(kept, run["experiments"]),
    # Launches come first, so that the analysis of several experiments runs at once, and none of it between launches.
    priority: 1
    # Launches of a batch share a job.
    group:
        lambda wildcards: session.batch(workflow, batch, wildcards)
    conda:
        "../../envs/measure.yaml"
    resources:
        mpi="mpiexec",
        # Launches that share a job follow each other.
        alone=1,
        tasks=lambda wildcards: plan.tasks(own(wildcards)),
        nodes=lambda wildcards: plan.nodes(own(wildcards)),
        runtime=lambda wildcards: min(plan.runtime_minutes(own(wildcards)), most_minutes),
        # The network between the hosts of a launch. A profile overrides it if the hosts' names belong to another.
        interface="auto",
    params:
        settings=lambda wildcards: plan.canonical(own(wildcards)),
        code=lambda wildcards: code_digest.of_launch(wildcards.experiment, own(wildcards)),
        # Parameters too, because a change of resources alone reruns nothing.
        ranks=lambda wildcards: plan.ranks(own(wildcards)),
        nodes=lambda wildcards: plan.nodes(own(wildcards)),
    message:
        "Measuring {wildcards.experiment}, placement {wildcards.placement}, launch {wildcards.launch}"
    # exec, so that the supervisor's parent is Snakemake and the supervisor sees it die.
    shell:
        "exec python -m crossover launch"
        " --experiment {wildcards.experiment} --launch {wildcards.launch}"
        " --mpi {resources.mpi:q} --interface {resources.interface:q} --settings {params.settings:q} --code {params.code}"
        " --libraries {input.libraries:q} --output {output:q} --log {log:q} --quiet"
