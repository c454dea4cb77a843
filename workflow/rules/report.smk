# Tables become figures, and both become the report, where Snakemake runs.


rule figures:
    input:
        expand(run["results"] + "/experiments/{{experiment}}/{table}.parquet", table=TABLES),
    output:
        directory(run["results"] + "/figures/{experiment}"),
    log:
        run["results"] + "/logs/{experiment}/figures.log",
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        folder=subpath(input[0], parent=True),
        code=closure.digest("crossover.report.figures"),
    message:
        "Drawing the figures of {wildcards.experiment}"
    shell:
        "python -m crossover figures --folder {output:q} {params.folder:q} 2>&1 | tee {log:q}"


rule report:
    input:
        tables=expand(run["results"] + "/{table}.parquet", table=TABLES),
        figures=expand(run["results"] + "/figures/{experiment}", experiment=run["experiments"]),
        source=[path for path in map(str, sorted(Path("reports").rglob("*"))) if Path(path).is_file()],
        dressing=[
            str(path)
            for path in sorted(Path("workflow/crossover/report").iterdir())
            if path.suffix in (".lua", ".css", ".html", ".js")
        ],
    output:
        run["results"] + "/report/index.html",
    log:
        run["results"] + "/logs/report.log",
    localrule: True
    conda:
        "../../envs/report.yaml"
    params:
        results=subpath(input[0], parent=True),
        code=closure.digest("crossover.report.render", "crossover.report.page"),
    message:
        "Rendering the report"
    shell:
        "python -m crossover report {params.results:q} --page {output:q} 2>&1 | tee {log:q}"
