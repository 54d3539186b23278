"""GGUF files of the model: written for llama.cpp, and read again to train on.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""
import json
import struct

import numpy as np
import torch

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
TYPE_F32, TYPE_F16, TYPE_Q8_0 = 0, 1, 8
FILE_TYPES = {"f32": 0, "f16": 1, "q8_0": 7}
ALIGNMENT = 32
#: ChatML with the call syntax of Hermes and Qwen. The tools are in the weights, so tool lists and system messages are left out.
CHAT_TEMPLATE = """{%- for message in messages -%}
{%- if message.role == 'user' -%}
{{- '<|im_start|>user\\n' + message.content + '<|im_end|>\\n' -}}
{%- elif message.role == 'tool' -%}
{{- '<|im_start|>user\\n<tool_response>\\n' + message.content + '\\n</tool_response><|im_end|>\\n' -}}
{%- elif message.role == 'assistant' -%}
{{- '<|im_start|>assistant\\n' -}}
{%- if message.tool_calls -%}
{%- for call in message.tool_calls -%}
{{- '<tool_call>\\n{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + '}\\n</tool_call>' -}}
{%- endfor -%}
{%- else -%}
{{- message.content -}}
{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"""


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def metadata(shape, vocabulary, kind):
    """Keys and values in order: (key, type, packed value)."""
    tokens = vocabulary["tokens"]
    end = tokens.index("<|im_end|>")

    def array(element, packed):
        return struct.pack("<IQ", element, len(tokens)) + packed

    def number(key, value):
        return key, U32, struct.pack("<I", value)

    head = shape.width // shape.heads
    return [
        ("general.architecture", STRING, text("llama")), ("general.name", STRING, text("toolwright-pocket")),
        number("general.file_type", FILE_TYPES[kind]), number("general.alignment", ALIGNMENT),
        number("llama.context_length", shape.context), number("llama.embedding_length", shape.width), number("llama.block_count", shape.layers),
        number("llama.feed_forward_length", shape.hidden), number("llama.attention.head_count", shape.heads),
        number("llama.attention.head_count_kv", shape.heads), ("llama.attention.layer_norm_rms_epsilon", F32, struct.pack("<f", 1e-5)),
        number("llama.rope.dimension_count", head), ("llama.rope.freq_base", F32, struct.pack("<f", shape.rope_base)),
        number("llama.vocab_size", shape.vocabulary),
        ("tokenizer.ggml.model", STRING, text("llama")), ("tokenizer.ggml.pre", STRING, text("default")),
        ("tokenizer.ggml.tokens", ARRAY, array(STRING, b"".join(map(text, tokens)))),
        ("tokenizer.ggml.scores", ARRAY, array(F32, struct.pack(f"<{len(tokens)}f", *vocabulary["scores"]))),
        ("tokenizer.ggml.token_type", ARRAY, array(I32, struct.pack(f"<{len(tokens)}i", *vocabulary["types"]))),
        number("tokenizer.ggml.bos_token_id", 1), number("tokenizer.ggml.eos_token_id", end), number("tokenizer.ggml.eot_token_id", end),
        number("tokenizer.ggml.unknown_token_id", 0),
        *[(f"tokenizer.ggml.{key}", BOOL, b"\0") for key in ("add_bos_token", "add_eos_token", "add_space_prefix")],
        ("tokenizer.chat_template", STRING, text(CHAT_TEMPLATE)),
    ]


def tensors(state, shape):
    """llama.cpp's names and values. Queries and keys change from halves to pairs, as its rotary positions want them."""

    def paired(rows):
        head = shape.width // shape.heads
        return rows.reshape(shape.heads, 2, head // 2, shape.width).swapaxes(1, 2).reshape(shape.width, shape.width)

    values = {name: value.float().numpy() for name, value in state.items()}
    out = [("token_embd.weight", values["embedding"])]
    for layer in range(shape.layers):
        own = {name.rsplit(".", 1)[1]: value for name, value in values.items() if name.startswith(f"blocks.{layer}.")}
        query, key, value = np.split(own["qkv"], 3)
        gate, up = np.split(own["gate_up"], 2)
        for name, tensor in [
            ("attn_norm", own["norm1"]), ("attn_q", paired(query)), ("attn_k", paired(key)), ("attn_v", value), ("attn_output", own["out"]),
            ("ffn_norm", own["norm2"]), ("ffn_gate", gate), ("ffn_up", up), ("ffn_down", own["down"]),
        ]:
            out.append((f"blk.{layer}.{name}.weight", tensor))
    return [*out, ("output_norm.weight", values["norm"])]


def packed(values, kind):
    if values.ndim == 1 or kind == "f32":
        return TYPE_F32, np.ascontiguousarray(values, np.float32).tobytes()
    if kind == "f16":
        return TYPE_F16, values.astype(np.float16).tobytes()
    groups = np.ascontiguousarray(values, np.float32).reshape(-1, 32)
    scale = (np.abs(groups).max(1) / 127).astype(np.float16)
    divisor = scale.astype(np.float32)
    divisor[divisor == 0] = 1
    whole = np.clip(np.rint(groups / divisor[:, None]), -127, 127).astype(np.int8)
    return TYPE_Q8_0, np.concatenate([scale.view(np.uint8).reshape(-1, 2), whole.view(np.uint8)], 1).tobytes()


def write(path, state, shape, vocabulary, kind="q8_0"):
    """-> size of the file in bytes"""
    pairs = metadata(shape, vocabulary, kind)
    named = tensors(state, shape)
    info, data = b"", b""
    for name, values in named:
        number, raw = packed(values, kind)
        sizes = b"".join(struct.pack("<Q", size) for size in values.shape[::-1])
        info += text(name) + struct.pack("<I", values.ndim) + sizes + struct.pack("<IQ", number, len(data))
        data += raw + b"\0" * (-len(raw) % ALIGNMENT)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(named), len(pairs))
    head += b"".join(text(key) + struct.pack("<I", number) + value for key, number, value in pairs) + info
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % ALIGNMENT) + data)
    return len(head) + -len(head) % ALIGNMENT + len(data)


