"""The frame of the command line: verbs, help, exit codes."""

from __future__ import annotations

import importlib
import importlib.util
import shlex
import subprocess
import sys

import pytest

frame = importlib.import_module("gradus._cli.main")  # the package has a function of that name
HEAVY = ("numba", "sklearn", "scipy", "matplotlib", "pandas", "pyarrow")


def test_help_lists_every_verb_and_imports_nothing_heavy():
    program = (
        "import sys\nfrom gradus._cli.main import run\ncode = run(['--help'])\n"
        f"print(sorted(set(sys.modules) & set({HEAVY!r})), file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    for verb, line in frame.VERBS.items():
        assert f"  {verb} " in done.stdout
        assert line in done.stdout
    assert done.stderr == "[]\n"


def test_every_verb_has_a_module_of_its_own():
    for verb in frame.VERBS:
        assert importlib.util.find_spec(f"gradus._cli.{verb}_verb") is not None


@pytest.mark.parametrize("words", [*frame.VERBS, "problems list", "problems show", "problems write"])
def test_every_verb_has_a_help_with_an_example(words, capsys):
    assert frame.run([*words.split(), "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Example: " in shown
    assert f"gradus {words} " in shown[shown.index("Example: ") :]


@pytest.mark.parametrize("verb", ["learn", "curriculum", "infer"])
def test_the_example_of_a_help_runs(verb, here, capsys):
    frame.run([verb, "--help"])
    paragraphs = [" ".join(text.split()) for text in capsys.readouterr().out.split("\n\n")]
    examples = [text.split(": ", 1)[1] for text in paragraphs if text.startswith(("Example: ", "Then: "))]
    assert verb in examples[-1]
    for command in "; ".join(examples).split("; "):
        if command.startswith("gradus "):
            assert frame.run(shlex.split(command)[1:]) == 0, capsys.readouterr().err
        else:
            subprocess.run(["sh", "-ec", command], cwd=here, check=True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["learm"], "No such command 'learm'. Did you mean 'learn'"),
        (["learn"], "Missing argument 'data'"),
        (["learn", "--n-tries", "many", "x.csv"], "--n-tries"),
        (["predict", "--nonsense"], "No such option: --nonsense"),
        (["learn", "x.csv"], "x.csv"),
    ],
)
def test_wrong_usage_is_one_sentence(refused, words, message):
    assert message in refused(*words)


def test_an_error_of_ours_is_told_apart(monkeypatch, capsys):
    def broken(verb):
        raise RuntimeError("a bug")

    monkeypatch.setattr(frame, "_load", broken)
    assert frame.run(["learn", "x.csv"]) == 1
    assert "this is an error in gradus" in capsys.readouterr().err


def test_a_closed_pipe_is_not_an_error(tmp_path):
    command = f"{sys.executable} -m gradus problems list | head -1"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
