"""What is Mistral's alone."""

import json

import pytest
from standin_llm import LlmServer, Reply

from docmind.types import Message

ASKED = [Message("user", "How long?")]


@pytest.fixture
def provider():
    return "mistral"


@pytest.mark.parametrize("on_text", [None, lambda _: None])
def test_a_model_that_will_end_still_answers_with_a_warning(connect, on_text, caplog):
    ending = Reply(headers={"x-model-deprecation-timestamp": "2027-01-31T00:00:00Z"})
    with LlmServer([ending]) as server:
        assert connect(server).complete(ASKED, on_text=on_text).text == "Five days."
    [warning] = caplog.messages
    assert "'mistral-small-2506' at 2027-01-31" in warning


def test_what_the_server_says_of_its_end_shows_no_key(connect, key, caplog):
    with LlmServer([Reply(headers={"x-model-deprecation-timestamp": f"soon, {key}"})]) as server:
        connect(server).complete(ASKED)
    [warning] = caplog.messages
    assert "at soon, [key]. Choose another." in warning


@pytest.mark.parametrize("ending", ["", "/v1"])
def test_the_address_may_end_in_v1_or_not(connect, ending):
    with LlmServer(["Yes."]) as server:
        connect(server.url.removesuffix("/v1") + ending).complete(ASKED)
    assert server.requests[0].path == "/v1/chat/completions"


def test_of_a_reasoning_model_only_the_answer_is_kept(connect):
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hmm."}]}
    content = [thought, {"type": "text", "text": "Five days."}]
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    whole = {"id": "x1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    with LlmServer([Reply(body=json.dumps(whole).encode())]) as server:
        assert connect(server).complete(ASKED).text == "Five days."
