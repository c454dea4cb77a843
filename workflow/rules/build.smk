# Compiles the ceilings' C sources once, where Snakemake runs. If that fails, the library file holds the reason.

from crossover.measure.native import compiler


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
    # Before the first launch, so that no build comes between two.
    priority: 2
    localrule: True
    conda:
        "../../envs/measure.yaml"
    params:
        # A compiler that is installed later then fills the hole. The parameter depends on the wildcards alone, because
        # a change in one that depends on the input reruns nothing.
        compiler=lambda wildcards: compiler.compiler_of(Path(f"workflow/native/{wildcards.library}.c")).kind(),
        code=code_digest.digest("crossover.measure.native.compiler"),
    message:
        "Building the library {wildcards.library}"
    shell:
        "python -m crossover build --library {output:q} {input.source:q} > {log:q} 2>&1"
