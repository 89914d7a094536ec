"""`SearchThreads`: threads whose searches can all be stopped at once."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["SearchThreads"]

T = TypeVar("T")


class SearchThreads:
    """Daemon threads that run functions in the order given; the compiled search releases the interpreter's lock.

    This is not an executor of `concurrent.futures`, because Python waits for an executor's threads at exit: a program that
    fails while searches are running would continue until the longest of them has ended.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads: list[threading.Thread] = []
        self._waiting: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._stop = threading.Event()

    def submit(self, work: Callable[[Callable[[], bool]], T]) -> Future[T]:
        """Run a function on a thread; its argument is a function that returns whether to stop."""
        future: Future[T] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work(self._stop.is_set))
                except BaseException as error:  # raised again by `future.result`
                    future.set_exception(error)

        self._waiting.put(run)
        if len(self._threads) < self.count:
            self._threads.append(threading.Thread(target=self._work, name="search", daemon=True))
            self._threads[-1].start()
        return future

    def stop(self) -> None:
        """Ask every function, running or waiting, to stop soon."""
        self._stop.set()

    def close(self, timeout: float | None = None) -> None:
        """Stop, and wait at most `timeout` seconds for the threads to end."""
        self._stop.set()
        deadline = None if timeout is None else time.monotonic() + timeout
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (run := self._waiting.get()) is not None:
            run()
