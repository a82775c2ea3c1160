"""HTML pages that stand alone and open from disk: filled in by Jinja, which escapes every text. No network.

Every page extends base.html. Its style and its script stand in it, allowed by their hashes, and nothing else may be loaded
or run.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from importlib import resources

from docmind.text import visible


def page(template: str, *scripts: str, data: object = None, **values: object) -> str:
    """The page that `template`, a file beside this one, makes of `values`; `scripts` are files that run as one, and read `data`
    from the element of that name."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    style, script = _file("page.css"), "".join(map(_file, scripts))
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, loader=FunctionLoader(_file)
    )
    filled = environment.get_template(template).render(
        policy=f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),  # noqa: S704 - the package's own file
        script=Markup(script),  # noqa: S704 - the package's own files
        data="" if data is None else Markup(as_json(data)),  # noqa: S704 - holds no "<"
        **values,
    )
    return visible(filled)


def as_json(value: object) -> str:
    """ASCII, so that characters are bytes; without "<", so that no text can end the element it stands in."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def listed(names: Sequence[str]) -> str:
    """The first ten, and how many more there are."""
    return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
