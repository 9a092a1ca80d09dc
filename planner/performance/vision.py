"""Time of one training step of a vision model on one GPU: a roofline of arithmetic and activation traffic."""

from __future__ import annotations

from planner.catalog.records import VisionSpec
from planner.performance.constants import Constants
from planner.performance.device import Device
from planner.performance.scaling import Link, all_reduce_s, exposed_s, jitter_factor
from planner.performance.throughput import StepTime
from planner.workload.convolutional import (
    FORWARD_AND_BACKWARD,
    activation_elements,
    arithmetic_intensity,
    training_flop_per_sample,
)

MS_PER_S = 1000.0
PATCH_MODELS = ("beit", "cait", "crossvit", "deit", "pit_", "swin", "vit_")
"""Models of timm made of plain transformer blocks, attention and a two-layer MLP, by the start of their names."""


def roofline_s(spec: VisionSpec, device: Device, constants: Constants) -> tuple[float, float]:
    """Time of one sample, bound by the matrix units alone and by its activations alone. [s]

    The matmul rate is reached the less, the fewer multiply-accumulates an activation carries. Activations cost traffic
    and elementwise arithmetic outside the matrix units: bandwidth alone can't tell an RTX 4090 from an RTX 3090.

    References
    ----------
    .. [1] S. Williams et al., "Roofline," Communications of the ACM 52(4), 2009.
    """
    intensity = arithmetic_intensity(spec)
    efficiency = constants.vision_efficiency * intensity / (intensity + constants.vision_intensity_half)
    arithmetic = training_flop_per_sample(spec) / (device.matmul_flop_per_s * efficiency)
    elements = FORWARD_AND_BACKWARD * activation_elements(spec)
    moved = elements * device.element_bytes * constants.vision_bytes_factor
    traffic = moved / (device.bandwidth_bytes_per_s * constants.bandwidth_share)
    activations = traffic + elements * constants.vision_vector_flop / device.vector_flop_per_s
    share = constants.vision_patch_share if spec.patches else 1.0
    return share * arithmetic, share * activations


def vision_step(
    spec: VisionSpec,
    parameters: float,
    micro_batch: float,
    micro_steps: float,
    device: Device,
    link: Link,
    constants: Constants,
) -> StepTime:
    """Time of one optimizer step on every GPU of the run, data-parallel.

    Parameters
    ----------
    spec : VisionSpec
        MACs and activations of a sample.
    parameters : float
        Weights of the model. [-]
    micro_batch, micro_steps : float
        Samples of one pass on one GPU, and passes a step. [-]
    device, link, constants
        As for a transformer.

    Returns
    -------
    StepTime
        Seconds by part: matmul, elementwise, launch, optimizer, communication, waiting.
    """
    arithmetic, activations = roofline_s(spec, device, constants)
    k = constants.vision_norm
    sample_s = (arithmetic**k + activations**k) ** (1 / k)
    compute_s = micro_batch * sample_s
    launch_s = constants.vision_launch_ms / MS_PER_S
    bandwidth = device.bandwidth_bytes_per_s * constants.bandwidth_share
    optimizer = constants.vision_parameter_bytes * parameters / bandwidth
    communication = exposed_s(
        compute_s + launch_s, all_reduce_s(parameters * device.element_bytes, link), link, constants
    )
    compute = micro_steps * compute_s
    launch = micro_steps * launch_s
    busy = compute + launch + optimizer + communication
    share = arithmetic / (arithmetic + activations)
    return StepTime(
        parts_s={
            "matmul": compute * share,
            "elementwise": compute * (1 - share),
            "launch": launch,
            "optimizer": optimizer,
            "communication": communication,
            "waiting": busy * (jitter_factor(link, constants) - 1),
        },
        launch_bound=launch_s > compute_s,
    )
