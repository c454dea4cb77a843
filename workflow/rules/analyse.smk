# Raw files become tables: first each experiment's own, so that it can be rerun alone, then the run's.
# Seconds of work, so it is done where Snakemake runs.


TABLES = (
    "measurements",
    "launches",
    "ranks",
    "medians",
    "summary",
    "ratios",
    "crossovers",
    "thresholds",
    "sensitivity",
)
ANALYSING_CODE = closure.digest("crossover.analyse.gather", "crossover.analyse.tables")


rule tables:
    input:
        plan.for_config(run, plan.raw_files),
    output:
        expand(f"{RESULTS}/experiments/{{{{experiment}}}}/{{table}}.parquet", table=TABLES),
    log:
        f"{RESULTS}/logs/{{experiment}}/tables.log",
    localrule: True
    conda:
        "../../envs/analyse.yaml"
    params:
        folder=subpath(output[0], parent=True),
        code=ANALYSING_CODE,
    message:
        "Deriving the tables of {wildcards.experiment}"
    shell:
        "python -m crossover tables --folder {params.folder:q} {input:q} 2>&1 | tee {log:q}"


rule join:
    input:
        expand(
            f"{RESULTS}/experiments/{{experiment}}/{{table}}.parquet",
            experiment=run["experiments"],
            table=TABLES,
        ),
    output:
        expand(f"{RESULTS}/{{table}}.parquet", table=TABLES),
    log:
        f"{RESULTS}/logs/join.log",
    localrule: True
    conda:
        "../../envs/analyse.yaml"
    params:
        folders=expand(f"{RESULTS}/experiments/{{experiment}}", experiment=run["experiments"]),
        results=subpath(output[0], parent=True),
        code=ANALYSING_CODE,
    message:
        "Joining the tables of all experiments"
    shell:
        "python -m crossover join --results {params.results:q} {params.folders:q} 2>&1 | tee {log:q}"


rule recommend:
    input:
        expand(f"{RESULTS}/{{table}}.parquet", table=["medians", "thresholds", "sensitivity", "launches"]),
    output:
        f"{RESULTS}/recommendations.parquet",
        f"{RESULTS}/recommended.toml",
    log:
        f"{RESULTS}/logs/recommend.log",
    localrule: True
    conda:
        "../../envs/analyse.yaml"
    params:
        results=subpath(output[0], parent=True),
        code=closure.digest("crossover.analyse.recommend"),
    message:
        "Recommending settings"
    shell:
        "python -m crossover recommend {params.results:q} 2>&1 | tee {log:q}"
