"""Do the builds of libzmq differ only in the struct, and does a launch measure them or give the reason?"""

import ctypes
from types import SimpleNamespace

import pytest
from launching import COMMON, settings

from crossover.config import schema
from crossover.design.arm import Arm
from crossover.design.cell import Cell
from crossover.design.experiments import declared
from crossover.design.settings import TIERS
from crossover.experiments.zmq_message_size import BUILT
from crossover.experiments.zmq_message_size import driver as experiment
from crossover.measure.native import loader
from crossover.measure.native.message_struct import Struct
from crossover.planning import plan
from crossover.records.holes import Refusal

SETTINGS = COMMON | {
    "placement": "process",
    "sizes_bytes": [8, 4096],
    "scan_bytes": 1,
    "arms": ["40 B struct", "64 B struct"],
    "reference": "64 B struct",
    "payloads": ["untouched", "touched"],
    "patterns": ["PUSH/PULL", "REQ/REP"],
    "in_flight_bytes": 1000000,
}
UNIONS = SETTINGS | {"arms": [*SETTINGS["arms"], "32 B packed union", "32 B aligned union", "32 B union"]}


def settings_of(tier):
    return schema.complete({"tier": tier}).experiments["zmq_message_size"]


# ---- arms and cells from the settings


@pytest.mark.parametrize("tier", TIERS)
def test_every_line_has_the_reference_and_a_rival(tier):
    own = settings_of(tier)
    lines = experiment.lines(own)
    assert list(lines) == (["2.2.0"] if tier == "quick" else ["2.2.0", "4.3.4"])
    assert all(own.reference in structs and len(structs) > 1 for structs in lines.values())
    assert {arm for structs in lines.values() for arm in structs} == set(own.arms)


@pytest.mark.parametrize(("rival", "left"), [("40 B struct", "2.2.0"), ("96 B struct", "4.3.4")])
def test_a_line_without_a_rival_is_left_out(rival, left):
    own = settings("zmq_message_size", SETTINGS | {"arms": ["64 B struct", rival]})
    assert [*experiment.lines(own)] == [left]


def test_every_arm_is_built_according_to_its_name():
    assert declared()["zmq_message_size"].names("arms") == tuple(BUILT)
    for arm, (driver, *builds) in BUILT.items():
        assert driver == "zmq_inproc" and builds
        kinds = {"": "struct", "union": "union", "packed": "packed union", "aligned": "aligned union"}
        assert {f"{struct.bytes} B {kinds[struct.layout]}" for struct in map(Struct.of, builds)} == {arm}
        assert [struct.name for struct in map(Struct.of, builds)] == builds
        assert max(struct.bytes for struct in map(Struct.of, builds)) <= experiment.LARGEST_STRUCT_BYTES


def test_a_cell_has_only_the_arms_of_its_line():
    for cell in experiment.cells(settings_of("standard")):
        mail = {"40 B struct", "32 B union", "32 B packed union", "64 B union", "128 B union"}
        own = mail if cell.keys["library_version"] == "2.2.0" else {"48 B struct", "96 B struct"}
        assert set(cell.arms) - {"32 B struct"} == {"64 B struct", "128 B struct"} | own


@pytest.mark.parametrize(("scan", "around"), [(0, []), (1, [30, 31, 54, 55]), (2, [29, 30, 31, 32, 53, 54, 55, 56])])
def test_the_axis_is_dense_on_both_sides_of_each_limit(scan, around):
    own = settings("zmq_message_size", SETTINGS | {"scan_bytes": scan})
    sizes = experiment.sizes(own, {"a": Struct("2.2.0", 40), "b": Struct("2.2.0", 64)})
    assert sizes == sorted([8, *around, 4096])


def test_only_the_libraries_of_chosen_arms_are_built():
    arms = {"arms": SETTINGS["arms"]}
    config = schema.complete({"results": "there", "experiments": {"zmq_message_size": arms}})
    names = ["libzmq-2.2.0-40", "libzmq-2.2.0-64", "libzmq-4.3.4-64", "zmq_inproc"]
    assert plan.libraries(config, "zmq_message_size") == [f"there/native/{name}.so" for name in names]


# ---- the real library

PUSHING = {"library_version": "2.2.0", "pattern": "PUSH/PULL", "payload": "touched"}


def given(monkeypatch, folder):
    for variable, value in loader.variables(list(folder.iterdir())).items():
        monkeypatch.setenv(variable, value)


@pytest.fixture
def exchanges(variants, monkeypatch):
    given(monkeypatch, variants)
    with experiment.drive(SimpleNamespace(), settings("zmq_message_size", UNIONS)) as blocks:
        yield blocks


