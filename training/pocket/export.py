"""Writes a checkpoint as a GGUF file for llama.cpp.

  python3 export.py CHECKPOINT FILE [q8_0|f16|f32]
"""
import sys
from pathlib import Path

import torch

import gguf
from model import Shape

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    checkpoint = torch.load(sys.argv[1], map_location="cpu")
    vocabulary = gguf.vocabulary_file(Path(__file__).with_name("tokenizer.json"))
    size = gguf.write(sys.argv[2], checkpoint["state"], Shape(**checkpoint["shape"]), vocabulary, *sys.argv[3:4])
    print(f"{sys.argv[2]}: {size} bytes")
