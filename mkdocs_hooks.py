"""What the documentation's build makes itself: circuits to click on, and the list of the published files."""

from __future__ import annotations

import hashlib
import html
import json
import re
import tempfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

import gradus
from gradus._circuit.drawing.recognition import boxed
from gradus._formats.registry import CIRCUITS, TABLES

ROOT = Path(__file__).parent
ARCHIVE = ROOT / "paper" / "results"
CONTEST = ROOT / "paper" / "src" / "gradus_paper" / "published_contest.json"
ADDER = ROOT / "examples" / "adder6.json"
SHOWN_BITS = 4
WITHIN_NUMBERS = re.compile(r"(?<=\d) (?=±|s\b)|(?<=±) (?=\d)")  # blanks at which no line of a table's cell may end
ELSEWHERE = r"[\"']?(?:https?:)?//[^\s\"'>)]+"
LOADS = re.compile(rf"<(?:script|link|img|iframe|source)\b[^>]*\b(?:src|href)={ELSEWHERE}|url\({ELSEWHERE}")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages to the site, those of the archive among them."""
    files.append(File.generated(config, "interactive/adder.html", content=_adder_page()))
    for page_path in ARCHIVE.rglob("*.html"):
        name = f"results/{page_path.relative_to(ARCHIVE).as_posix()}"
        files.append(File.generated(config, name, abs_src_path=str(page_path)))
    return files


def _adder_page() -> str:
    """Return the page of the learned adder, cut to a few bits so that it can be read on a phone."""
    whole = gradus.Network.load(ADDER)
    network = gradus.Network(
        whole.n_inputs, whole.sources, whole.outputs[:SHOWN_BITS], whole.functions,
        input_names=whole.input_names, output_names=whole.output_names[:SHOWN_BITS],
    )  # fmt: skip
    # The page begins with 5 + 3, so that wires are lit.
    start = {name: [number >> int(name[1:]) & 1] for name in network.input_names for number in (5 if name[0] == "x" else 3,)}
    model = gradus.Model.of_bits(network.prune())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "adder.html")
        model.save_page(path, table=start, labels=model.predict(start))
        return path.read_text(encoding="utf-8")


def _adder() -> str:
    """Return the learned adder for the front page: its gates, and the boxes of its drawing in the order of bits."""
    network = gradus.Network.load(ADDER)
    gates = zip(network.functions.tolist(), *network.sources.T.tolist(), strict=True)
    found = boxed(dict(enumerate(gates, network.n_inputs)), frozenset(network.outputs.tolist()))
    if found is None:
        raise PluginError(f"No adders are recognised in {ADDER}.")
    by_sum = {box.outs[0][0]: box for box in found.boxes}
    boxes = [by_sum[output] for output in network.outputs.tolist()]
    shown = {
        "names": network.input_names,
        "gates": dict(found.logic),
        "boxes": [(box.kind, box.pins, box.outs) for box in boxes],
    }
    return f'<div class="adder" id="adder" data-circuit="{html.escape(json.dumps(shown))}"></div>'


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write what can be listed: formats, and the files of results with sizes and checksums; keep numbers in tables whole."""
    lines = (WITHIN_NUMBERS.sub("\u00a0", line) if line.startswith("|") else line for line in markdown.split("\n"))
    markdown = "\n".join(lines)
    for name, table in {"circuits": circuit_formats, "tables": table_formats}.items():
        if f"<!-- {name} -->" in markdown:
            markdown = re.sub(rf"<!-- {name} -->.*?<!-- /{name} -->", lambda _, table=table: table(), markdown)
    if page.file.src_uri == "index.md":
        said = html.escape(json.loads(CONTEST.read_text(encoding="utf-8")), quote=False)
        return markdown.replace("<!-- adder -->", _adder()).replace("<!-- contest -->", said)
    if page.file.src_uri != "archive.md":
        return markdown
    listed = []
    for path in sorted(ARCHIVE.rglob("*.parquet")):
        rows = pq.read_metadata(path).num_rows
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        name, size = path.relative_to(ROOT).as_posix(), path.stat().st_size / 1e6
        listed.append(f"- `{name}`: {rows:,} rows, {size:.1f} MB, SHA-256 `{digest}`")
    return re.sub(r"<!-- files:.*?-->", "\n".join(listed), markdown)


def circuit_formats() -> str:
    """Return the table of the formats that circuits are written and read in."""
    kinds = [(kind.what, kind.used_by, "yes" if kind.read else "") for kind in CIRCUITS.values()]
    return _by_extension(("what", "for", "also read"), dict(zip(CIRCUITS, kinds, strict=True)))


def table_formats() -> str:
    """Return the table of the formats that tables are read and written in."""
    return _by_extension(
        ("what", "also written"), {name: (kind.what, "yes" if kind.is_written else "") for name, kind in TABLES.items()}
    )


def _by_extension(head: tuple[str, ...], described: dict[str, tuple[str, ...]]) -> str:
    """Return a table in Markdown; extensions that are described alike share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for extension, words in described.items():
        rows.setdefault(words, []).append(f"`{extension}`")
    lines = [("extension", *head), ("---",) * (len(head) + 1)]
    lines += [(" ".join(extensions), *words) for words, extensions in rows.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def on_post_build(config: Any) -> None:
    """Refuse a site that loads anything from elsewhere, so that it opens from disk and tells nobody who reads it."""
    for path in sorted(Path(config.site_dir).rglob("*")):
        if path.suffix in (".html", ".css"):
            found = LOADS.search(path.read_text(encoding="utf-8"))
            if found is not None:
                raise PluginError(f"{path} loads something from elsewhere: {found[0]}")