def test_each_build_stores_exactly_the_intended_bytes_inline(exchanges):
    found = {
        arm: (v.driver.inproc_struct_bytes(v.handle), v.driver.inproc_inline_bytes(v.handle))
        for (_, arm), v in exchanges.variants.items()
    }
    own = {
        "40 B struct": (40, 30),
        "32 B packed union": (32, 30),
        "32 B aligned union": (32, 28),
        "32 B union": (32, 24),
    }
    assert found == own | {"64 B struct": (64, 54), "null": (64, 54)}
    # The null arm is a second instance of the reference.
    assert len({variant.library._handle for variant in exchanges.variants.values()}) == len(found)


@pytest.mark.parametrize("arm", ["40 B struct", "32 B packed union", "32 B aligned union", "32 B union"])
@pytest.mark.parametrize("mark", [31, 32])
def test_a_message_with_the_bytes_of_the_librarys_own_mark_arrives(exchanges, arm, mark):
    """A short message takes the place of a pointer, and must not look like the end of a pipe."""
    message = mark.to_bytes(8, "little")
    for round_trips in (False, True):
        nanoseconds, code = exchanges.variants["2.2.0", arm].exchange(8, 100, message, round_trips)
        assert code == 0 and nanoseconds > 0


@pytest.mark.parametrize("payload", ["untouched", "touched"])
@pytest.mark.parametrize(("pattern", "metric"), [("PUSH/PULL", "throughput"), ("REQ/REP", "round trip")])
@pytest.mark.parametrize("size", [1, 30, 31, 32768])
def test_every_size_arrives_undamaged_and_its_metric_follows_from_the_time(exchanges, size, pattern, metric, payload):
    cell = Cell({"library_version": "2.2.0", "pattern": pattern, "payload": payload}, size)
    alone = [Arm(name, name) for name in ("40 B struct", "32 B packed union", "32 B aligned union", "32 B union")]
    for arm in (*alone, Arm("null", "64 B struct")):
        block = exchanges.run(cell, arm, 200)
        assert block.fault == "" and block.seconds > 0
        expected = 200 / block.seconds if metric == "throughput" else block.seconds / 200
        assert block.values == {metric: pytest.approx(expected)}


@pytest.mark.parametrize("arm", [Arm("40 B struct", "40 B struct"), Arm("64 B struct", "64 B struct")])
def test_bursts_respect_the_bytes_in_flight_and_are_equal_for_all_arms(exchanges, arm, monkeypatch):
    counts = []
    honest = experiment.Variant.exchange
    monkeypatch.setattr(
        experiment.Variant, "exchange", lambda self, size, n, *rest: counts.append(n) or honest(self, size, n, *rest)
    )
    exchanges.run(Cell(PUSHING | {"payload": "untouched"}, 100), arm, 10_000)
    assert counts == [4385, 4385, 1230]


def test_a_fault_of_the_driver_has_no_number(exchanges, monkeypatch):
    monkeypatch.setattr(experiment.Variant, "exchange", lambda *_: (1000, -1))
    arm = Arm("40 B struct", "40 B struct")
    block = exchanges.run(Cell(PUSHING, 8), arm, 10)
    assert block.fault == "lost or damaged messages" and block.values == {}
    monkeypatch.setattr(experiment.Variant, "exchange", lambda *_: (1000, 12))
    with pytest.raises(OSError, match="40 B struct, PUSH/PULL"):
        exchanges.run(Cell(PUSHING, 8), arm, 10)


def test_a_build_under_the_wrong_name_is_refused(variants, tmp_path, monkeypatch):
    for name, content in (("zmq_inproc", "zmq_inproc"), ("libzmq-2.2.0-40", "libzmq-2.2.0-64")):
        (tmp_path / f"{name}.so").write_bytes((variants / f"{content}.so").read_bytes())
    (tmp_path / "libzmq-2.2.0-64.so").write_bytes((variants / "libzmq-2.2.0-64.so").read_bytes())
    given(monkeypatch, tmp_path)
    with (
        pytest.raises(Refusal, match="a struct of 64 bytes that holds 54, instead of 40 that holds 30") as told,
        experiment.drive(SimpleNamespace(), settings("zmq_message_size", SETTINGS)),
    ):
        pass
    assert told.value.kind == "wrong set-up"


def test_a_library_that_is_not_libzmq_is_refused(libraries):
    driver = ctypes.CDLL(str(libraries / "zmq_inproc.so"))
    driver.inproc_open.restype = ctypes.c_void_p
    with pytest.raises(Refusal, match="no libzmq that this driver knows"):
        experiment.Variant(driver, str(libraries / "memory_copy.so"), Struct("2.2.0", 40))


def test_a_launch_without_the_builds_is_a_hole_with_their_reason(libraries, launch, tmp_path):
    missing = tmp_path / "libzmq-2.2.0-64.so"
    missing.write_text("no C++ compiler was found; install one\n", encoding="utf-8")
    one = launch("zmq_message_size", SETTINGS, "launch", libraries=[libraries / "zmq_inproc.so", missing])
    assert one.hole("not built") == "no C++ compiler was found; install one"
