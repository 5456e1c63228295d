"""`torch.get_default_device()` in a compiled function.

Dynamo does not follow it (GB0208). A new tensor is made on that very device, and an empty one costs nothing.

Before:

    y = x + torch.ones(2, device=torch.get_default_device())

After:

    y = x + torch.ones(2, device=torch.empty(0).device)

Both give the device of `torch.set_default_device`, or of the innermost `with torch.device(...)`, with its index.

Stays away when the installed PyTorch follows the call, or not its replacement.

Source: torch.get_default_device, torch/__init__.py of torch 2.13 (GB0208).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._idioms import proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.engine.model import Finding, Rule

DEFAULT_DEVICE = ("GBF606", "default-device")


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.Call):
        if site.called() != "torch.get_default_device":
            continue
        torch = view.project.torch
        if torch.captures("torch.get_default_device") or not torch.captures("device of an empty tensor"):
            continue
        same = proved("the device is the same", "a new tensor is made on the default device", site.line)
        try:
            name, is_new = torch_name(view, site.node)
        except RefusedError as refused:
            yield site.refusal(DEFAULT_DEVICE, "the default device", refused)
            continue
        fix = site.replaced("ask an empty tensor", f"{name}.empty(0).device", *(["torch"] if is_new else []))
        yield site.finding(DEFAULT_DEVICE, "the default device", (fix, [same]))


RULE = Rule(*DEFAULT_DEVICE, "torch.get_default_device in a compiled function", __doc__, _find)
