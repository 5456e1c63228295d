"""One rewrite per file; `all_rules` finds them by walking this package."""

from __future__ import annotations

import importlib
import pkgutil

from gbfix.engine.model import Rule


def all_rules() -> tuple[Rule, ...]:
    """Every rule of the package, sorted by code. A module that begins with "_" holds no rule."""
    modules = (m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    rules = [importlib.import_module(f"{__name__}.{name}").RULE for name in modules]
    return tuple(sorted(rules, key=lambda rule: rule.code))
