# Fetches the sources of each version of libzmq once, and compiles each variant once. If that fails, the file holds the
# reason.

from crossover.measure.native import compiler


rule libzmq_source:
    output:
        f"{RESULTS}/native/libzmq-{{version}}.tar.gz",
    log:
        f"{RESULTS}/logs/libzmq-{{version}}.log",
    # Before the first launch, so that no build comes between two.
    priority: 2
    # Runs where Snakemake runs, because compute nodes often have no access to the internet.
    localrule: True
    conda:
        "../../envs/measure.yaml"
    params:
        origin=run.config.archives,
    message:
        "Getting the sources of libzmq {wildcards.version}"
    shell:
        "python -m crossover libzmq-source --version {wildcards.version} --origin {params.origin:q}"
        " --archive {output:q} > {log:q} 2>&1"


rule libzmq:
    input:
        archive=f"{RESULTS}/native/libzmq-{{version}}.tar.gz",
        added=sorted(str(path) for path in Path("workflow/native/libzmq").rglob("*.*pp")),
    output:
        f"{RESULTS}/native/libzmq-{{version}}-{{struct}}.so",
    log:
        f"{RESULTS}/logs/libzmq-{{version}}-{{struct}}.log",
    wildcard_constraints:
        version=r"[\d.]+",
        struct=r"\d+(-[a-z]+)?",
    priority: 2
    localrule: True
    conda:
        "../../envs/measure.yaml"
    params:
        # A compiler that is installed later then fills the hole.
        compiler=lambda wildcards: compiler.CXX.kind(),
        code=code_digest.digest("crossover.measure.native.libzmq"),
    message:
        "Building libzmq {wildcards.version} with a message struct of {wildcards.struct} bytes"
    shell:
        "python -m crossover libzmq --archive {input.archive:q} --library {output:q} > {log:q} 2>&1"
