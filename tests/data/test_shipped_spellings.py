"""Usual spellings of shipped GPUs and models: those of published tables, of torch and of Hugging Face."""

from __future__ import annotations

import pytest

from planner.catalog.query import accelerators_named, find_accelerator, find_workload
from planner.errors import InputError, UnknownIdError
from tests.planning import shipped_catalog

CATALOG = shipped_catalog()


@pytest.mark.parametrize(
    ("id", "spellings"),
    [
        ("a100-pcie-40gb", ["NVIDIA A100-PCIE-40GB", "A100-40GB-PCIe"]),
        ("a100-pcie-80gb", ["NVIDIA A100 80GB PCIe", "a100_pcie_80g"]),
        ("a100-sxm4-40gb", ["NVIDIA A100-SXM4-40GB", "A100-40GB-SXM4", "A100 SXM 40 GB"]),
        ("a100-sxm4-80gb", ["NVIDIA A100-SXM4-80GB", "A100-SXM-80GB", "A100 80GB SXM4", "A100 SXM4 80GB HBM2e"]),
        ("a10g", ["NVIDIA A10G", "A10G-24GB"]),
        ("a30", ["NVIDIA A30", "A30-24GB"]),
        ("a40", ["NVIDIA A40", "A40-48GB"]),
        ("apple-m2-ultra", ["M2-Ultra", "Apple M2 Ultra"]),
        ("b200-sxm-180gb", ["NVIDIA B200", "B200", "B200-SXM", "B200-180GB", "B200-SXM-192GB"]),
        ("b300-sxm-270gb", ["B300-SXM-288GB", "NVIDIA B300", "B300-288GB"]),
        ("gaudi2-96gb", ["Intel Gaudi 2", "Gaudi-2", "Gaudi2-96GB"]),
        ("gb200-186gb", ["GB200", "GB200-186GB", "NVIDIA GB200", "GB200-NVL72", "GB200-192GB"]),
        ("gb300-279gb", ["GB300", "GB300-288GB", "GB300-SXM-288GB", "NVIDIA GB300"]),
        ("gh200-144gb", ["NVIDIA GH200 144G HBM3e"]),
        ("gh200-96gb", ["NVIDIA GH200 480GB", "GH200-96GB"]),
        ("h100-nvl-94gb", ["NVIDIA H100 NVL", "H100-NVL-94GB"]),
        ("h100-pcie-80gb", ["NVIDIA H100 PCIe", "H100-80GB-PCIe"]),
        ("h100-sxm5-80gb", ["NVIDIA H100 80GB HBM3", "H100-80GB-HBM3", "H100 SXM", "H100-SXM5", "H100-SXM-80GB"]),
        ("h20-96gb", ["NVIDIA H20", "H20-96GB"]),
        ("h200-sxm-141gb", ["NVIDIA H200", "H200", "H200-SXM5-141GB", "H200-141GB", "H200 141GB HBM3e"]),
        ("l4", ["NVIDIA L4", "L4-24GB"]),
        ("l40s", ["NVIDIA L40S", "L40S-48GB"]),
        ("mi250x-128gb", ["AMD Instinct MI250X"]),
        ("mi300x-192gb", ["MI300X", "MI300X-192GB", "AMD Instinct MI300X", "AMD Instinct MI300X OAM"]),
        ("p100-pcie-16gb", ["Tesla P100-PCIE-16GB"]),
        ("quadro-rtx-8000", ["Quadro RTX 8000"]),
        ("rtx-2080-ti", ["NVIDIA GeForce RTX 2080 Ti", "RTX2080Ti-11GB", "2080Ti"]),
        ("rtx-3090", ["NVIDIA GeForce RTX 3090", "RTX3090-24GB", "GeForce-RTX-3090", "rtx_3090"]),
        ("rtx-4090", ["RTX4090", "RTX 4090", "RTX4090-24GB", "GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "4090"]),
        ("rtx-4090d", ["NVIDIA GeForce RTX 4090 D"]),
        ("rtx-5090", ["RTX5090", "RTX5090-32GB", "NVIDIA GeForce RTX 5090"]),
        ("rtx-6000-ada", ["RTX6000-Ada", "RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada-48GB"]),
        ("rtx-a6000", ["RTX-A6000", "A6000", "NVIDIA RTX A6000", "RTX-A6000-48GB", "A6000-48GB"]),
        ("rtx-pro-6000-blackwell", ["RTX-PRO-6000-Blackwell", "RTX PRO 6000 Blackwell Workstation Edition"]),
        ("rtx-pro-6000-blackwell", ["NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX-PRO-6000-96GB"]),
        ("rtx-pro-6000-max-q", ["NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition"]),
        ("t4", ["Tesla T4", "NVIDIA T4", "T4-16GB"]),
        ("titan-rtx", ["NVIDIA TITAN RTX", "TITAN-RTX-24GB"]),
        ("v100-pcie-16gb", ["Tesla V100-PCIE-16GB"]),
        ("v100-sxm2-32gb", ["Tesla V100-SXM2-32GB", "V100-SXM2-32GB"]),
        ("v100-sxm3-32gb", ["Tesla V100-SXM3-32GB"]),
    ],
)
def test_one_card_of_many_spellings(id: str, spellings: list[str]) -> None:
    for text in spellings:
        assert find_accelerator(CATALOG, text).id == id, text


@pytest.mark.parametrize(
    ("text", "among"),
    [
        ("A100-80GB", {"a100-pcie-80gb", "a100-sxm4-80gb"}),
        ("NVIDIA A100 80GB", {"a100-pcie-80gb", "a100-sxm4-80gb"}),
        ("A100 80GB HBM2e", {"a100-pcie-80gb", "a100-sxm4-80gb"}),
        ("A100-SXM4", {"a100-sxm4-40gb", "a100-sxm4-80gb"}),
        ("Tesla V100", {"v100-pcie-16gb", "v100-sxm2-32gb"}),
        ("V100-SXM2", {"v100-sxm2-16gb", "v100-sxm2-32gb"}),
        ("V100-SXM-32GB", {"v100-sxm2-32gb", "v100-sxm3-32gb"}),
        ("NVIDIA H100", {"h100-pcie-80gb", "h100-sxm5-80gb"}),
        ("H100-80GB", {"h100-pcie-80gb", "h100-sxm5-80gb"}),
    ],
)
def test_what_several_cards_can_be_is_never_chosen(text: str, among: set[str]) -> None:
    with pytest.raises(InputError) as error:
        find_accelerator(CATALOG, text)
    assert error.value.code == "gpu_ambiguous"
    assert among <= set(error.value.params["could_be"])


@pytest.mark.parametrize(
    "text",
    [
        "NVIDIA GeForce RTX 4090 Laptop GPU", "RTX4090-48GB", "RTX 3060", "RTX 3060 8GB", "RTX3080-12GB", "H200 PCIe",
        "H100-SXM5-64GB", "RTX 6000", "RTX 4060 Ti", "NVIDIA", "GPU", "", "24GB", "H100-SXM4-80GB", "A1000", "Titan",
    ],
)  # fmt: skip
def test_another_card_is_none_of_the_catalog(text: str) -> None:
    with pytest.raises(UnknownIdError):
        find_accelerator(CATALOG, text)


def test_names_and_labels_mean_what_they_say() -> None:
    for gpu in [*CATALOG.gpus.values(), *CATALOG.partial_gpus.values()]:
        for text in (gpu.id, *gpu.aliases, gpu.id.upper()):
            assert accelerators_named(CATALOG, text) == (gpu.id,), text
        assert set(accelerators_named(CATALOG, gpu.name)) >= {gpu.id}, gpu.name
    for label in CATALOG.ambiguous.values():
        assert accelerators_named(CATALOG, label.label) == label.could_be


@pytest.mark.parametrize(
    ("id", "spellings"),
    [
        ("bert-large-squad", ["bert-large-uncased", "BERT-Large"]),
        ("deepseek-v3", ["deepseek-ai/DeepSeek-V3-Base", "DeepSeek-R1", "deepseekv3 (w/ mtp)"]),
        ("falcon-7b", ["tiiuae/falcon-7b-instruct", "Falcon 7B"]),
        ("gemma-2-9b", ["google/gemma-2-9b-it", "Gemma2-9B"]),
        ("gemma-2b", ["Gemma 2B", "gemma-2b-it"]),
        ("gpt-oss-20b", ["openai/gpt-oss-20b"]),
        ("llama-2-7b", ["meta-llama/Llama-2-7b-hf", "Llama2-7B", "LLaMA-7B", "Llama-2-7b-chat-hf", "llama_2_7b"]),
        ("llama-3-8b", ["meta-llama/Meta-Llama-3-8B", "Llama-3.1-8B-Instruct", "unsloth/llama-3-8b-bnb-4bit"]),
        ("llama-3-70b", ["Llama-3.3-70B-Instruct", "Llama 3.1 70B"]),
        ("llama-3.2-3b", ["Llama-3.2-3B", "meta-llama/Llama-3.2-3B-Instruct"]),
        ("mistral-7b", ["Mistral-7B-v0.1", "mistralai/Mistral-7B-Instruct-v0.3"]),
        ("mixtral-8x22b", ["mistralai/Mixtral-8x22B-v0.1"]),
        ("mixtral-8x7b", ["Mixtral-8x7B-Instruct-v0.1", "Mixtral 8x7B"]),
        ("olmoe-1b-7b", ["allenai/OLMoE-1B-7B-0924"]),
        ("phi-1.5", ["microsoft/phi-1_5"]),
        ("phi-3-mini", ["microsoft/Phi-3-mini-4k-instruct", "phi-3-mini-128k-instruct", "Phi-3.5-mini-instruct"]),
        ("pythia-6.9b", ["EleutherAI/pythia-6.9b"]),
        ("qwen-1.8b", ["Qwen/Qwen-1_8B", "qwen-1.8b-chat"]),
        ("qwen-7b", ["Qwen/Qwen-7B-Chat", "Qwen1.5-7B"]),
        ("qwen2.5-7b", ["Qwen/Qwen2.5-7B-Instruct", "Qwen2-7B", "qwen2.5 7b"]),
        ("qwen3-8b", ["Qwen/Qwen3-8B-Base"]),
        ("roberta-large", ["FacebookAI/roberta-large"]),
        ("stablelm-3b-4e1t", ["stabilityai/stablelm-3b-4e1t"]),
        ("stablelm-base-alpha-3b", ["stabilityai/stablelm-base-alpha-3b"]),
        ("tinyllama-1.1b", ["TinyLlama-1.1B", "TinyLlama/TinyLlama_v1.1"]),
    ],
)
def test_one_model_of_many_spellings(id: str, spellings: list[str]) -> None:
    for text in spellings:
        assert find_workload(CATALOG, text).id == id, text


@pytest.mark.parametrize("text", ["llama-3-3b", "gemma-27b", "llama-2", "7b", "", "instruct", "gpt-5", "qwen2.5-vl-7b"])
def test_another_model_is_none_of_the_catalog(text: str) -> None:
    with pytest.raises(UnknownIdError):
        find_workload(CATALOG, text)
