"""What a piece of work costs, as tests of its growth compare it."""

import gc
import time
from collections.abc import Callable


def cost(work: Callable[[], object], tries: int = 3) -> float:
    """Processor seconds of this thread, the best of some tries.

    Without collecting garbage: that goes through all of what other tests have left in the process.
    """
    spent = []
    for _ in range(tries):
        gc.collect()
        gc.disable()
        try:
            began = time.thread_time()
            work()
            spent.append(time.thread_time() - began)
        finally:
            gc.enable()
    return min(spent)
