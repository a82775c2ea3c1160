"""Where a provider is reached and with which key: from the environment, else from `.env`. It connects to nothing."""

from __future__ import annotations

import os
from dataclasses import dataclass

from dotenv import dotenv_values
from pydantic import SecretStr

from docmind.errors import LanguageModelError

NO_KEY_HAS = " \"'`\\"
"""What a key is refused for: the error of httpx would quote it, or a server would answer it in another spelling."""


@dataclass(frozen=True, slots=True)
class Account:
    """A provider's address, such as "https://api.openai.com/v1", and a key for it, which no repr shows.

    `elsewhere` is the host and port where the provider's protocol is spoken by another server, and "" for its own.
    """

    provider: str
    address: str
    elsewhere: str
    key: SecretStr | None

    @property
    def secret(self) -> str | None:
        """The key itself, for the header it is sent in."""
        return self.key.get_secret_value() if self.key else None

    @property
    def key_variable(self) -> str:
        """The variable that holds the key."""
        return f"{self.provider.upper()}_API_KEY"

    @property
    def address_variable(self) -> str:
        """The variable that holds the address."""
        return f"{self.provider.upper()}_BASE_URL"


def account(provider: str, home: str, *, keyless_elsewhere: bool = False) -> Account:
    """The account at `home`, or at the address in PROVIDER_BASE_URL, with the key in PROVIDER_API_KEY.

    With `keyless_elsewhere`, a server at another address needs no key. Raises LanguageModelError where a key is
    missing, or where key or address cannot be used; neither is quoted, since both may hold a secret.
    """
    prefix = provider.upper()
    key = _read(f"{prefix}_API_KEY")
    address = (_read(f"{prefix}_BASE_URL") or home).rstrip("/")
    elsewhere = "" if address == home else _host(address, prefix)
    if not key and not (elsewhere and keyless_elsewhere):
        own = f" A server of your own (Ollama, vLLM) needs {prefix}_BASE_URL and no key." if keyless_elsewhere else ""
        raise LanguageModelError(
            f"{prefix}_API_KEY is not set, and {provider} needs a key. Set it in the environment or in .env, as "
            f".env.example shows.{own} The extractive answers need none."
        )
    if key and not (key.isascii() and key.isprintable() and set(key).isdisjoint(NO_KEY_HAS)):
        raise LanguageModelError(
            f"{prefix}_API_KEY holds a blank, a quotation mark or a character that no key has. Copy the key again, and "
            "write it without quotation marks."
        )
    return Account(provider, address, elsewhere, SecretStr(key) if key else None)


def _read(name: str) -> str | None:
    """The value of a variable, without the white space around it; None where it is missing or blank."""
    value = os.environ.get(name)
    if value is None:
        try:
            value = dotenv_values(".env", interpolate=False).get(name)
        except (OSError, UnicodeDecodeError) as error:
            why = type(error).__name__
            raise LanguageModelError(f".env cannot be read ({why}). Save it as UTF-8 text, or remove it.") from None
    return (value or "").strip() or None


def _host(address: str, prefix: str) -> str:
    """Host and port of `address`, which may hold no user, password, query or fragment: logs show addresses."""
    import httpx

    try:
        url = httpx.URL(address)
        usable = url.scheme in {"http", "https"} and url.host and not (url.userinfo or url.query or url.fragment)
        url.raw_host.decode("ascii").encode("idna")  # as Python looks a name up; only then would it fail
    except (httpx.InvalidURL, UnicodeError):
        usable = False
    if not usable:
        raise LanguageModelError(
            f"{prefix}_BASE_URL is no address of the form https://host/v1 without quotation marks, a user, a password or "
            f"a query. Mend it; a key belongs in {prefix}_API_KEY."
        )
    return url.netloc.decode("ascii")
