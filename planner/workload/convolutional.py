"""Work of a vision model: its training FLOP and the bytes of the activations that it moves and keeps."""

from __future__ import annotations

from planner.catalog.records import VisionSpec
from planner.units import FLOP_PER_MAC, MACS_PER_GMAC, MILLION

FORWARD_AND_BACKWARD = 3.0  # the backward pass does the forward's work twice


def training_flop_per_sample(spec: VisionSpec) -> float:
    """FLOP of forward and backward for one sample. [FLOP]"""
    return FORWARD_AND_BACKWARD * FLOP_PER_MAC * spec.gmacs * MACS_PER_GMAC


def activation_elements(spec: VisionSpec) -> float:
    """Values the forward pass writes for one sample. [elements]"""
    return spec.activations_m * MILLION
