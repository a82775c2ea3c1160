"""The form of a row of PROVIDERS: where a language model is hosted, and what is known of it. It names no provider."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from docmind.errors import LanguageModelError
from docmind.extras import need
from docmind.llm.account import Account, account, is_set
from docmind.protocols import LLM


@dataclass(frozen=True, slots=True)
class Provider:
    """Who hosts language models. Calling it with the name of one, or None for the default, makes that model.

    `home` is its own address, `client` what speaks its protocol. `key_at_home` and `key_elsewhere` say whether a key is
    needed at `home`, and at another address that speaks the same protocol; one that is set is sent either way. `model`
    answers where none is named, `judge` judges: one that is larger; None where one must be named. `prices` are US dollars
    for a million tokens in, and for a million out, by model.
    """

    name: str
    home: str
    client: Callable[[Account, str], LLM]
    model: str
    judge: str | None = None
    key_at_home: bool = True
    key_elsewhere: bool = True
    prices: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def key_variable(self) -> str:
        """The variable that holds the key."""
        return f"{self.name.upper()}_API_KEY"

    @property
    def address_variable(self) -> str:
        """The variable that holds the address, where that is not `home`."""
        return f"{self.name.upper()}_BASE_URL"

    @property
    def account(self) -> Account:
        """Address and key as they are set now. Raises LanguageModelError as `account` does."""
        return account(
            self.name,
            self.home,
            (self.key_variable, self.address_variable),
            key_at_home=self.key_at_home,
            key_elsewhere=self.key_elsewhere,
        )

    @property
    def usable(self) -> bool:
        """Whether it could be asked: a key is set, or an address where none is needed. No server is tried."""
        try:
            reached = self.account
        except LanguageModelError:
            return False
        return reached.key is not None or is_set(self.address_variable)

    def __call__(self, model: str | None = None) -> LLM:
        """The model of that name. Reads key and address, and raises LanguageModelError where one is missing or cannot be
        used, MissingPackageError where the extra `llm` is not installed; nothing is sent yet."""
        need("llm", f"The provider {self.name}")
        return self.client(self.account, model or self.model)
