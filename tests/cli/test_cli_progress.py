"""What is shown during long work, on a terminal and in a pipe."""

from __future__ import annotations

import io
import signal

import pytest

from gradus._cli import progress_line
from gradus._core.kernels.clock import clock_stopped
from gradus._core.run import Progress


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
    with progress_line.Steps("folds", 4) as step:
        step()
    assert "folds: ███████░" in shown.getvalue()
    assert shown.getvalue().endswith("\r\x1b[K")


def test_a_pipe_gets_whole_lines_and_not_too_many(screen, monkeypatch):
    monkeypatch.setattr(progress_line, "SECONDS_PER_LINE", 0.0)
    shown = screen(False)
    with progress_line.Steps("folds", 2) as step:
        step()
        step()
    assert shown.getvalue() == "folds: 1 of 2\nfolds: 2 of 2\n"
    monkeypatch.setattr(progress_line, "SECONDS_PER_LINE", 1000.0)
    shown = screen(False)
    with progress_line.Steps("folds", 2) as step:
        step()
    assert shown.getvalue() == ""


def test_learning_shows_target_errors_gates_and_time(screen, monkeypatch):
    monkeypatch.setattr(progress_line, "SECONDS_PER_LINE", 0.0)
    shown = screen(False)
    watch = progress_line.Watch(["carry", "sum"])
    assert watch(Progress(stage="fit", done=1, total=2, target=1, errors=3, gates=5, eta=61.0)) is False
    assert shown.getvalue() == "fit: 1 of 2, sum, 3 errors, 5 gates, about 61 s left\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_learning_and_the_second_one_the_program(screen, number):
    screen(False)
    before = signal.getsignal(number)
    with progress_line.Watch(["z"]) as watch:
        with pytest.raises(KeyboardInterrupt):  # nothing has been found yet that could be kept
            signal.raise_signal(number)
        assert watch(Progress(stage="fit")) is False
        signal.raise_signal(number)
        assert watch(Progress(stage="fit")) is True
        assert watch.stopped
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_ctrl_c_does_not_wait_for_the_compiler(screen):
    screen(False)
    with progress_line.Watch(["z"]) as watch:
        watch(Progress(stage="fit"))
        with clock_stopped(), pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert watch.stopped
