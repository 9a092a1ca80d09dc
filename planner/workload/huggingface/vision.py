"""Vision transformers: ViT and DeiT as models of their own, and the towers of models that read text and images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner.catalog.records import VisionSpec
from planner.workload.huggingface.heads import architecture
from planner.workload.huggingface.keys import Keys
from planner.workload.huggingface.model import feed_forward, linear, norm

_VIT = {
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "image_size": 224,
    "patch_size": 16,
    "num_channels": 3,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Patches:
    """Layers over the patches of an image."""

    layers: int
    width: int
    heads: int
    d_ff: int
    image: int
    patch: int
    channels: int
    qkv_bias: bool = True

    @classmethod
    def of(cls, keys: Keys) -> Patches:
        """Sizes as a config gives them."""
        width, heads = keys.size("hidden_size"), keys.size("num_attention_heads")
        keys.dividing(width, heads, "num_attention_heads")
        image, patch = keys.size("image_size"), keys.size("patch_size")
        if patch > image:
            raise keys.wrong("patch_size", f"at most the {image:,} pixels of the image")
        return cls(
            layers=keys.layers("num_hidden_layers"),
            width=width,
            heads=heads,
            d_ff=keys.size("intermediate_size"),
            image=image,
            patch=patch,
            channels=keys.size("num_channels"),
            qkv_bias=keys.flag("qkv_bias", default=True),
        )

    @property
    def count(self) -> int:
        """Patches of an image."""
        return (self.image // self.patch) ** 2

    @property
    def patch_inputs(self) -> int:
        """Values of one patch."""
        return self.channels * self.patch**2

    @property
    def parameters(self) -> int:
        """Parameters of the layers."""
        attention = 3 * linear(self.width, self.width, self.qkv_bias) + linear(self.width, self.width, True)
        block = feed_forward(self.width, self.d_ff, gated=False, bias=True)
        return self.layers * (attention + block + 2 * norm(self.width, True))

    def forward(self, further_tokens: int, outputs: int) -> VisionSpec:
        """Multiply-accumulates and activations of one image: of every projection, and of attention's products."""
        tokens = self.count + further_tokens
        weights = 4 * self.width**2 + 2 * self.width * self.d_ff
        macs = self.layers * (tokens * weights + 2 * tokens**2 * self.width)
        macs += self.count * self.patch_inputs * self.width + self.width * outputs
        written = self.layers * (tokens * (5 * self.width + self.d_ff) + self.heads * tokens**2 + tokens * self.width)
        written += self.count * self.width + outputs
        return VisionSpec(
            gmacs=macs / 1e9,
            activations_m=written / 1e6,
            input=f"{self.channels}x{self.image}x{self.image}",
            patches=True,
        )


def _vit(keys: Keys) -> tuple[int, VisionSpec]:
    """ViT with a class token; DeiT has a second one to be distilled to."""
    keys = keys.with_defaults(_VIT)
    patches = Patches.of(keys)
    further = 2 if keys.word("model_type") == "deit" else 1
    width, name = patches.width, architecture(keys)
    classifies = name.endswith(("ForImageClassification", "WithTeacher"))
    outputs = keys.labels() if classifies else width
    heads = 2 if name.endswith("WithTeacher") else 1  # the second for the token that is distilled to
    top = heads * linear(width, outputs, True)
    table = linear(patches.patch_inputs, width, True) + (patches.count + 2 * further) * width
    return table + patches.parameters + norm(width, True) + top, patches.forward(further, outputs)


def clip_tower(keys: Keys) -> int:
    """CLIP's vision side: a class token, norms before and behind, patches without bias."""
    keys = keys.with_defaults({**_VIT, "patch_size": 32})
    patches = Patches.of(keys)
    table = linear(patches.patch_inputs, patches.width) + (patches.count + 2) * patches.width
    return table + patches.parameters + 2 * norm(patches.width, True)


def siglip_tower(keys: Keys) -> int:
    """SigLIP's vision side, without the head that pools it: no class token, a norm behind."""
    patches = Patches.of(keys.with_defaults(_VIT))
    table = linear(patches.patch_inputs, patches.width, True) + patches.count * patches.width
    head = 0
    if keys.flag("vision_use_head", default=True):
        width = patches.width
        probe = width + 4 * linear(width, width, True)
        head = probe + norm(width, True) + feed_forward(width, patches.d_ff, gated=False, bias=True)
    return table + patches.parameters + norm(patches.width, True) + head


