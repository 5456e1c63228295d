import torch

ENTRY = "f"


def inputs():
    rows = [[100], [44], [250]]
    return [(torch.tensor(row, dtype=dtype),) for row in rows for dtype in (torch.uint8, torch.int64, torch.float16)] + [
        (torch.tensor([301.5]),)
    ]
