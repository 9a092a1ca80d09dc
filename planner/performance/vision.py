"""Time of one training step of a vision model on one GPU: matrix arithmetic and the work on its activations."""

from __future__ import annotations

from dataclasses import dataclass

from planner.catalog.records import VisionSpec
from planner.performance.constants import Constants
from planner.performance.device import Device
from planner.performance.scaling import Link, all_reduce_s, exposed_s, jitter_factor
from planner.performance.throughput import StepTime
from planner.units import MS_PER_S, Numeric
from planner.workload.convolutional import FORWARD_AND_BACKWARD, activation_elements, training_flop_per_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class VisionWork:
    """Vision models on GPUs: numbers of one, or columns of many. Kinds and layout are 1 or 0."""

    flop: Numeric  # of training, a sample
    elements: Numeric  # activations that the forward pass writes, a sample
    parameters: Numeric
    patches: Numeric  # layer norms and two-layer MLPs on patches
    plain: Numeric  # convolutions, batch norm, ReLU and sums alone
    channels_last: Numeric
    matmul_flop_per_s: Numeric
    bandwidth_bytes_per_s: Numeric
    multiprocessor_hz: Numeric
    element_bytes: Numeric


def work_of(spec: VisionSpec, parameters: float, device: Device, *, channels_last: bool = False) -> VisionWork:
    """A model on a GPU."""
    return VisionWork(
        flop=training_flop_per_sample(spec),
        elements=activation_elements(spec),
        parameters=parameters,
        patches=float(spec.patches),
        plain=float(spec.plain),
        channels_last=float(channels_last),
        matmul_flop_per_s=device.matmul_flop_per_s,
        bandwidth_bytes_per_s=device.bandwidth_bytes_per_s,
        multiprocessor_hz=device.multiprocessor_hz,
        element_bytes=device.element_bytes,
    )


def sample_s(work: VisionWork, constants: Constants) -> tuple[Numeric, Numeric]:
    """Time of one sample in the matrix units, and on its activations between them; one follows the other. [s]

    Matrix work comes near to the rate of large products. Norms, nonlinearities, sums and copies move each activation
    several times and issue instructions for it: memory counts and, as much, multiprocessors times clock, which rated
    FLOP/s don't tell, since those of one generation hold twice as many fp32 units as those of another.

    Parameters
    ----------
    work : VisionWork
        FLOP and activations of a sample, kind of model, rates of the GPU.
    constants : Constants
        `vision_...`, and the share of the bandwidth that is reached.

    Returns
    -------
    tuple of numeric
        Matrix arithmetic; activations. [s]

    References
    ----------
    .. [1] S. Williams et al., "Roofline," Communications of the ACM 52(4), 2009. Here the two times are added: the
       kernels that multiply and those that move activations run one after the other.
    """
    arithmetic = work.flop / (work.matmul_flop_per_s * constants.vision_efficiency)
    moved = constants.vision_bytes_factor * work.element_bytes
    an_activation = (
        moved / (work.bandwidth_bytes_per_s * constants.bandwidth_share)
        + constants.vision_cycles / work.multiprocessor_hz
    )
    kind = 1 - work.patches * (1 - constants.vision_patch_share) - work.plain * (1 - constants.vision_plain_share)
    # Blocks on patches multiply rows of tokens, whatever the layout of images.
    layout = 1 - work.channels_last * (1 - work.patches) * (1 - constants.vision_channels_last_share)
    return layout * arithmetic, layout * kind * FORWARD_AND_BACKWARD * work.elements * an_activation


def update_s(work: VisionWork, constants: Constants) -> Numeric:
    """Time of the optimizer and of what else a step does with every weight. [s]"""
    bandwidth = work.bandwidth_bytes_per_s * constants.bandwidth_share
    return constants.vision_parameter_bytes * work.parameters / bandwidth


def launch_s(constants: Constants) -> float:
    """Time a pass takes however few samples it has. [s]"""
    return constants.vision_launch_ms / MS_PER_S


def vision_step(
    spec: VisionSpec,
    parameters: float,
    micro_batch: float,
    micro_steps: float,
    device: Device,
    link: Link,
    constants: Constants,
    *,
    channels_last: bool = False,
) -> StepTime:
    """Time of one optimizer step on every GPU of the run, data-parallel.

    Parameters
    ----------
    spec : VisionSpec
        MACs and activations of a sample, and the kind of model.
    parameters : float
        Weights of the model. [-]
    micro_batch, micro_steps : float
        Samples of one pass on one GPU, and passes a step. [-]
    device, link, constants
        As for a transformer.
    channels_last : bool
        Whether images lie in memory with their channels last (NHWC).

    Returns
    -------
    StepTime
        Seconds by part: matmul, elementwise, launch, optimizer, communication, waiting.
    """
    work = work_of(spec, parameters, device, channels_last=channels_last)
    arithmetic, activations = (micro_batch * float(seconds) for seconds in sample_s(work, constants))
    launch = launch_s(constants)
    optimizer = float(update_s(work, constants))
    communication = exposed_s(
        arithmetic + activations + launch, all_reduce_s(parameters * device.element_bytes, link), link, constants
    )
    busy = micro_steps * (arithmetic + activations + launch) + optimizer + communication
    return StepTime(
        parts_s={
            "matmul": micro_steps * arithmetic,
            "elementwise": micro_steps * activations,
            "launch": micro_steps * launch,
            "optimizer": optimizer,
            "communication": communication,
            "waiting": busy * (jitter_factor(link, constants) - 1),
        },
        launch_bound=launch > arithmetic + activations,
    )
