"""A model hub on loopback with two tiny models that fastembed loads as if they were the real ones. It tests nothing.

Both models look their tokens up in one table of random vectors. The embedder gives each token its own vector plus the
mean of the text's; the cross-encoder gives the product of the question's mean and the passage's. So texts that share
words are near each other, and both can be computed again in two lines of numpy.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

DIM = 384  # what fastembed declares for the embedder
EMBEDDER = ("Qdrant/bge-small-en-v1.5-onnx-Q", "model_optimized.onnx")
RERANKER = ("Xenova/ms-marco-MiniLM-L-6-v2", "onnx/model.onnx")

_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
_WORDS = [
    "annual",
    "bike",
    "day",
    "days",
    "for",
    "is",
    "leave",
    "monthly",
    "of",
    "office",
    "paid",
    "pay",
    "sick",
    "the",
]
_CHARACTERS = [*string.ascii_lowercase, *string.digits, *string.punctuation]
_VOCABULARY = [*_SPECIAL, *_WORDS, *_CHARACTERS, *(f"##{c}" for c in string.ascii_lowercase + string.digits)]

TABLE = np.random.default_rng(0).normal(size=(len(_VOCABULARY), DIM)).astype(np.float32)


def wordpiece() -> Tokenizer:
    """The tokenizer of both models: a few words, and single letters for all others."""
    vocabulary = {token: number for number, token in enumerate(_VOCABULARY)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, vocabulary[token]) for token in ("[CLS]", "[SEP]")],
    )
    return tokenizer


def repositories() -> dict[str, dict[str, bytes]]:
    """The files of both models, by repository and path."""
    small = {
        "config.json": json.dumps({"model_type": "bert", "pad_token_id": 0}).encode(),
        "tokenizer.json": wordpiece().to_str().encode(),
        "tokenizer_config.json": json.dumps({"model_max_length": 512, "pad_token": "[PAD]"}).encode(),
        "special_tokens_map.json": json.dumps({"pad_token": "[PAD]", "unk_token": "[UNK]"}).encode(),
    }
    return {
        repository: {**small, file: model, "README.md": b"not asked for"}
        for (repository, file), model in [(EMBEDDER, _embedder()), (RERANKER, _cross_encoder())]
    }


def _mean(name: str, weights: str) -> list[onnx.NodeProto]:
    """Nodes that average `states` (batch, tokens, DIM) over the tokens that `weights` (batch, tokens) marks."""
    return [
        helper.make_node("Unsqueeze", [weights, "last_axis"], [f"{name}_weights"]),
        helper.make_node("Mul", ["states", f"{name}_weights"], [f"{name}_marked"]),
        helper.make_node("ReduceSum", [f"{name}_marked", "token_axis"], [f"{name}_sum"]),
        helper.make_node("ReduceSum", [f"{name}_weights", "token_axis"], [f"{name}_count"]),
        helper.make_node("Div", [f"{name}_sum", f"{name}_count"], [name]),
    ]


def _embedder() -> bytes:
    nodes = [*_mean("mean", "mask"), helper.make_node("Add", ["states", "mean"], ["last_hidden_state"])]
    return _model(nodes, "last_hidden_state", ["batch", "tokens", DIM])


def _cross_encoder() -> bytes:
    nodes = [
        helper.make_node("Cast", ["token_type_ids"], ["types"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["types", "mask"], ["second"]),
        helper.make_node("Sub", ["mask", "second"], ["first"]),
        *_mean("question", "first"),
        *_mean("passage", "second"),
        helper.make_node("Mul", ["question", "passage"], ["products"]),
        helper.make_node("ReduceSum", ["products", "last_axis"], ["logits"], keepdims=0),
    ]
    return _model(nodes, "logits", ["batch", 1])


def _model(nodes: list[onnx.NodeProto], output: str, shape: list[str | int]) -> bytes:
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    constants = [
        numpy_helper.from_array(TABLE, "table"),
        numpy_helper.from_array(np.array([1]), "token_axis"),
        numpy_helper.from_array(np.array([2]), "last_axis"),
    ]
    look_up = [
        helper.make_node("Gather", ["table", "input_ids"], ["states"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    graph = helper.make_graph([*look_up, *nodes], "tiny", inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()


class StandinHub:
    """Serves repositories over HTTP on loopback while it is entered. `requests` lists what was asked, in order.

    With `cut`, the body of a model file ends after a tenth of what the hub says it has.
    """

    def __init__(self, files: Mapping[str, Mapping[str, bytes]], *, cut: bool = False) -> None:
        self.files = files
        self.cut = cut
        self.requests: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def endpoint(self) -> str:
        """The value of HF_ENDPOINT."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> StandinHub:
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> tuple[bytes, dict[str, str]] | None:
        """Body and headers for the path of a request; None for what there is not."""
        for repository, files in self.files.items():
            revision = hashlib.sha1(repository.encode()).hexdigest()
            described = re.fullmatch(rf"/api/models/{repository}(/revision/main|/tree/{revision})?(\?.*)?", path)
            if described and "/tree/" in path:
                tree = [{"type": "file", "oid": _oid(b), "size": len(b), "path": p} for p, b in files.items()]
                return json.dumps(tree).encode(), {"Content-Type": "application/json"}
            if described:
                about = {"id": repository, "sha": revision}
                return json.dumps(about).encode(), {"Content-Type": "application/json"}
            file = path.removeprefix(f"/{repository}/resolve/{revision}/")
            if file in files:
                return files[file], {"ETag": f'"{_oid(files[file])}"', "X-Repo-Commit": revision}
        return None

    def _handler(hub) -> type[BaseHTTPRequestHandler]:  # noqa: N805, the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._reply(with_body=False)

            def do_GET(self) -> None:
                self._reply(with_body=True)

            def _reply(self, with_body: bool) -> None:
                hub.requests.append(f"{self.command} {self.path}")
                answer = hub.answer(self.path)
                if answer is None:
                    self.send_error(404)
                    return
                body, headers = answer
                if with_body and hub.cut and self.path.endswith(".onnx"):
                    body = body[: len(body) // 10]
                self.send_response(200)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if with_body:
                    self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Nothing on stderr."""

        return Handler


def _oid(body: bytes) -> str:
    return hashlib.sha1(body).hexdigest()