def qwen2_vl_tower(keys: Keys) -> int:
    """Qwen2-VL's vision side with the layers that merge its patches for the text."""
    keys = keys.with_defaults(
        {
            "depth": 32, "embed_dim": 1280, "hidden_size": 3584, "mlp_ratio": 4, "patch_size": 14, "num_heads": 16,
            "temporal_patch_size": 2, "spatial_merge_size": 2, "in_channels": 3,
        }
    )  # fmt: skip
    width = keys.size("embed_dim")
    keys.dividing(width, keys.size("num_heads"), "num_heads")
    table = _patches_in_time(keys) * width
    block = 4 * linear(width, width, True) + 2 * norm(width, True)
    block += feed_forward(width, keys.size("mlp_ratio") * width, gated=False, bias=True)
    merged = width * keys.size("spatial_merge_size") ** 2
    merger = norm(width, True) + linear(merged, merged, True) + linear(merged, keys.size("hidden_size"), True)
    return table + keys.layers("depth") * block + merger


def qwen2_5_vl_tower(keys: Keys) -> int:
    """The same of Qwen2.5-VL: gated blocks, norms without bias."""
    keys = keys.with_defaults(
        {
            "depth": 32, "hidden_size": 3584, "intermediate_size": 3420, "out_hidden_size": 3584, "patch_size": 14,
            "num_heads": 16, "temporal_patch_size": 2, "spatial_merge_size": 2, "in_channels": 3,
        }
    )  # fmt: skip
    width = keys.size("hidden_size")
    keys.dividing(width, keys.size("num_heads"), "num_heads")
    block = 4 * linear(width, width, True) + 2 * norm(width)
    block += feed_forward(width, keys.size("intermediate_size"), gated=True, bias=True)
    merged = width * keys.size("spatial_merge_size") ** 2
    merger = norm(width) + linear(merged, merged, True) + linear(merged, keys.size("out_hidden_size"), True)
    return _patches_in_time(keys) * width + keys.layers("depth") * block + merger


def qwen3_vl_tower(keys: Keys) -> int:
    """The same of Qwen3-VL: a table of positions, and further mergers that feed lower layers of the text."""
    keys = keys.with_defaults(
        {
            "depth": 27, "hidden_size": 1152, "intermediate_size": 4304, "out_hidden_size": 3584, "patch_size": 16,
            "num_heads": 16, "temporal_patch_size": 2, "spatial_merge_size": 2, "in_channels": 3,
            "num_position_embeddings": 2304,
        }
    )  # fmt: skip
    width = keys.size("hidden_size")
    keys.dividing(width, keys.size("num_heads"), "num_heads")
    table = linear(_patches_in_time(keys), width, True) + keys.size("num_position_embeddings") * width
    block = 4 * linear(width, width, True) + 2 * norm(width, True)
    block += feed_forward(width, keys.size("intermediate_size"), gated=False, bias=True)
    merged = width * keys.size("spatial_merge_size") ** 2
    merger = linear(merged, merged, True) + linear(merged, keys.size("out_hidden_size"), True)
    further = 3 if keys.data.get("deepstack_visual_indexes") is None else len(keys.sizes("deepstack_visual_indexes"))
    mergers = merger + norm(width, True) + further * (merger + norm(merged, True))
    return table + keys.layers("depth") * block + mergers


def pixtral_tower(keys: Keys) -> int:
    """Pixtral's vision side: rotary positions, gated blocks, no biases."""
    keys = keys.with_defaults(
        {
            "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
            "num_channels": 3, "patch_size": 16,
        }
    )  # fmt: skip
    width = keys.size("hidden_size")
    keys.dividing(width, keys.size("num_attention_heads"), "num_attention_heads")
    layer = 4 * width**2 + feed_forward(width, keys.size("intermediate_size"), gated=True) + 2 * norm(width)
    patch = keys.size("num_channels") * keys.size("patch_size") ** 2
    return patch * width + norm(width) + keys.layers("num_hidden_layers") * layer


def _patches_in_time(keys: Keys) -> int:
    """Values of one patch of a few frames."""
    channels = keys.size("in_channels", "in_chans")
    return channels * keys.size("temporal_patch_size") * keys.size("patch_size") ** 2


READERS: Mapping[str, Callable[[Keys], tuple[int, VisionSpec]]] = {"vit": _vit, "deit": _vit}
