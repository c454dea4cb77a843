# The ceilings' small C sources become libraries, once, where Snakemake runs. Without a compiler the file holds the reason.

from crossover.measure.build import c_libraries


rule build:
    input:
        source="workflow/native/{library}.c",
        headers=sorted(map(str, Path("workflow/native").glob("*.h"))),
    output:
        f"{RESULTS}/native/{{library}}.so",
    log:
        f"{RESULTS}/logs/build-{{library}}.log",
    wildcard_constraints:
        library=r"\w+",
    localrule: True
    conda:
        "../../envs/measure.yaml"
    params:
        # So that a compiler which was installed later fills the hole that its absence left. Of the wildcards alone:
        # a parameter that is derived from the input reruns nothing when it changes.
        compiler=lambda wildcards: c_libraries.compiler_of(wildcards.library).identity(),
        code=code_digest.digest("crossover.measure.build.c_libraries"),
    message:
        "Building the library {wildcards.library}"
    shell:
        "python -m crossover build --library {output:q} {input.source:q} 2>&1 | tee {log:q}"
