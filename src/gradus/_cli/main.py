"""`gradus`: runs the chosen verb and returns an exit code.

0 is success, 2 bad input or usage (one sentence on standard error), 1 an internal error, 130 Ctrl-C, 143 SIGTERM.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import os
import signal
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from gradus._cli.console import EndedByUserError, note
from gradus._cli.progress_line import received, signals_handled
from gradus._version import described_version
from gradus.errors import GradusError, MissingExtraError

__all__ = ["VERBS", "main"]

VERBS = {
    "learn": "Learn a circuit from a table of examples.",
    "predict": "Predict the targets of new rows.",
    "curriculum": "Find an order for the targets, easiest first.",
    "infer": "Infer the rules of a gene network from time series.",
    "export": "Write a network as Verilog, BLIF, AIGER, .bnet, SBML and more.",
    "draw": "Draw a network as SVG, PNG or PDF.",
    "problems": "List, show and write the built-in problems.",
    "bench": "Measure the speed of this machine.",
}
ADDED = {
    "reproduce": "Run the experiments of the paper, and more.",
    "status": "Show how far an experiment is.",
    "report": "Write the tables, figures and page of an experiment.",
}
"""Verbs that `gradus-paper` adds through entry points of the group `PLUGINS`."""
PLUGINS = "gradus.verbs"
EXIT_BAD_INPUT, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_TERMINATED = 2, 1, 130, 143


class LazyVerbs(TyperGroup):
    """A group that lists verbs by their help lines and imports a verb's module only to run it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for verb, line in (VERBS | ADDED).items():
            self.commands[verb] = TyperCommand(verb, help=line)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Import the verb named by the first argument."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, _load(name) if command is not None and name is not None else None, rest


def _load(verb: str) -> Any:
    """Return a verb's command: the typer application of its module, or its function `command`."""
    module = _added(verb) if verb in ADDED else importlib.import_module(f"gradus._cli.{verb}")
    app = getattr(module, "app", None)
    if app is None:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command()(module.command)
    loaded = typer.main.get_command(app)
    loaded.name = verb
    return loaded


def _added(verb: str) -> Any:
    """Return the module of a verb from another distribution, or say what to install."""
    for point in importlib.metadata.entry_points(group=PLUGINS, name=verb):
        return point.load()
    raise MissingExtraError(f"gradus {verb} comes with gradus-paper: pip install ./paper, in a checkout of Gradus.")


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"gradus {described_version()}")
        raise typer.Exit


app = typer.Typer(cls=LazyVerbs, no_args_is_help=True, rich_markup_mode=None)


@app.callback(context_settings={"help_option_names": ["-h", "--help"]})
def _gradus(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version, with its commit if known, and stop."
        ),
    ] = False,
) -> None:
    """Learn Boolean circuits from examples by teaching their outputs in order, easiest first."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command line and exit with its code."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code."""
    _open_closed_streams()
    received.clear()
    with signals_handled():
        code = _run(arguments)
    return EXIT_TERMINATED if signal.SIGTERM in received else code


def _run(arguments: list[str]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = app(args=arguments, prog_name="gradus", standalone_mode=False)
        sys.stdout.flush()
    except GradusError as error:
        return _end_with(str(error), EXIT_BAD_INPUT)
    except EndedByUserError as ending:
        return _end_with(str(ending), EXIT_INTERRUPTED)
    except (KeyboardInterrupt, typer.Abort):
        return _end_with("stopped.", EXIT_INTERRUPTED)
    except BrokenPipeError:
        return _end_with_closed_output()
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # typer and rich turn a closed pipe into an exit
            return _end_with_closed_output()
        raise
    except OSError as error:
        return _end_with(_system_error(error), EXIT_BAD_INPUT)
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error, from whichever click typer brings
            return _refuse_usage(error)
        import traceback

        traceback.print_exc()
        return _end_with("this is an error in gradus; please report it with the lines above.", EXIT_INTERNAL)
    if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code and prints nothing
        return _end_with("stopped.", EXIT_INTERRUPTED)
    return code if isinstance(code, int) else 0


def _open_closed_streams() -> None:
    """Open the null device in place of streams that the caller has closed (``>&-``)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for the whole process)


def _end_with_closed_output() -> int:
    """End quietly when the reader of our output has closed it; Python must not report an error when it flushes at exit."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _system_error(error: OSError) -> str:
    """Report what could not be read or written: a full disk, a name that is too long, a folder that is gone."""
    try:
        os.getcwd()
    except OSError:
        return "the folder in which this was started no longer exists; change to another one."
    place = "the output" if error.filename is None else os.fsdecode(error.filename)
    return f"{place} cannot be read or written: {error.strerror or error}."


_show_with_place = warnings.showwarning


def _show_warning(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    """Print a warning for users as a sentence; those for programmers keep their place in the code."""
    if issubclass(category, UserWarning):
        _say(str(message))
    else:
        _show_with_place(message, category, *where, **more)


def _say(message: str) -> None:
    with contextlib.suppress(OSError):  # standard error may be what is full
        note(f"gradus: {' '.join(message.split())}")


def _end_with(message: str, code: int) -> int:
    _say(message)
    return code


def _refuse_usage(error: Any) -> int:
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        print(context.get_help() if context is not None else error.format_message())
        return EXIT_BAD_INPUT
    path = context.command_path if context is not None else "gradus"
    message = error.format_message().rstrip(".")
    return _end_with(f"{message} (see {path} --help).", EXIT_BAD_INPUT)
