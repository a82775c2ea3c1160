"""When a failed try is made again, for every provider alike. It knows no protocol."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from time import sleep

from docmind.errors import LanguageModelError
from docmind.llm.failure import AttemptError
from docmind.types import Completion, Usage

PAUSES = (1.0, 2.0, 4.0)
"""Seconds before the second, third and fourth try. No jitter: that keeps many clients from coming back in step, and
here one asks, one question at a time."""

LONGEST = 60.0
"""Seconds that are waited at most, whatever a server asks for."""

logger = logging.getLogger(__name__)


def persist(attempt: Callable[[], Completion], model: str) -> Completion:
    """What `attempt` gives, tried again after an AttemptError that allows it; its usage is that of all tries.

    Raises LanguageModelError with the words of the last failure and what `model` was paid for nothing. It has no cause: the
    frames that led there hold the key.
    """
    spent = Usage()
    for pause in (*PAUSES, None):
        try:
            done = attempt()
        except AttemptError as caught:
            failure = caught
        else:
            return replace(done, usage=spent + done.usage)
        spent += failure.usage
        if pause is None or not failure.again:
            break
        wait = min(LONGEST, pause if failure.wait is None else failure.wait)
        logger.warning("%s Trying again in %.0f s.", failure, wait)
        sleep(wait)
    tried = f" Tried {len(PAUSES) + 1} times." if failure.again else ""
    raise LanguageModelError(f"{failure}{tried}", model, spent)
