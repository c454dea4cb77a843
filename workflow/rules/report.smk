# Draws figures from tables and renders the report, where Snakemake runs.

import json


rule figures:
    input:
        expand(f"{RESULTS}/experiments/{{{{experiment}}}}/{{table}}.parquet", table=TABLES),
        published=sorted(map(str, Path("config/published").iterdir())),
    output:
        directory(f"{RESULTS}/figures/{{experiment}}"),
    log:
        f"{RESULTS}/logs/{{experiment}}/figures.log",
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        folder=subpath(input[0], parent=True),
        code=code_digest.digest("crossover.report.charts.figures"),
    message:
        "Drawing the figures of {wildcards.experiment}"
    shell:
        "python -m crossover figures --folder {output:q} {params.folder:q} > {log:q} 2>&1"


rule ladder:
    input:
        f"{RESULTS}/summary.parquet",
    output:
        directory(f"{RESULTS}/figures/ladder"),
    log:
        f"{RESULTS}/logs/ladder.log",
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        results=subpath(input[0], parent=True),
        code=code_digest.digest("crossover.report.charts.ladder"),
    message:
        "Drawing the ladder of all layers"
    shell:
        "python -m crossover ladder --folder {output:q} {params.results:q} > {log:q} 2>&1"


rule report:
    input:
        tables=expand(f"{RESULTS}/{{table}}.parquet", table=TABLES),
        judged=expand(f"{RESULTS}/{{table}}.parquet", table=["claims", "recommendations"]),
        ladder=f"{RESULTS}/figures/ladder",
        figures=run.each("{results}/figures/{experiment}"),
        # Without Quarto's copy for publishing, which is made from the report.
        source=[
            str(path)
            for path in sorted(Path("reports").rglob("*"))
            if path.is_file() and "_site" not in path.parts
        ],
        dressing=[
            str(path)
            for path in sorted(Path("workflow/crossover/report").rglob("*.*"))
            if path.suffix in (".lua", ".css", ".html", ".js")
        ],
    output:
        f"{RESULTS}/report/index.html",
    log:
        f"{RESULTS}/logs/report.log",
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        results=subpath(input[0], parent=True),
        waiting=lambda wildcards: json.dumps(run.waiting),
        code=code_digest.digest("crossover.report.pages.renderer", "crossover.report.pages.index"),
    message:
        "Rendering the report"
    shell:
        "python -m crossover report {params.results:q} --waiting {params.waiting:q}"
        " --page {output:q} 2> {log:q}"
