import csv

from planner.catalog.load import load_catalog
from planner.performance.evidence import MEASUREMENTS_FOLDER, load_evidence
from planner.performance.memory_rows import load_memory_rows
from planner.performance.time_to_target.runs import TIME_FILE

EVIDENCE = load_evidence()
CATALOG = load_catalog()


def test_unchanged_content_is_read_once():
    assert load_evidence() is EVIDENCE


def test_content_and_not_its_place_decides(tmp_path):
    for path in MEASUREMENTS_FOLDER.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert load_evidence(tmp_path) is EVIDENCE
    table = tmp_path / "dl_throughput.csv"
    lines = table.read_text().splitlines()
    first = next(at for at, line in enumerate(lines) if not line.startswith("#")) + 1
    table.write_text("\n".join([*lines[:first], *lines[first + 1 :]]))
    fewer = load_evidence(tmp_path)
    assert len(fewer.measurements) == len(EVIDENCE.measurements) - 1
    assert fewer.content_hash != EVIDENCE.content_hash


def test_without_a_gpu_it_was_never_measured():
    without = EVIDENCE.without_gpu("rtx-4090")
    assert len(without.measurements) < len(EVIDENCE.measurements)
    assert "rtx-4090" not in {m.gpu for m in without.measurements}
    assert ("samples_per_s", "rtx-4090") not in without.known_gpus
    assert without.content_hash != EVIDENCE.content_hash


def test_without_rows():
    without = EVIDENCE.without_ids(["lam-0509"])
    assert "lam-0509" not in {m.id for m in without.measurements}
    assert len(without.measurements) == len(EVIDENCE.measurements) - 1


def test_rows_have_unique_ids_known_gpus_and_described_sources():
    ids = [m.id for m in EVIDENCE.measurements]
    assert len(ids) == len(set(ids))
    memory = {row.source for row in load_memory_rows()}
    with (MEASUREMENTS_FOLDER / TIME_FILE).open(encoding="utf-8") as stream:
        times = {row["source"] for row in csv.DictReader(line for line in stream if not line.startswith("#"))}
    assert {m.source for m in EVIDENCE.measurements} | memory | times == set(EVIDENCE.sources)
    assert {m.gpu for m in EVIDENCE.measurements} <= {*CATALOG.gpus, *CATALOG.partial_gpus}


def test_doubtful_rows_never_answer_a_plan():
    for m in EVIDENCE.measurements:
        assert "suspect" not in m.notes.lower()
        assert "flag=" not in m.notes or m.fit_only, m.id


def test_every_workload_with_evidence_is_found():
    models = {name for workload in CATALOG.workloads.values() for name in workload.evidence_models}
    assert {"BERT-large-SQuAD-finetune", "ResNet50-v1.5", "mpt-1b"} <= models & set(EVIDENCE.by_model)


def test_a_row_is_found_by_its_id():
    found = EVIDENCE.find("lam-0509")
    assert found is not None and found.throughput == 152.853
    assert EVIDENCE.find("lam-0") is None
