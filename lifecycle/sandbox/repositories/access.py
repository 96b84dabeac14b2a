"""Whether a token can see a repository."""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import Token, User
from lifecycle.sandbox.repositories.state import Repository, World


def sees(token: Token, repo: Repository) -> bool:
    """Whether a token can see a repository.

    Only users with a role in a private one can see it; a classic token also needs the scope `repo`, and any
    other token has to include the repository.
    Sources: https://docs.github.com/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps,
    https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api#404-not-found-for-an-existing-resource
    """
    if not repo.is_private:
        return True
    if repo.role_of(token.user) is None:
        return False
    return "repo" in token.scopes if token.kind == "classic" else covers(token, repo)


def covers(token: Token, repo: Repository) -> bool:
    """Whether a token's list of repositories includes this one; a token without a list has all."""
    return not token.repositories or repo.key in token.repositories


def repository(world: World, token: Token, full_name: str) -> Repository | None:
    """The repository of a present or former name; None if the token cannot see it."""
    repo = world.repository(full_name) or world.renamed.get(full_name.lower())
    return repo if repo is not None and sees(token, repo) else None


def affiliations(repo: Repository, person: User) -> set[str]:
    """A user's relations to a repository: `owner`, `collaborator`, `organization_member`."""
    relations = {
        "owner": repo.owner is person,
        "collaborator": person.login.lower() in repo.roles,
        "organization_member": person in repo.owner.members,
    }
    return {name for name, holds in relations.items() if holds}
