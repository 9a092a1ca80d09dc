import pytest

from planner.catalog.load import DATA_FOLDER, load_catalog
from planner.performance.calibrate import FITTED, KEPT_OUT_GPU, calibrated, fit_rows, write_constants
from planner.performance.constants import assumption_id, constants_of
from planner.performance.evidence import load_evidence

CATALOG = load_catalog()


@pytest.fixture(scope="module")
def rows():
    return fit_rows(CATALOG, load_evidence())


@pytest.fixture(scope="module")
def refitted(rows):
    return calibrated(CATALOG, rows)


def test_the_fit_never_sees_an_rtx_4090(rows):
    seen = {row.measurement.gpu for stage in rows.values() for row in stage}
    assert KEPT_OUT_GPU == "rtx-4090"
    assert KEPT_OUT_GPU not in seen and "rtx-3090" in seen
    assert all(stage for stage in rows.values())


def test_the_shipped_constants_are_what_the_fit_gives(refitted):
    shipped = constants_of(CATALOG.assumptions)
    for name in FITTED:
        assert getattr(refitted, name) == pytest.approx(getattr(shipped, name), rel=2e-3), name


def test_fitted_constants_say_so_and_stay_in_the_range_of_their_prior():
    for name in FITTED:
        figure = CATALOG.assumptions[assumption_id(name)].figure
        assert figure.estimate and figure.sources == ("own-fit-estimator",)
        assert figure.low <= figure.value <= figure.high


def test_writing_changes_the_values_and_nothing_else(tmp_path, refitted):
    original = (DATA_FOLDER / "assumptions.yaml").read_text(encoding="utf-8")
    copy = tmp_path / "assumptions.yaml"
    copy.write_text(
        original.replace("id: estimator_gemm_efficiency\n    value: ", "id: estimator_gemm_efficiency\n    value: 9")
    )
    write_constants(refitted, copy)
    assert copy.read_text(encoding="utf-8").splitlines() == original.splitlines()
