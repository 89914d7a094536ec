"""HTML pages that open from disk and load nothing: templates that escape every text, one theme, one table that sorts."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gradus._core.wording import counted
from gradus._version import __version__

if TYPE_CHECKING:
    import jinja2

__all__ = ["inline_svg", "notebook_table", "page", "render"]

KIT = "gradus._pages"
DATA_STYLE = {"ensure_ascii": True, "separators": (",", ":")}
"""How data for a page's script are written; the filter `tojson` besides escapes what could close their element."""


def page(package: str, name: str, /, **data: Any) -> str:
    """Return a page: NAME.html of a package, which extends the kit's base.html, with NAME.css and NAME.js beside it."""
    style = _asset(KIT, "theme.css") + _asset(package, f"{name}.css")
    script = _asset(KIT, "table.js") + _asset(package, f"{name}.js")
    # The page forbids the browser to load anything and to run any script but this one, so that text from elsewhere cannot
    # do harm even if it is not escaped.
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
    return render(package, f"{name}.html", style=style, script=script, policy=policy, version=__version__, **data)


def render(package: str, name: str, /, **data: Any) -> str:
    """Fill in a template of a package."""
    return _templates().get_template(f"{package}/{name}").render(**data)


def notebook_table(title: str, headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a title and a table for a notebook's cell."""
    return render(KIT, "notebook.html", title=title, headings=headings, rows=rows)


def inline_svg(svg: str) -> str:
    """Return the text of an SVG file as an element of a page, without comments and metadata."""
    return re.sub(r"<!--.*?-->|<metadata>.*?</metadata>", "", svg[svg.index("<svg") :], flags=re.DOTALL)


@cache
def _templates() -> jinja2.Environment:
    import jinja2  # not above: `import gradus` needs none

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: _asset(*name.split("/")) or None),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"counted": counted, "inline_svg": inline_svg}
    made.policies["json.dumps_kwargs"] = DATA_STYLE
    return made


def _asset(package: str, name: str) -> str:
    """Return the text of a file in a package's folder; nothing if there is none."""
    path = files(package).joinpath(name)
    return path.read_text(encoding="utf-8") if path.is_file() else ""
