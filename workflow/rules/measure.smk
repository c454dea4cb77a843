# One job is one launch: all cells and arms of one experiment in one placement, in one set of processes.


RAW = run["results"] + "/raw/{experiment}/{placement}/launch={launch}.parquet"


def raw_files(run, experiment=None):
    """The raw files of the run, or of one experiment; with `partial`, those that exist."""
    paths = [RAW.format(**launch) for launch in plan.launches(run, experiment)]
    return [path for path in paths if not run["partial"] or Path(path).exists()]


def raw_files_of_wildcards(wildcards):
    return raw_files(run, wildcards.experiment)


def measuring_code(wildcards):
    return closure.digest(
        "crossover.measure.launch",
        "crossover.measure.run",
        f"crossover.measure.experiments.{wildcards.experiment}",
    )


def nodes_of_placement(wildcards):
    return plan.nodes(wildcards.placement)


rule measure:
    output:
        RAW,
    log:
        run["results"] + "/logs/{experiment}/{placement}/launch={launch}.log",
    conda:
        "../../envs/measure.yaml"
    resources:
        mpi="mpiexec",
        tasks=plan.for_config(run, plan.ranks),
        nodes=nodes_of_placement,
        runtime=plan.for_config(run, plan.runtime_minutes),
    params:
        settings=plan.for_config(run, plan.measured),
        code=measuring_code,
        # As parameters too, because a change of resources alone reruns nothing.
        ranks=plan.for_config(run, plan.ranks),
        nodes=nodes_of_placement,
    message:
        "Measuring {wildcards.experiment}, placement {wildcards.placement}, launch {wildcards.launch}"
    # exec, so that the supervisor's parent is Snakemake and the supervisor sees it die.
    shell:
        "exec python -m crossover launch"
        " --experiment {wildcards.experiment} --placement {wildcards.placement} --launch {wildcards.launch}"
        " --mpi {resources.mpi:q} --settings {params.settings:q} --code {params.code}"
        " --output {output:q} --log {log:q}"
