"""The route of OpenAI clients for responses: chats about a collection in the newer form, text alone."""

import json
import time
import uuid
from collections.abc import Iterator
from itertools import count

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from app.server.access import Asking
from app.server.answers import ResponseAnswer
from app.server.asked import collection_of_model
from app.server.bodies import ResponsesBody
from app.server.errors import in_openai_shape
from app.server.quotas.budgets import Counted
from app.server.quotas.slots import Slot
from app.server.routes.chat import STREAMED, beside, tokens, written
from app.server.served import Collections
from models.errors import LetheError
from retrieval.documents import Answer
from retrieval.writing import Shortened, Writing, begun, filtered, whole


def response_routes(served: Collections) -> APIRouter:
    """Responses over ``served``."""
    router = APIRouter()

    @router.post("/v1/responses", response_model=ResponseAnswer, responses=STREAMED)
    def responses(
        body: ResponsesBody, key: Asking, slot: Slot, budgets: Counted
    ) -> ResponseAnswer | Response:
        """An answer from a collection, with citations, in OpenAI's newer form."""
        name = collection_of_model(key, served, body.model, body.collection)
        shortened = Shortened(body.max_output_tokens, served.encoder.token_spans)
        asked = [each.content for each in body.input if each.role == "user"]
        writing = filtered(written(asked, served, name, budgets, key), shortened)
        made = _Response(body, served, shortened)
        if body.stream:
            return StreamingResponse(made.events(begun(writing)), media_type="text/event-stream")
        return made.answer(whole(writing))

    return router


class _Response:
    """One response, whole or as events in OpenAI's order."""

    def __init__(self, body: ResponsesBody, served: Collections, shortened: Shortened) -> None:
        self._body, self._served, self._shortened = body, served, shortened
        self._id, self._item, self._at = (
            f"resp_{uuid.uuid4().hex}",
            f"msg_{uuid.uuid4().hex}",
            int(time.time()),
        )

    def answer(self, answer: Answer) -> ResponseAnswer:
        """The response with the text of an answer."""
        asked = sum(tokens(self._served, each.content) for each in self._body.input)
        said = tokens(self._served, answer.text)
        cut = self._shortened.cut
        status = "incomplete" if cut else "completed"
        content = [{"text": answer.text}]
        return ResponseAnswer.model_validate(
            {
                "id": self._id,
                "created_at": self._at,
                "model": self._body.model,
                "status": status,
                "incomplete_details": {} if cut else None,
                "output": [{"id": self._item, "status": status, "content": content}],
                "usage": {"input_tokens": asked, "output_tokens": said, "total_tokens": asked + said},
                **beside(answer),
            }
        )

    def events(self, writing: Writing) -> Iterator[str]:
        """Server-sent events; once an answer has begun, what fails is an event in place of the rest."""
        numbers = count()
        place = {"item_id": self._item, "output_index": 0, "content_index": 0}

        def event(kind: str, **content: object) -> str:
            numbered = {"type": kind, "sequence_number": next(numbers), **content}
            return f"event: {kind}\ndata: {json.dumps(numbered)}\n\n"

        started = {"id": self._id, "object": "response", "created_at": self._at, "model": self._body.model}
        item = {
            "type": "message",
            "id": self._item,
            "role": "assistant",
            "status": "in_progress",
            "content": [],
        }
        empty = {"type": "output_text", "text": "", "annotations": []}
        yield event("response.created", response={**started, "status": "in_progress", "output": []})
        yield event("response.output_item.added", output_index=0, item=item)
        yield event("response.content_part.added", **place, part=empty)
        try:
            while True:
                if piece := next(writing):
                    yield event("response.output_text.delta", **place, delta=piece)
        except StopIteration as end:
            made = self.answer(end.value).model_dump(mode="json")
        except LetheError as error:
            yield event("error", **json.loads(in_openai_shape(error))["error"])
            return
        (message,) = made["output"]
        (part,) = message["content"]
        yield event("response.output_text.done", **place, text=part["text"])
        yield event("response.content_part.done", **place, part=part)
        yield event("response.output_item.done", output_index=0, item=message)
        yield event(f"response.{made['status']}", response=made)
