import pytest

from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.errors import InputError
from planner.performance.calibrate_memory import FITTED, fit_memory_constants, main, write_constants
from planner.performance.constants import assumption_id, constants_of
from planner.performance.memory_rows import load_memory_rows, memory_row

ASSUMPTIONS = load_catalog().assumptions
ROWS = load_memory_rows()
ROW = {
    "id": "mine", "model": "llama3-8b", "n_params": "8030000000", "n_layers": "32", "d_model": "4096", "n_heads": "32",
    "n_kv_heads": "8", "d_ff": "14336", "gated_mlp": "1", "vocab": "128256", "task": "pretrain", "n_gpus": "16",
    "micro_batch_seqs": "1", "seq_len": "8192", "precision": "bf16", "parallelism": "", "peak_memory_gb": "50",
}  # fmt: skip


def setup_of(**cells):
    return memory_row({**ROW, **cells}).setup


def test_the_shipped_constants_are_what_the_fit_gives() -> None:
    refitted, shipped = fit_memory_constants(ROWS, ASSUMPTIONS), constants_of(ASSUMPTIONS)
    for name in FITTED:
        assert getattr(refitted, name) == pytest.approx(getattr(shipped, name), rel=2e-3), name


def test_fitted_constants_say_so_and_stay_in_the_range_of_their_prior() -> None:
    for name in FITTED:
        figure = ASSUMPTIONS[assumption_id(name)].figure
        assert figure.estimate and figure.sources == ("own-fit-estimator",)
        assert figure.low <= figure.value <= figure.high


def test_writing_changes_the_values_and_nothing_else(tmp_path) -> None:
    original = (DATA_FOLDER / "assumptions.yaml").read_text(encoding="utf-8")
    key = "id: estimator_memory_overhead_share\n    value: "
    assert key in original
    copy = tmp_path / "assumptions.yaml"
    copy.write_text(original.replace(key, key + "9"))
    write_constants(fit_memory_constants(ROWS, ASSUMPTIONS), copy)
    assert copy.read_text(encoding="utf-8").splitlines() == original.splitlines()


def test_the_command_prints_every_row(capsys) -> None:
    main([])
    printed = capsys.readouterr().out
    assert all(row.id in printed for row in ROWS) and "median" in printed


# Rows of a table


@pytest.mark.parametrize(
    ("parallelism", "expected"),
    [
        ("", ("replicated", 1, 1, 1, 1)),
        ("fsdp16", ("sharded", 16, 1, 1, 1)),
        ("fsdp8-cp2", ("sharded", 8, 1, 1, 2)),
        ("fsdp", ("sharded", 16, 1, 1, 1)),
        ("zero1 tp2 pp4", ("optimizer", 2, 2, 4, 1)),
        ("zero-2", ("gradients", 16, 1, 1, 1)),
        ("tp2-zero1(4)-dp8", ("optimizer", 4, 2, 1, 1)),
        ("tp1-zero1(all)-dp16", ("optimizer", 16, 1, 1, 1)),
        ("fsdp-shard_grad_op(zero2-like)", ("gradients", 16, 1, 1, 1)),
        ("tp4-pp2-cp2-vp5-dp1", ("replicated", 1, 4, 2, 2)),
    ],
)
def test_parallelism_as_written(parallelism, expected) -> None:
    setup = setup_of(parallelism=parallelism)
    assert (setup.sharding, setup.shards, setup.tensor, setup.pipeline, setup.context) == expected


def test_interleaved_chunks_as_written() -> None:
    assert setup_of(parallelism="tp4-pp2-vp5-dp2").chunks == 5
    assert setup_of(parallelism="tp8-pp2-dp1-interleave3").chunks == 3


def test_precisions_of_frozen_weights() -> None:
    lora = setup_of(task="lora", precision="bf16-mixed")
    assert (lora.method, lora.frozen_bits, lora.element_bytes) == ("lora", 32, 2.0)
    qlora = setup_of(task="qlora", precision="nf4-dq")
    assert (qlora.method, qlora.frozen_bits, qlora.double_quantised) == ("qlora", 4, True)
    assert setup_of(precision="tf32").element_bytes == 4.0
    assert setup_of(task="full-finetune", precision="bf16-mixed").weight_bits is None


def test_software_and_family_as_named() -> None:
    assert setup_of(compile_flash_notes="compile + float8 linear").software == "compiled"
    assert setup_of(compile_flash_notes="no torch.compile stated").software == "eager"
    assert setup_of(software_tier="vendor", compile_flash_notes="compile").software == "vendor"
    assert setup_of(model="phi-1.5").spec.parallel_blocks and not setup_of().spec.parallel_blocks
    assert memory_row(ROW).kind == "allocator"


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("n_layers", "many"),
        ("n_params", ""),
        ("seq_len", "-1"),
        ("peak_memory_gb", "inf"),
        ("task", "guess"),
        ("precision", "int3"),
        ("activation_checkpointing", "some"),
        ("loss_kind", "odd"),
        ("memory_kind", "felt"),
        ("optimizer", "lion"),
    ],
)
def test_a_cell_that_can_not_be_read_is_named(column, cell) -> None:
    with pytest.raises(InputError) as caught:
        memory_row({**ROW, column: cell})
    assert caught.value.field == f"mine: {column}"
    assert cell in str(caught.value)
