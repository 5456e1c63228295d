"""Do something right after a module was imported, without importing it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Action = Callable[[ModuleType], None]


class _Finder:
    """A meta path finder that finds only the modules somebody waits for, by asking the finders behind it."""

    def __init__(self) -> None:
        self.waiting: dict[str, list[Action]] = {}
        self._asking: set[str] = set()

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.waiting or name in self._asking:
            return None
        self._asking.add(name)
        try:
            return self._watched(name, _spec_of_others(self, name, path, target))
        finally:
            self._asking.discard(name)

    def _watched(self, name: str, spec: ModuleSpec | None) -> ModuleSpec | None:
        loader: Any = None if spec is None else spec.loader
        if spec is None or not hasattr(loader, "exec_module") or isinstance(loader, type):
            return spec  # a namespace package, or built into Python
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            if vars(loader).get("exec_module") is exec_module:
                del loader.exec_module
            execute(module)
            if module.__name__ == name:
                self.run(module)

        # On the instance, so that the loader stays the same object of the same class to everybody who looks at it.
        vars(loader)["exec_module"] = exec_module
        return spec

    def run(self, module: ModuleType) -> None:
        for action in self.waiting.pop(module.__name__, []):
            _run(action, module)


def _spec_of_others(
    finder: _Finder, name: str, path: Sequence[str] | None, target: ModuleType | None
) -> ModuleSpec | None:
    for other in list(sys.meta_path):
        find = getattr(other, "find_spec", None)
        if other is finder or find is None:
            continue
        spec: ModuleSpec | None = find(name, path, target)
        if spec is not None:
            return spec
    return None


def _run(action: Action, module: ModuleType) -> None:
    try:
        action(module)
    except Exception:  # the program did nothing but import a module; actions report their own failures
        return


_FINDER = _Finder()


def after_import(module_name: str, action: Action) -> None:
    """Call `action(module)` once, right after the module was executed; at once when it is imported already.

    Nothing is imported because of this, `module.__spec__.loader` is the loader that the module would have had, and an
    exception of the action goes no further. Modules that Python has built in or frozen are only seen when they are
    there already; a reloaded module is not told about again.
    """
    module = sys.modules.get(module_name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        _run(action, module)
        return
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    _FINDER.waiting.setdefault(module_name, []).append(action)
