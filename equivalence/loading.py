"""Loading one version of a program: its files are given as text, whatever lies on disk.

Runs in the process of a version. The modules keep their names, `__file__` and line numbers, so that tracebacks,
`inspect` and Dynamo's messages read as if the text lay in the file.
"""

from __future__ import annotations

import importlib
import importlib.util
import io
import linecache
import os
import sys
import tokenize
import traceback
from collections.abc import Callable, Iterable, Mapping
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from gbfix.equivalence.model import CheckError, Target

Compile = Callable[[str, str], CodeType]
"""Makes code of the text of a file; arguments: the text, and the path that the code is to name."""

_NOT_OURS = frozenset({"torch", "gbfix", "numpy", "sympy", "mpmath", "networkx", "hypothesis", "msgspec", "libcst"})
"""Packages that this process works with: another text for one of their files would not be the one in use."""


def substitute(texts: Mapping[str, str], compile_text: Mapping[str, Compile] | None = None) -> None:
    """Make imports of these files, by absolute real path, give these texts. Once per process.

    compile_text: for files whose text is to be compiled in another way. No bytecode is read or written.
    """
    sys.dont_write_bytecode = True
    get_code, get_data, get_source = SourceFileLoader.get_code, SourceFileLoader.get_data, SourceFileLoader.get_source
    compilers = compile_text or {}

    def code_of(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        real = os.path.realpath(path)
        if real not in texts:
            return get_code(self, fullname)
        _show(path, texts[real])
        return compilers.get(real, _compiled)(texts[real], path)

    def data_of(self: SourceFileLoader, path: str) -> bytes:
        real = os.path.realpath(path)
        return _encoded(texts[real]) if real in texts else get_data(self, path)

    def source_of(self: SourceFileLoader, fullname: str) -> str | None:
        real = os.path.realpath(self.get_filename(fullname))
        return texts[real] if real in texts else get_source(self, fullname)

    for name, replacement in (("get_code", code_of), ("get_data", data_of), ("get_source", source_of)):
        setattr(SourceFileLoader, name, replacement)


def load(target: Target, files: Iterable[str] = ()) -> ModuleType:
    """Import the module of a target afresh, by its name where that finds its file.

    files: those that `substitute` was told of. Raises CheckError with file, line, type and text for an error in the
    program.
    """
    forget(target, files)
    if target.search not in sys.path[:1]:
        sys.path.insert(0, target.search)
    importlib.invalidate_caches()
    try:
        return _import(target)
    except (Exception, SystemExit) as error:
        raise CheckError(_place_and_text(error, target.file)) from error


def text_of(path: str, given: Mapping[str, str]) -> str:
    """The text given for a file, else that on disk, empty where there is none. Raises CheckError."""
    if path in given:
        return given[path]
    try:
        with tokenize.open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeError, SyntaxError) as error:
        raise CheckError(f"{path}: cannot be read: {error}") from error


def load_object(name: str, search: str) -> object:
    """What "module:attribute" names, the module being found from the folder `search` or as Python finds it.

    Raises CheckError when the name has another form, the module cannot be imported or has no such attribute.
    """
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise CheckError(f"{name}: is not of the form module:name")
    if search not in sys.path:
        sys.path.insert(0, search)
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise CheckError(f"{name}: {_place_and_text(error, module)}") from error
    return attribute_of(loaded, attribute, name)


def attribute_of(module: ModuleType, dotted: str, name: str) -> object:
    """A dotted attribute. Raises CheckError, which names the file and what was asked for, when there is none."""
    value: object = module
    for part in dotted.split("."):
        if not hasattr(value, part):
            raise CheckError(f"{getattr(module, '__file__', None) or module.__name__}: has no {dotted} ({name})")
        value = getattr(value, part)
    return value


