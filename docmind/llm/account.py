"""Where a provider is reached and with which key: from the environment, else from `.env`. It connects to nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dotenv import dotenv_values
from pydantic import SecretStr

from docmind.errors import LanguageModelError
from docmind.llm.concealing import LONG

ENVIRONMENT, FILE = "the environment", ".env"
NO_KEY_HAS = " \"'`\\"
"""What a key is refused for: the error of httpx would quote it, or a server would answer it in another spelling."""


@dataclass(frozen=True, slots=True)
class Account:
    """A provider's address, such as "https://api.openai.com/v1", and a key for it, which no repr shows.

    `elsewhere` is the host and port where the provider's protocol is spoken by another server, and "" for its own.
    `key_variable` and `address_variable` are where key and address can be set.
    """

    provider: str
    address: str
    elsewhere: str
    key: SecretStr | None
    key_variable: str
    address_variable: str

    @property
    def secret(self) -> str | None:
        """The key itself, for the header it is sent in."""
        return self.key.get_secret_value() if self.key else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What is never shown: the key, and long parts of the path of another server, which may be one too."""
        parts = self.address.split("/")[3:] if self.elsewhere else []
        return (*filter(None, [self.secret]), *(part for part in parts if len(part) >= LONG))

    @property
    def unmistakable(self) -> tuple[str, ...]:
        """Those that stand in no answer by chance."""
        return tuple(secret for secret in self.secrets if len(secret) >= LONG)

    @property
    def place(self) -> str:
        """The address as it is shown: without its path."""
        return "/".join(self.address.split("/")[:3])


def account(provider: str, home: str, variables: tuple[str, str], *, key_at_home: bool, key_elsewhere: bool) -> Account:
    """The account at `home`, or at the address that is set, with the key that is set; `variables` hold key and address.

    `key_at_home` and `key_elsewhere` say whether a key is needed there. Raises LanguageModelError where it is missing, or
    where key or address cannot be used; neither is quoted, since both may hold a secret. So it does where the key is from the
    environment and an address from `.env`, which is read from the current folder, whoever made that.
    """
    key_variable, address_variable = variables
    key, key_from = _read(key_variable)
    there, address_from = _read(address_variable)
    address = (there or home).rstrip("/")
    elsewhere = "" if address == home else _host(address, variables)
    if key and elsewhere and (key_from, address_from) == (ENVIRONMENT, FILE):
        raise LanguageModelError(
            f"{address_variable} in {FILE} would send the key of {ENVIRONMENT}, {key_variable}, to {elsewhere}: whoever wrote "
            f"that file would get it. If that is what you want, set {address_variable} in {ENVIRONMENT} too; else remove it "
            f"from {FILE}."
        )
    if not key and (key_elsewhere if elsewhere else key_at_home):
        own = "" if key_elsewhere else f" A server of your own (Ollama, vLLM) needs {address_variable} and no key."
        raise LanguageModelError(
            f"{key_variable} is not set, and {provider} needs a key. Set it in the environment or in .env, as "
            f".env.example shows.{own} The extractive answers need none."
        )
    if key and not (key.isascii() and key.isprintable() and set(key).isdisjoint(NO_KEY_HAS)):
        raise LanguageModelError(
            f"{key_variable} holds a blank, a quotation mark or a character that no key has. Copy the key again, and "
            "write it without quotation marks."
        )
    return Account(provider, address, elsewhere, SecretStr(key) if key else None, key_variable, address_variable)


def is_set(variable: str) -> bool:
    """Whether `variable` holds more than blanks."""
    return _read(variable)[0] is not None


def _read(name: str) -> tuple[str | None, str]:
    """The value of a variable, without the white space around it, and where it is from; None where it is missing or blank."""
    value, origin = os.environ.get(name), ENVIRONMENT
    if value is None:
        try:
            value, origin = dotenv_values(FILE, interpolate=False).get(name), FILE
        except (OSError, UnicodeDecodeError) as error:
            why = type(error).__name__
            raise LanguageModelError(f".env cannot be read ({why}). Save it as UTF-8 text, or remove it.") from None
    return (value or "").strip() or None, origin


def _host(address: str, variables: tuple[str, str]) -> str:
    """Host and port of `address`, which may hold no user, password, query or fragment: logs show addresses."""
    import httpx

    try:
        url = httpx.URL(address)
        usable = url.scheme in {"http", "https"} and url.host and not (url.userinfo or url.query or url.fragment)
        url.raw_host.decode("ascii").encode("idna")  # as Python looks a name up; only then would it fail
    except (httpx.InvalidURL, UnicodeError):
        usable = False
    if not usable:
        key_variable, address_variable = variables
        raise LanguageModelError(
            f"{address_variable} is no address of the form https://host/v1 without quotation marks, a user, a password or "
            f"a query. Mend it; a key belongs in {key_variable}."
        )
    return url.netloc.decode("ascii")
