"""Models to choose from: the scenario's own first, then by kind, family and size."""

from dataclasses import replace

from planner.catalog.load import load_catalog
from ui.model_order import by_number, model_order


def in_order(*ids):
    workloads = load_catalog().workloads
    return model_order({id: workloads[id] for id in sorted(ids, reverse=True)})


def test_a_family_stands_together_by_size():
    families = [
        ["gemma-2b", "gemma-7b"], ["gemma-2-2b", "gemma-2-27b"], ["gpt2-small", "gpt2-medium", "gpt2-xl"],
        ["gpt3-2.7b", "gpt3-13b", "gpt3-175b"], ["llama-33b", "llama-65b"], ["llama-2-7b", "llama-2-70b"],
        ["qwen2.5-0.5b", "qwen2.5-7b", "qwen2.5-14b"], ["smollm2-135m", "smollm2-360m", "smollm2-1.7b"],
    ]  # fmt: skip
    ids = [id for family in families for id in family]
    assert in_order(*ids) == ids


def test_language_models_come_before_encoders_and_image_models():
    ids = ["yi-34b", "bert-base-squad", "roberta-base", "roberta-large", "resnet50-imagenet", "resnet101-imagenet"]
    assert in_order(*ids) == ids


def test_models_of_the_scenario_come_first():
    workloads = load_catalog().workloads
    own = replace(workloads["resnet50-imagenet"], id="ours")
    assert model_order({"gpt2-small": workloads["gpt2-small"], "ours": own}, own=["ours"]) == ["ours", "gpt2-small"]


def test_numbers_in_names_count_as_numbers():
    assert by_number("resnet-50") < by_number("resnet-101")
