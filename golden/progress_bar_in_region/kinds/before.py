import torch
from tqdm import trange
from tqdm.auto import tqdm as bar


@torch.compile
def f(x):
    for i in bar(range(3), desc="layers"):
        x = x + i
    for i in trange(2):
        x = x * i
    return x
