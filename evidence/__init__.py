"""What a run of a program showed: recording it, reading it back, and the overlay of rewritten files.

The recording half runs inside the user's program. It imports nothing but the standard library, and torch only after the
program did. The reading half runs in the gbfix command and never imports torch; `fake` and `capability_run` do, when a
rule asks.

Recording: `bootstrap/` (the way in), `recorder` (what is set up), `imports`, `ending` (when), `journal` (the notes)
    trace records: `trace_records`, `spans`
    entries and hits: `entries`, `compiled`, `hits`, `saved_modules`
    values: `observe`, `watch`, `starts`, `sources`, `candidates`, `facts`, `describe`, `frame_values`, `lookup`
    the overlay: `overlay_hook`, `overlay_script`, `overlay_files`
Reading: `reader` (from notes to `model`), `store`, `hashes`, `launch` (starts the program)
    sources: `torch_trace`, `torch_logs`, `cut_off`, `records`
    rows: `breaks`, `messages`, `recompiles`, `guards`, `fragments`, `entered` (entries), `observed` (observations),
    `problems`, `places`
    costs: `steady` (of fragments), `cost` (the order of the report)
    explanations: `registry`, `recompile_kinds`
    for `gbfix apply`: `fake` (operations without data), `overlay`, `copies`, `capabilities` (what the installed torch
    captures; it runs `capability_run` in a process)
Both: `stack`, `journal`, `trace_records` (which records there are)
"""
