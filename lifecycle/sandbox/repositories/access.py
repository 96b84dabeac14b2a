"""Who sees a repository, and with which token."""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import Token, User
from lifecycle.sandbox.repositories.state import Repository, World


def sees(token: Token, repo: Repository) -> bool:
    """Whether a repository is there at all for a token.

    A private one is for its people only; a classic token needs the scope `repo` for it, any other
    kind has to be made for it.
    Sources: https://docs.github.com/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps,
    https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#404-not-found-for-an-existing-resource
    """
    if not repo.is_private:
        return True
    if repo.role_of(token.user) is None:
        return False
    return "repo" in token.scopes if token.kind == "classic" else covers(token, repo)


def covers(token: Token, repo: Repository) -> bool:
    """Whether a token of permissions was made for a repository; a classic one is for all."""
    return not token.repositories or repo.key in token.repositories


def repository(world: World, token: Token, full_name: str) -> Repository | None:
    """The repository of a name, also a former one, or None for who may not see it."""
    found = world.repository(full_name) or world.renamed.get(full_name.lower())
    return found if found is not None and sees(token, found) else None


def affiliations(repo: Repository, person: User) -> set[str]:
    """What somebody is to a repository: `owner`, `collaborator`, `organization_member`."""
    found = {
        "owner": repo.owner is person,
        "collaborator": person.login.lower() in repo.roles,
        "organization_member": person in repo.owner.members,
    }
    return {name for name, holds in found.items() if holds}
