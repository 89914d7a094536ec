"""The cache of compiled kernels saves time, and no failure of it does any harm."""

import importlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from numba.core.dispatcher import Dispatcher

import gradus
from gradus._core.kernels import compile as _compile
from gradus._core.kernels.compile import _cache_folder, _KernelFiles, _source_digest, _sources, compiled, inlined

# Given a cache file and damaged copies of it, each copy in turn takes its place, as if the disk had damaged it;
# a fresh dispatcher then has to find its code, without the one in memory.
KERNEL = """
import sys
from pathlib import Path
from gradus._core.kernels.compile import compiled

def add(a, b):
    return a + b

def call():
    kernel = compiled(add)
    print(kernel(2, 3), sum(kernel.stats.cache_hits.values()))

call()
for damaged in sys.argv[2:]:
    Path(sys.argv[1]).write_bytes(Path(damaged).read_bytes())
    call()
    call()
"""


@pytest.fixture
def run(tmp_path):
    """Run a small kernel in its own process; return each sum and how often the code came from the cache."""
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "kernel.py").write_text(KERNEL)

    def run(cache, *files):
        done = subprocess.run(
            [sys.executable, str(folder / "kernel.py"), *map(str, files)],
            capture_output=True,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(cache)},
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return [tuple(int(word) for word in line.split()) for line in done.stdout.splitlines()]

    return run


def cached(cache):
    return sorted((Path(cache) / "gradus-kernels").glob("*.nbc"))


def damage(content):
    flipped = bytearray(content)
    flipped[random.Random(1).randrange(len(content))] ^= 8
    zeroed = content[:1024] + bytes(len(content[1024 : 1024 + 4096])) + content[1024 + 4096 :]
    return {"flipped": bytes(flipped), "zeroed": zeroed, "cut": content[:100], "empty": b"", "junk": b"junk" * 1000}


def test_a_second_process_loads_the_code_from_a_private_folder_and_replaces_damaged_code(run, tmp_path):
    cache = tmp_path / "cache"
    assert run(cache) == [(5, 0)]
    [path] = cached(cache)
    if hasattr(os, "geteuid"):
        assert path.parent.stat().st_mode & 0o077 == 0
    files = [tmp_path / name for name in damage(path.read_bytes())]
    for file, content in zip(files, damage(path.read_bytes()).values(), strict=True):
        file.write_bytes(content)
    assert run(cache, path, *files) == [(5, 1), *[(5, 0), (5, 1)] * len(files)]


def test_no_damaged_byte_gets_past_the_checksum(tmp_path):
    files = _KernelFiles(tmp_path, "kernel", "stamp")
    files.save("key", {"code": bytes(range(256))})
    [path] = tmp_path.glob("*.nbc")
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert files.load("key") is None
        assert not path.exists()
    path.write_bytes(whole)
    assert files.load("key") == {"code": bytes(range(256))}


def test_signatures_and_versions_never_share_a_file(tmp_path):
    old, new = _KernelFiles(tmp_path, "kernel", "old"), _KernelFiles(tmp_path, "kernel", "new")
    old.save("int", 1)
    new.save("int", 2)
    new.save("float", 3)
    assert (old.load("int"), new.load("int"), new.load("float")) == (1, 2, 3)
    assert len(list(tmp_path.iterdir())) == 3


def test_files_that_nobody_has_loaded_for_weeks_are_removed(tmp_path):
    old, new = _KernelFiles(tmp_path, "kernel", "old"), _KernelFiles(tmp_path, "kernel", "new")
    for key in ("used", "unused"):
        old.save(key, key)
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    assert old.load("used") == "used"
    new.save("int", 2)
    assert (old.load("used"), old.load("unused"), new.load("int")) == ("used", None, 2)


def test_without_a_cache_folder_kernels_are_compiled_again(run, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(tmp_path / "file" / "cache") == [(5, 0)]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
def test_a_folder_that_others_can_write_to_is_not_trusted(run, tmp_path):
    folder = tmp_path / "cache" / "gradus-kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert run(tmp_path / "cache") == [(5, 0)]
    assert cached(tmp_path / "cache") == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners of files here")
def test_a_link_is_followed_once_and_only_if_it_is_the_users_own(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "gradus-kernels").symlink_to(tmp_path / "elsewhere")
    assert _cache_folder.__wrapped__() == (tmp_path / "elsewhere").resolve()
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert _cache_folder.__wrapped__() is None


def test_without_a_home_or_with_a_dangling_link_there_is_no_cache_folder(tmp_path, monkeypatch):
    for name in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert _cache_folder.__wrapped__() is None
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "gradus-kernels").symlink_to(tmp_path / "nowhere")
    assert _cache_folder.__wrapped__() is None


