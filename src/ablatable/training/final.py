"""What is measured when training has ended: NLL of the split, free-running translations, their scores."""

from __future__ import annotations

import json
import time

import torch

from ablatable.data.dataset import Dataset
from ablatable.decoding.translate import translate
from ablatable.nn.transformer import Transformer
from ablatable.record.events import EventWriter
from ablatable.record.files import write_atomic
from ablatable.record.job import Job
from ablatable.record.schema import Metric
from ablatable.scoring.perplexity import perplexity
from ablatable.scoring.score import score
from ablatable.training.evaluate import nll_sums
from ablatable.training.fit import VALID_TOKENS
from ablatable.training.module import TranslationModule
