"""A page in a real browser: a script clicks and types in it, and says what it then sees."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess

import pytest

BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
needs_browser = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium here to open the page in")

HARNESS = """<!DOCTYPE html><meta charset="utf-8"><iframe id="page" src="{page}" width="{width}" height="900"></iframe>
<pre id="seen"></pre><script>
addEventListener("load", () => {{
  const page = document.getElementById("page").contentDocument;
  const window = page.defaultView;
  let seen;
  try {{ seen = (() => {{ {script} }})(); }} catch (error) {{ seen = {{ error: String(error) }}; }}
  document.getElementById("seen").textContent = JSON.stringify(seen);
}});
</script>"""


def opened(page, *options):
    """Open a page and return its document when scripts have run, and what the browser said."""
    quiet = ["--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
    profile = f"--user-data-dir={page.parent / 'profile'}"
    done = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", *quiet, *options, profile, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout, done.stderr


def drive(page, script, *, width=1100):
    """Open a page as it is, in a frame, and return what a script of the harness returns; `page` is its document."""
    harness = page.with_name(f"harness-{page.stem}.html")
    harness.write_text(HARNESS.format(page=page.name, script=script, width=width), encoding="utf-8")
    text, errors = opened(harness, "--allow-file-access-from-files", "--virtual-time-budget=5000")
    seen = re.search(r'<pre id="seen">(.*?)</pre>', text, flags=re.DOTALL)
    assert seen is not None, errors[-2000:]
    seen = json.loads(html.unescape(seen[1]))
    assert not (isinstance(seen, dict) and "error" in seen), seen
    return seen
