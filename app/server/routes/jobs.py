"""The routes of jobs: how far they are, as an answer or as events, and cancelling them."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from app.access.keys import Key
from app.jobs.rights import may_see
from app.jobs.runner import Runner
from app.jobs.table import Job, UnknownJob, job_row
from app.server.access import Again, Ingesting
from app.server.answers import JobAnswer, JobsAnswer
from app.server.middleware.noted import note
from app.server.quotas.streams import Streams

JobId = Annotated[str, Path(max_length=64)]
LOOKS = 0.3
"""Seconds between two looks at a job whose events are sent."""
ASKS_AGAIN = 3.0
"""Seconds between two looks at the key of who reads them."""
SILENCE = 15.0
"""Seconds without news after which a comment is sent, so that no proxy takes the stream for dead."""
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The job as server-sent events, one for each change, until it is over",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


async def _stream(request: Request, key: Ingesting) -> AsyncIterator[None]:
    streams: Streams = request.app.state.streams
    # Until the last event is sent, or the client has gone.
    with streams.one(key.key_id):
        yield


def job_routes(runner: Runner) -> APIRouter:
    """The jobs that a runner has."""
    router = APIRouter()

    @router.get("/v1/jobs", response_model=JobsAnswer)
    def jobs(key: Ingesting) -> Mapping[str, object]:
        """The newest jobs of the collections that the caller may add to."""
        return seen_jobs(runner, key, audits=False)

    @router.get("/v1/jobs/{job_id}", response_model=JobAnswer)
    def job(job_id: JobId, key: Ingesting) -> Mapping[str, object]:
        """A job as it is now."""
        return job_row(seen_job(runner, key, job_id, audits=False))

    @router.delete("/v1/jobs/{job_id}", response_model=JobAnswer)
    def cancel(job_id: JobId, key: Ingesting) -> Mapping[str, object]:
        """Cancel a job. What is stored by then stays."""
        return cancelled(runner, key, job_id, audits=False)

    @router.get("/v1/jobs/{job_id}/events", responses=_EVENTS, response_class=StreamingResponse)
    async def events(
        job_id: JobId, key: Ingesting, again: Again, stream: Annotated[None, Depends(_stream)]
    ) -> StreamingResponse:
        """A job as it goes on, as long as the key counts."""
        first = await run_in_threadpool(seen_job, runner, key, job_id, audits=False)
        headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
        sent = _events(runner, first, again)
        return StreamingResponse(sent, media_type="text/event-stream", headers=headers)

    return router


def seen_jobs(runner: Runner, key: Key, *, audits: bool) -> Mapping[str, object]:
    """The newest audits, or other jobs, that a caller may see."""
    newest = runner.jobs.newest()
    return {
        "jobs": [job_row(each) for each in newest if (each.kind == "audit") is audits and may_see(key, each)]
    }


def seen_job(runner: Runner, key: Key, job_id: str, *, audits: bool) -> Job:
    """An audit, or another job; raises UnknownJob where there is none that the caller may see."""
    found = runner.jobs.get(job_id)
    if (found.kind == "audit") is not audits or not may_see(key, found):
        raise UnknownJob
    return found


def cancelled(runner: Runner, key: Key, job_id: str, *, audits: bool) -> Mapping[str, object]:
    """Cancel an audit, or another job; raises as ``seen_job``."""
    found = seen_job(runner, key, job_id, audits=audits)
    note(found.collection, found.job_id)
    return job_row(runner.cancel(found.job_id))


async def _events(runner: Runner, job: Job, again: Callable[[], Key | None]) -> AsyncIterator[str]:
    said, silent, asked = "", 0.0, 0.0
    while True:
        row = json.dumps(job_row(job), ensure_ascii=False)
        if row != said:
            said, silent = row, 0.0
            yield f"data: {row}\n\n"
        elif silent >= SILENCE:
            silent = 0.0
            yield ": still at it\n\n"
        if job.over:
            return
        await asyncio.sleep(LOOKS)
        silent, asked = silent + LOOKS, asked + LOOKS
        if asked >= ASKS_AGAIN:
            asked = 0.0
            key = await run_in_threadpool(again)
            if key is None or not may_see(key, job):
                return
        job = await run_in_threadpool(runner.jobs.get, job.job_id)
