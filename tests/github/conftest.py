"""A clock that stands still, and clients on a sandbox or for made-up answers."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from lifecycle.core.timing import Deadline
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import RestClient
from lifecycle.sandbox.server import Sandbox
from tests.github.hub import TOKEN, Hub, PatientClock, sending
from tests.github.made_up import answering


@pytest.fixture
def clock() -> PatientClock:
    """Time stands still until somebody sleeps."""
    return PatientClock()


@pytest.fixture
def deadline(clock: PatientClock) -> Deadline:
    """Half a minute."""
    return Deadline.after(clock, 30)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 and github.example that nobody knows, and a server's context with it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "made up")])
    names = [
        x509.DNSName("github.example"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, content_commitment=False,
                                     key_encipherment=False, data_encipherment=False,
                                     key_agreement=False, key_cert_sign=True, crl_sign=True,
                                     encipher_only=False, decipher_only=False), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("authority")
    public, private = folder / "public.pem", folder / "private.pem"
    public.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return public, context


@pytest.fixture
def hub(deadline: Deadline) -> Iterator[Hub]:
    """A fresh sandbox and all adapters on it."""
    with Sandbox() as sandbox:
        found = Hub(sandbox.info, deadline)
        found.control.clear_requests()
        yield found
        found.graph.close()
        found.rest.close()


STRANGE: list[str] = []
"""What was asked of the made-up GitHub, and had no answer."""


@pytest.fixture
def by_library(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """The libraries' lines that send, none as for hooks; several modules try both."""
    lines: tuple[str, ...] = getattr(request, "param", ())
    return lines


@pytest.fixture(scope="session")
def made_up() -> Iterator[str]:
    """Where what is made up with `responses` is answered over a real connection."""
    with answering(STRANGE) as url:
        yield url


@pytest.fixture
def api(request: pytest.FixtureRequest, by_library: tuple[str, ...]) -> Iterator[str]:
    """The address of a GitHub whose answers are made up with `responses`; whoever asks asks for those."""
    STRANGE.clear()
    yield "https://api.github.com" if by_library else str(request.getfixturevalue("made_up"))
    assert STRANGE == []


@pytest.fixture
def graph(api: str, by_library: tuple[str, ...], deadline: Deadline) -> Iterator[GraphClient]:
    """GraphQL of a GitHub whose answers are made up."""
    client = GraphClient(f"{api}/graphql", sending(TOKEN, deadline, by_library=by_library))
    yield client
    client.close()


@pytest.fixture
def rest(api: str, by_library: tuple[str, ...], deadline: Deadline) -> Iterator[RestClient]:
    """REST of a GitHub whose answers are made up."""
    client = RestClient(api, sending(TOKEN, deadline, by_library=by_library))
    yield client
    client.close()