def test_without_the_compiler_the_error_names_the_setting():
    code = "import gradus; gradus.search([[0], [1]], [[1], [0]], order=None)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, timeout=120
    )
    assert "NUMBA_DISABLE_JIT is set" in done.stderr.splitlines()[-1]


def kernel_modules():
    """Every module of ours with kernels, imported."""
    root = Path(gradus.__file__).parent
    for path in sorted(root.rglob("*.py")):
        if re.search(r"^@(compiled|inlined|uncounted)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            name = ".".join(("gradus", *path.relative_to(root).with_suffix("").parts))
            yield importlib.import_module(name.removesuffix(".__init__"))


def test_the_digest_of_a_kernel_covers_every_function_and_constant_that_it_is_made_of():
    modules = list(kernel_modules())
    assert len(modules) > 5
    for module in modules:
        covered = _sources(Path(module.__file__))
        assert Path(_compile.__file__) in covered
        for thing in vars(module).values():
            home = getattr(getattr(thing, "py_func", thing), "__module__", None)
            if isinstance(home, str) and home.startswith("gradus."):
                assert Path(sys.modules[home].__file__) in covered, (module.__name__, home)


def test_an_edit_of_what_a_kernel_imports_changes_its_digest(tmp_path, monkeypatch):
    (tmp_path / "gradus" / "_pieces").mkdir(parents=True)
    kernel, piece = tmp_path / "kernel.py", tmp_path / "gradus" / "_pieces" / "moves.py"
    kernel.write_text("from gradus._pieces.moves import (\n    step,\n)\nfrom gradus._pieces import other\n")
    monkeypatch.setattr(_compile, "ROOT", tmp_path)
    digests = set()
    for text in ("step = 1\n", "step = 2\n"):
        piece.write_text(text)
        (piece.parent / "other.py").write_text("")
        digests.add(_source_digest.__wrapped__(kernel))
    (piece.parent / "other.py").write_text("step = 3\n")
    assert len(digests | {_source_digest.__wrapped__(kernel)}) == 3


class Finalized:
    """Is interrupted while it is finalized: like a function that LLVM calls, `__del__` cannot raise."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


@pytest.fixture
def kernel(monkeypatch):
    """Return a kernel without a cache, and a list of functions that are called while it is compiled."""
    plain, calls = Dispatcher.compile, []

    def compile_(self, signature):
        for call in calls:
            call()
        return plain(self, signature)

    monkeypatch.setattr(Dispatcher, "compile", compile_)
    monkeypatch.setattr(_compile, "_cache_folder", lambda: None)
    return _compile.compiled(lambda a: a + 1), calls


def test_ctrl_c_that_the_compiler_loses_is_raised_afterwards(kernel, capsys):
    add_one, calls = kernel
    calls.append(Finalized)
    report = sys.unraisablehook
    with pytest.raises(KeyboardInterrupt):
        add_one(1)
    assert sys.unraisablehook is report
    assert capsys.readouterr().err == ""
    calls.clear()
    assert (add_one(1), add_one(1.5)) == (2, 2.5)


def test_compiling_in_another_thread_does_not_change_what_python_reports(kernel):
    add_one, calls = kernel
    reports = []
    calls.append(lambda: reports.append(sys.unraisablehook))
    thread = threading.Thread(target=add_one, args=(1,))
    thread.start()
    thread.join()
    assert reports == [sys.unraisablehook]


def test_a_piece_of_a_kernel_is_called_by_compiled_code_alone():
    @inlined
    def twice(number):
        return 2 * number

    @compiled
    def entry(number):
        return twice(number) + 1

    for _ in range(2):  # before and after it is compiled
        with pytest.raises(TypeError, match="twice is a piece of a kernel"):
            twice(3)
        assert entry(3) == 7
