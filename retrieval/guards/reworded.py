"""Searches for a question in other words than the asker's."""

from collections.abc import Sequence

from models.language.asking import Asker
from models.language.prompts import prompt
from models.language.protocol import behind_mark
from retrieval.documents import RetrievedPassage
from retrieval.protocols import Retriever


class RewordedQuestions:
    """A language model rewords each question before ``retriever`` searches.

    Questions whose wording was made to find one text, such as one with a text in it or a prefix that was
    optimized, lose it. Where no new wording can be read from its answer, or the question does not fit,
    nothing is found: else whoever asks so would be searched for as before. The model reads the question as it
    is: it must be one that may read raw text.
    """

    def __init__(self, retriever: Retriever, asker: Asker) -> None:
        self._retriever = retriever
        self._asker = asker

    def retrieve(self, questions: Sequence[str], k: int) -> list[list[RetrievedPassage]]:
        """As the retriever does; raises ModelUnavailable if the model fails."""
        # Given an empty one, a model would invent a question.
        asked = [question for question in questions if question.strip()]
        slots = [{"question": question} for question in asked]
        said = self._asker.all(prompt("reword_question"), slots, behind_mark)
        reworded = {question: new for question, new in zip(asked, said, strict=True) if new}
        found = iter(self._retriever.retrieve([*reworded.values()], k))
        passages = {question: next(found) for question in reworded}
        return [passages.get(each, []) for each in questions]
