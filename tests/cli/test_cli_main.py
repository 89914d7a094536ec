"""The frame of the command line: verbs, help, exit codes."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
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
        assert importlib.util.find_spec(f"gradus._cli.{verb}") is not None


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
    assert message.lower() in refused(*words).lower()  # versions of typer write DATA or data


def test_an_internal_error_is_distinguished_from_bad_input(monkeypatch, capsys):
    def broken(verb):
        raise RuntimeError("a bug")

    monkeypatch.setattr(frame, "_load", broken)
    assert frame.run(["learn", "x.csv"]) == 1
    assert "this is an error in gradus" in capsys.readouterr().err


@pytest.mark.parametrize("words", ["problems list", "problems show add6"])
def test_a_closed_pipe_is_not_an_error(tmp_path, words):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "gradus", *words.split()]
    done = subprocess.run(command, cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_streams_are_not_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert frame.run(["problems", "list"]) == 0
    assert frame.run(["learn", "no-such-file.csv"]) == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_behind_the_output_is_one_sentence(monkeypatch, capsys):
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:  # what could not be written is tried again at the end
        monkeypatch.setattr(sys, "stdout", full)
        code = frame.run(["problems", "list", "--json"])
        monkeypatch.undo()
    assert code == 2
    assert capsys.readouterr().err == "gradus: the output cannot be read or written: No space left on device.\n"


LONG = "n" * 300


@pytest.mark.parametrize(
    "words",
    [
        f"learn d.csv -o {LONG}.json",
        f"learn {LONG}.csv",
        f"predict {LONG}.json d.csv",
        f"export m.json {LONG}.v",
        f"draw m.json {LONG}.svg",
        f"infer d.csv -o {LONG}",
        f"problems write add3 {LONG}.csv",
        f"reproduce {LONG}.toml",
        f"status {LONG}",
        f"report {LONG}",
        f"curriculum {LONG}.csv",
    ],
)
def test_a_name_that_is_too_long_is_one_sentence(refused, here, words):
    if words.split()[0] in ("reproduce", "status", "report"):
        pytest.importorskip("gradus_paper")
    (here / "d.csv").write_text("a,b\n0,1\n1,0\n0,0\n")
    assert LONG in refused(*words.split())


@pytest.mark.parametrize(
    "words", ["learn {}/d.csv -o m.json", "infer {}/d.csv -o out", "problems write add3 t.csv", "report ."]
)
def test_a_folder_that_is_gone_is_one_sentence(tmp_path, monkeypatch, capsys, words):
    (tmp_path / "d.csv").write_text("a,b\n0,1\n1,0\n0,0\n")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert frame.run(words.format(tmp_path).split()) == 2
    said = capsys.readouterr().err
    assert said.startswith("gradus: ")
    assert said.count("\n") == 1
