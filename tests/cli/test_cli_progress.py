"""What is shown while work goes on, on a terminal and in a pipe."""

from __future__ import annotations

import io
import signal

import pytest

from gradus._cli import progress
from gradus._search.cuda import BatchProgress
from gradus._search.front import Progress


class Screen(io.StringIO):
    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@pytest.fixture
def screen(monkeypatch):
    def make(terminal: bool) -> Screen:
        made = Screen(terminal)
        monkeypatch.setattr("sys.stderr", made)
        return made

    return make


def test_a_terminal_shows_a_bar_and_is_left_clean(screen):
    shown = screen(True)
    with progress.Steps("folds", 4) as step:
        step()
    assert "folds: ███████░" in shown.getvalue()
    assert shown.getvalue().endswith("\r\x1b[K")


def test_a_pipe_gets_whole_lines_and_not_too_many(screen, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_A_LINE", 0.0)
    shown = screen(False)
    with progress.Steps("folds", 2) as step:
        step()
        step()
    assert shown.getvalue() == "folds: 1 of 2\nfolds: 2 of 2\n"
    monkeypatch.setattr(progress, "SECONDS_A_LINE", 1000.0)
    shown = screen(False)
    with progress.Steps("folds", 2) as step:
        step()
    assert shown.getvalue() == ""


def test_a_search_shows_steps_targets_and_speed(screen):
    screen(False)
    callback = progress.Watch(4, 3)
    assert callback(Progress(0, 0, "search", 10, 5, 1, 10)) is False
    line = callback.describe(Progress(1, 2, "search", 10, 5, 3, 2_000_010))
    assert line.startswith("attempt 2 of 3, restart 2, 3 of 4 targets right so far, 2.0 M steps, ")
    assert line.endswith("M steps/s")
    assert "all 4 targets right, shrinking: 17 gates" in callback.describe(Progress(0, 0, "shrink", 1, 17, 4, 10))


def test_ctrl_c_stops_a_running_search_and_the_second_one_the_program(screen):
    screen(False)
    with progress.Watch(1, 1) as callback:
        with pytest.raises(KeyboardInterrupt):  # nothing has been found yet that could be kept
            signal.raise_signal(signal.SIGINT)
        callback(Progress(0, 0, "search", 1, 1, 0, 1))
        signal.raise_signal(signal.SIGINT)
        assert callback(Progress(0, 0, "search", 2, 1, 0, 2)) is True
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_while_a_gpu_still_compiles_ctrl_c_ends_the_program(screen):
    screen(False)
    with progress.Watch(1, 7) as callback:
        assert callback(BatchProgress(1, 0, 0, 0.3)) is False
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        callback(BatchProgress(1, 0, 1000, 3.0))
        signal.raise_signal(signal.SIGINT)
        assert callback(BatchProgress(1, 0, 2000, 3.2)) is True
