"""Models described by a config.json of Hugging Face."""

from planner.workload.huggingface.model import ModelConfig as ModelConfig
from planner.workload.huggingface.read import KNOWN as KNOWN
from planner.workload.huggingface.read import read_config as read_config