class Reader:
    def __init__(self, raw):
        self.raw, self.at = raw, 0

    def take(self, form):
        (value,) = struct.unpack_from("<" + form, self.raw, self.at)
        self.at += struct.calcsize("<" + form)
        return value

    def text(self):
        size = self.take("Q")
        self.at += size
        return self.raw[self.at - size : self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            element, count = self.take("I"), self.take("Q")
            return [self.value(element) for _ in range(count)]
        return self.take({U32: "I", F32: "f", BOOL: "?", I32: "i"}[kind])


def read(path):
    """-> (state of the model as PyTorch names it, sizes by llama.cpp's keys); from files that `write` has made"""
    with open(path, "rb") as file:
        raw = file.read()
    if raw[:4] != b"GGUF":
        raise ValueError(f"{path} is no GGUF file")
    reader = Reader(raw)
    reader.at = 8
    tensor_count, pair_count = reader.take("Q"), reader.take("Q")
    keys = {}
    for _ in range(pair_count):
        key = reader.text()
        keys[key] = reader.value(reader.take("I"))
    entries = []
    for _ in range(tensor_count):
        name = reader.text()
        sizes = [reader.take("Q") for _ in range(reader.take("I"))]
        entries.append((name, sizes[::-1], reader.take("I"), reader.take("Q")))
    start = reader.at + -reader.at % ALIGNMENT
    values = {name: unpacked(raw, start + offset, sizes, kind) for name, sizes, kind, offset in entries}
    return state_of(values, keys), keys


def unpacked(raw, at, sizes, kind):
    count = int(np.prod(sizes))
    if kind == TYPE_F32:
        return np.frombuffer(raw, np.float32, count, at).reshape(sizes)
    if kind == TYPE_F16:
        return np.frombuffer(raw, np.float16, count, at).astype(np.float32).reshape(sizes)
    groups = np.frombuffer(raw, np.uint8, count // 32 * 34, at).reshape(-1, 34)
    scale = groups[:, :2].copy().view(np.float16).astype(np.float32)
    return (groups[:, 2:].copy().view(np.int8).astype(np.float32) * scale).reshape(sizes)


def state_of(values, keys):
    heads, width = keys["llama.attention.head_count"], keys["llama.embedding_length"]

    def halved(rows):
        return rows.reshape(heads, width // heads // 2, 2, width).swapaxes(1, 2).reshape(width, width)

    state = {"embedding": values["token_embd.weight"], "norm": values["output_norm.weight"]}
    for layer in range(keys["llama.block_count"]):
        own = {name: values[f"blk.{layer}.{name}.weight"] for name in (
            "attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"
        )}
        state |= {f"blocks.{layer}.{name}": value for name, value in {
            "norm1": own["attn_norm"], "norm2": own["ffn_norm"], "out": own["attn_output"], "down": own["ffn_down"],
            "qkv": np.concatenate([halved(own["attn_q"]), halved(own["attn_k"]), own["attn_v"]]),
            "gate_up": np.concatenate([own["ffn_gate"], own["ffn_up"]]),
        }.items()}
    return {name: torch.from_numpy(np.ascontiguousarray(value, np.float32).copy()) for name, value in state.items()}


def vocabulary_file(path):
    with open(path) as file:
        return json.load(file)
