"""The GraphQL half: documents run on a part of GitHub's schema, one file a subject."""
