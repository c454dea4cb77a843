# The ceilings' small C sources become libraries, once, where Snakemake runs. Without a compiler the file holds the reason.

from crossover.measure import native_build


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
        compiler=lambda wildcards: native_build.compiler_of(wildcards.library).identity(),
        code=closure.digest("crossover.measure.native_build"),
    message:
        "Building the library {wildcards.library}"
    shell:
        "python -m crossover build --library {output:q} {input.source:q} 2>&1 | tee {log:q}"
