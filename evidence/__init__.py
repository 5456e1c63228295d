"""What a run of a program showed: recording it, reading it back, and the overlay of rewritten files.

Two halves. The recording half runs inside the user's program and imports nothing but the standard library (torch
only after the program did): `bootstrap/`, `journal`, `imports`, `recorder`, `spans`, `entries`, `hits`, `describe`,
`candidates`, `observe`, `watch`, `overlay_hook`. The reading half runs in the gbfix command and never imports torch.
"""
