"""The front page: an adder to click on, and what the contest came to."""

from __future__ import annotations

import importlib.util
import json
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from browser import drive, needs_browser

ROOT = Path(__file__).parents[1]
WIDTHS = (1280, 390)
BITS = 6


@pytest.fixture(scope="module")
def hooks():
    pytest.importorskip("mkdocs")
    pytest.importorskip("pyarrow")
    spec = importlib.util.spec_from_file_location("mkdocs_hooks", ROOT / "mkdocs_hooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def page(hooks, tmp_path):
    """The adder as the front page has it, on a page of its own."""
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    text = hooks.on_page_markdown(index, SimpleNamespace(file=SimpleNamespace(src_uri="index.md")))
    (adder,) = [line for line in text.splitlines() if line.startswith('<div class="adder"')]
    style, script = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("style.css", "adder.js"))
    path = tmp_path / "adder.html"
    path.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><style>{style}</style>{adder}<script>{script}</script>', encoding="utf-8"
    )
    return path


LOOK = """
const pin = (name) => page.querySelector(`[data-name="${name}"]`);
const look = () => ({
  said: page.querySelector("strong").textContent,
  bits: [...page.querySelectorAll("text")].map((text) => text.textContent).filter((text) => text[0] === "z"),
  pressed: [...page.querySelectorAll("[data-name]")].filter((one) => one.getAttribute("aria-pressed") === "true").length,
});
"""


def expected(numbers):
    total = sum(numbers.values()) % 2**BITS
    return {
        "said": f"{numbers['x']} + {numbers['y']} = {total}",
        "bits": [f"z{k} = {total >> k & 1}" for k in range(BITS)],
        "pressed": sum(number.bit_count() for number in numbers.values()),
    }


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_sum_is_right_after_every_click(page, width):
    draw = random.Random(0)
    clicks = [f"{draw.choice('xy')}{draw.randrange(BITS)}" for _ in range(60)]
    script = """return CLICKS.map((name) => {
      pin(name).dispatchEvent(new window.MouseEvent("click", { bubbles: true }));
      return look();
    });"""
    seen = drive(page, LOOK + script.replace("CLICKS", json.dumps(clicks)), width=width)
    numbers = {"x": 5, "y": 3}
    for name, shown in zip(clicks, seen, strict=True):
        numbers[name[0]] ^= 1 << int(name[1])
        assert shown == expected(numbers)


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_every_input_is_reached_and_changed_by_keys_and_keeps_the_focus(page, width):
    script = """
    const names = [...page.querySelectorAll("[data-name]")].map((one) => one.dataset.name);
    const inside = !page.querySelector('[role="img"] [data-name]');
    const key = (name, key) => {
      pin(name).focus();
      page.activeElement.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true }));
      return [look(), page.activeElement.dataset.name];
    };
    const reached = names.every((name) => pin(name).tabIndex === 0 && pin(name).getAttribute("role") === "button");
    return { names, inside, reached, seen: names.flatMap((name) => ["Enter", " ", "a", "Enter"].map((k) => key(name, k))) };
    """
    found = drive(page, LOOK + script, width=width)
    assert sorted(found["names"]) == sorted(f"{number}{k}" for number in "xy" for k in range(BITS))
    assert (found["inside"], found["reached"]) == (True, True)
    numbers = {"x": 5, "y": 3}
    presses = [(name, key) for name in found["names"] for key in ("Enter", " ", "a", "Enter")]
    for (name, key), (shown, focused) in zip(presses, found["seen"], strict=True):
        if key != "a":
            numbers[name[0]] ^= 1 << int(name[1])
        assert (shown, focused) == (expected(numbers), name)


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_of_the_adder_is_cut_off_and_inputs_are_large_enough_for_a_finger(page, width):
    script = """
    const svg = page.querySelector("svg").getBoundingClientRect();
    const boxes = [...page.querySelectorAll("rect, text")].map((one) => one.getBoundingClientRect());
    const beside = (box) => box.left < svg.left - 1 || box.right > svg.right + 1 || box.bottom > svg.bottom + 1;
    const pins = [...page.querySelectorAll(".pin")].map((one) => one.getBoundingClientRect());
    const smallest = Math.min(...pins.map((box) => Math.min(box.width, box.height)));
    return [!boxes.some(beside) && svg.right <= window.innerWidth, smallest];
    """
    fits, smallest = drive(page, LOOK + script, width=width)
    assert fits
    assert smallest >= 24  # CSS pixels, as the accessibility guidelines ask


def test_the_contest_on_the_front_page_is_the_published_headline(hooks):
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shown = hooks.on_page_markdown(index, SimpleNamespace(file=SimpleNamespace(src_uri="index.md")))
    headline = json.loads((ROOT / "paper/src/gradus_paper/published_contest.json").read_text(encoding="utf-8"))
    assert headline in shown
    assert "<!--" not in shown
