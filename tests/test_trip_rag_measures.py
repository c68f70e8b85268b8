"""Figures of the TRIP-RAG benchmark, held to other implementations and to cases done by hand. Invented data."""

from collections.abc import Iterable, Sequence
from importlib import import_module

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU

from eval.corpora.bench_corpus import Question
from eval.documents import SensitiveEntity
from eval.measures.answers import answer_scorer, bleu1, sacrebleu_signature
from eval.measures.intervals import Estimate, Share, share_of
from eval.measures.leakage import SensitiveIndex
from eval.trip_rag.asking import ANSWERED_WITH, DEPTHS, Asked, answer_rows, by_encoder, disclosed, figures_of
from eval.trip_rag.features import correlations, rank_correlation
from eval.trip_rag.frontier import Point, area_under, areas_of, dominated_by
from eval.trip_rag.report import AnswerRow
from eval.trip_rag.table import METHOD_HEAD, estimate_cell, markdown_table, method_cells, share_cell