def forget(target: Target, files: Iterable[str] = ()) -> None:
    """Let the program's modules be imported anew: those of the files with their packages, and all in its folder.

    Raises CheckError for a file that belongs to a package which is in use here.
    """
    roots = {_root_of(path) for path in (target.file, *files)}
    for name, module in list(sys.modules.items()):
        root = name.partition(".")[0]
        if root == "__main__":
            continue
        own = root in roots and _lies_in(module, _folders(root, (target.file, *files)))
        if own and root in _NOT_OURS:
            raise CheckError(f"{target.file}: belongs to {root}, which runs the checks; it cannot be checked")
        if own or (root not in _NOT_OURS and _lies_in(module, {target.search}) and not _is_library(_file(module))):
            del sys.modules[name]


def _root_of(path: str) -> str:
    """The top-level name of the module that a file is: of its outermost package."""
    return _outermost(path).stem


def _outermost(path: str) -> Path:
    """The folder of the outermost package that a file lies in; the file when it lies in none."""
    place = Path(path)
    while (place.parent / "__init__.py").is_file():
        place = place.parent
    return place


def _folders(root: str, files: Iterable[str]) -> set[str]:
    return {str(_outermost(path).parent) for path in files if _root_of(path) == root}


def _file(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    places = [file] if isinstance(file, str) else list(getattr(module, "__path__", ()))
    return os.path.realpath(places[0]) if places and isinstance(places[0], str) else ""


def _lies_in(module: ModuleType, folders: Iterable[str]) -> bool:
    return any(_file(module).startswith(os.path.join(folder, "")) for folder in folders)


def _import(target: Target) -> ModuleType:
    if target.module not in sys.modules and _is_importable(target.module):
        spec = importlib.util.find_spec(target.module)
        if spec is not None and spec.origin is not None and os.path.realpath(spec.origin) == target.file:
            return importlib.import_module(target.module)
    return _import_file(target)


def _is_importable(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _import_file(target: Target) -> ModuleType:
    """Import a file that its name does not lead to: "my-model.py", or one that is called like another module."""
    name = target.module if target.module not in sys.modules else f"{target.module}_checked"
    loader = SourceFileLoader(name, target.file)
    spec: ModuleSpec | None = importlib.util.spec_from_file_location(name, target.file, loader=loader)
    if spec is None:
        raise CheckError(f"{target.file}: cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Dynamo looks up the globals of decorated functions by module name.
    loader.exec_module(module)
    return module


def _compiled(text: str, path: str) -> CodeType:
    code: CodeType = compile(text, path, "exec", dont_inherit=True)
    return code


def _show(path: str, text: str) -> None:
    """Let linecache, and so tracebacks and `inspect`, show the text: without a time it is never read from disk."""
    lines = io.StringIO(text, newline=None).readlines()
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[path] = (len(text), None, lines, path)


def _encoded(text: str) -> bytes:
    """The bytes of a file with this text, in the encoding that its first lines name."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(text.encode(errors="surrogatepass")).readline)
    return text.encode(encoding, errors="replace")


def _place_and_text(error: BaseException, file: str) -> str:
    """An exception as file:line: type: text; the place is the last one in the program's own code."""
    text = " ".join(str(error).split())
    kind = type(error).__name__
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno or 0}: {kind}: {error.msg}"
    if isinstance(error, CheckError):
        return text
    said = f"{kind}: {text}" if text else kind
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not _is_machinery(frame.filename)]
    own = [frame for frame in frames if not _is_library(frame.filename)]
    last = (own or frames)[-1:]
    return f"{last[0].filename}:{last[0].lineno}: {said}" if last else f"{file}: {said}"


def _is_machinery(filename: str) -> bool:
    return filename.startswith("<frozen") or filename == __file__ or f"{os.sep}importlib{os.sep}" in filename


def _is_library(filename: str) -> bool:
    parts = Path(filename).parts
    return "site-packages" in parts or "dist-packages" in parts or filename.startswith(os.path.dirname(os.__file__))
