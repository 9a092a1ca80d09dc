import pytest

from planner.performance.device import device_of, matmul_fraction, supports, usable_bytes
from tests.unit.performance.hardware import figure, geforce, gpu, shipped_constants

CONSTANTS = shipped_constants(matmul_fraction_geforce=1.05, matmul_fraction_default=0.7, usable_memory_share=0.995)


@pytest.mark.parametrize(("nominal_gb", "reported_mib"), [(80, 81_559), (24, 24_564)])
def test_nominal_gb_are_gib_less_half_a_percent(nominal_gb, reported_mib):
    card = gpu(memory_gb=figure(nominal_gb))
    assert usable_bytes(card, CONSTANTS) == pytest.approx(reported_mib * 2**20, rel=0.005)


def test_the_published_matmul_rate_stands_in_for_the_other_16_bit_format():
    assert matmul_fraction(gpu(), "bf16", CONSTANTS) == 0.8


def test_without_a_published_rate_geforce_exceeds_its_rating_and_others_do_not():
    assert matmul_fraction(geforce(matmul_fraction={}), "fp16", CONSTANTS) == 1.05
    assert matmul_fraction(gpu(matmul_fraction={}), "fp16", CONSTANTS) == 0.7


def test_rates_in_si_units():
    device = device_of(gpu(), "fp16", CONSTANTS)
    assert device.matmul_flop_per_s == pytest.approx(80e12)
    assert device.vector_flop_per_s == pytest.approx(20e12)
    assert device.bandwidth_bytes_per_s == 1e12
    assert device.element_bytes == 2.0
    assert device_of(gpu(), "fp32", CONSTANTS).element_bytes == 4.0


def test_fp8_keeps_attention_in_16_bit():
    rates = {"fp32": figure(20), "bf16": figure(100), "fp8": figure(200)}
    device = device_of(gpu(dense_tflop_per_s=rates), "fp8", CONSTANTS)
    assert device.linear_fp8
    assert device.attention_flop_per_s == pytest.approx(100e12 * CONSTANTS.attention_share_ampere)


def test_a_precision_without_a_rate_is_not_supported():
    assert supports(gpu(), "bf16")
    assert not supports(gpu(), "fp8")


def test_consumer_blackwell_is_not_held_to_the_attention_of_the_data_centre_chip():
    chip = device_of(gpu(architecture="Blackwell"), "bf16", CONSTANTS)
    card = device_of(geforce(architecture="Blackwell 2.0"), "bf16", CONSTANTS)
    assert chip.attention_flop_per_s == pytest.approx(100e12 * CONSTANTS.attention_share_blackwell)
    assert card.attention_flop_per_s == pytest.approx(100e12 * CONSTANTS.attention_share_default)


def test_young_software_reaches_a_share_of_every_rate():
    half = shipped_constants(training_share_cdna=0.5)
    tuned, young = (device_of(gpu(architecture=a), "bf16", half) for a in ("Ampere", "CDNA 3.0"))
    assert young.matmul_flop_per_s == pytest.approx(tuned.matmul_flop_per_s / 2)
    assert young.bandwidth_bytes_per_s == pytest.approx(tuned.bandwidth_bytes_per_s / 2)
    assert young.vector_flop_per_s == pytest.approx(tuned.vector_flop_per_s / 2)
