# One job is one launch: all cells and arms of one experiment in one placement, in one set of processes.
# A launch that is measured is none of its outputs, unless it is to be measured again (`demand.kept`): Snakemake deletes
# an output before the job that makes it, and makes it again whenever the rule has changed.


rule measure:
    input:
        libraries=plan.for_config(run, code_digest.libraries),
    output:
        # Where it is measured again, the old file stays until the supervisor renames the new one over it.
        update(plan.RAW.replace("{results}", RESULTS).replace("{tier}", run["tier"])),
    log:
        f"{RESULTS}/logs/{run['tier']}/{{experiment}}/{{placement}}/launch={{launch}}.log",
    wildcard_constraints:
        experiment=inventory.others(kept, run["experiments"]),
    # What follows can then be done for several experiments at a time, and none of it between two launches.
    priority: 1
    conda:
        "../../envs/measure.yaml"
    resources:
        mpi="mpiexec",
        tasks=second_sweep.for_launch(run, plan.tasks),
        nodes=second_sweep.for_launch(run, plan.nodes),
        runtime=second_sweep.for_launch(run, plan.runtime_minutes),
        # Which network connects the hosts of a launch; a profile knows where it is not the one of their names.
        interface="auto",
    params:
        settings=second_sweep.for_launch(run, plan.canonical),
        code=code_digest.for_launch(second_sweep.for_launch(run, dict)),
        # As parameters too, because a change of resources alone reruns nothing.
        ranks=second_sweep.for_launch(run, plan.ranks),
        nodes=second_sweep.for_launch(run, plan.nodes),
    message:
        "Measuring {wildcards.experiment}, placement {wildcards.placement}, launch {wildcards.launch}"
    # exec, so that the supervisor's parent is Snakemake and the supervisor sees it die.
    shell:
        "exec python -m crossover launch"
        " --experiment {wildcards.experiment} --launch {wildcards.launch}"
        " --mpi {resources.mpi:q} --interface {resources.interface:q} --settings {params.settings:q} --code {params.code}"
        " --libraries {input.libraries:q} --output {output:q} --log {log:q}"
