# Derives tables from the raw files that receipts name: each experiment's first, so that it can be rerun alone, then the run's.
# This takes seconds, so it runs where Snakemake runs.

from crossover.workflow import failures

TABLES = (
    "launches",
    "ranks",
    "validities",
    "medians",
    "summary",
    "ratios",
    "crossovers",
    "thresholds",
    "sensitivity",
    "pairs",
    "choices",
)
ANALYSING_CODE = code_digest.digest("crossover.analyse.tables.raw_files", "crossover.analyse.tables.writer")


rule tables:
    input:
        run.receipts(),
    output:
        expand(f"{RESULTS}/experiments/{{{{experiment}}}}/{{table}}.parquet", table=TABLES),
    log:
        f"{RESULTS}/logs/{{experiment}}/tables.log",
    localrule: True
    conda:
        "../../envs/analyse.yaml"
    params:
        folder=subpath(output[0], parent=True),
        # Another set of receipts, all of them older, is a change too.
        receipts=lambda wildcards: run.receipts()(wildcards),
        unreadable=lambda wildcards: failures.last_unreadable(RESULTS, wildcards.experiment),
        code=ANALYSING_CODE,
    message:
        "Deriving the tables of {wildcards.experiment}"
    shell:
        "python -m crossover tables --folder {params.folder:q} {input:q} > {log:q} 2>&1"


rule join:
    input:
        # A step makes all of its tables.
        run.each("{results}/experiments/{experiment}/launches.parquet"),
    output:
        expand(f"{RESULTS}/{{table}}.parquet", table=TABLES),
    log:
        f"{RESULTS}/logs/join.log",
    localrule: True
    conda:
        "../../envs/analyse.yaml"
    params:
        folders=run.each("{results}/experiments/{experiment}"),
        results=subpath(output[0], parent=True),
        code=ANALYSING_CODE,
    message:
        "Joining the tables of all experiments"
    shell:
        "python -m crossover join --results {params.results:q} {params.folders:q} > {log:q} 2>&1"


rule claims:
    input:
        tables=expand(f"{RESULTS}/{{table}}.parquet", table=("launches", "medians", "sensitivity")),
        claims="config/claims.yaml",
        sources="config/sources.yaml",
        published=sorted(map(str, Path("config/published").iterdir())),
    output:
        f"{RESULTS}/claims.parquet",
    log:
        f"{RESULTS}/logs/claims.log",
    localrule: True
    conda:
        "../../envs/analyse.yaml"
    params:
        results=subpath(output[0], parent=True),
        code=code_digest.digest("crossover.analyse.claims.judgement", "crossover.config.claim_list"),
    message:
        "Judging the published claims"
    shell:
        "python -m crossover claims {params.results:q} --claims {input.claims:q} > {log:q} 2>&1"


rule recommend:
    input:
        expand(f"{RESULTS}/{{table}}.parquet", table=["medians", "choices", "launches"]),
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
        code=code_digest.digest("crossover.analyse.tables.recommend"),
    message:
        "Recommending settings"
    shell:
        "python -m crossover recommend {params.results:q} > {log:q} 2>&1"
