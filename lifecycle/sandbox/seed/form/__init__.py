"""The form of a seed: its keys, their types and their defaults.

By hand one writes little: names and numbers. A dump writes the rest as well (ids, times), so that
the world made of it is the one that was dumped. People are named by login, repositories by
`owner/name`, issues of another repository by `owner/name#number`.
"""

from lifecycle.sandbox.seed.form.boards import (
    SeedDraft,
    SeedField,
    SeedItem,
    SeedIteration,
    SeedMark,
    SeedOption,
    SeedProject,
)
from lifecycle.sandbox.seed.form.checks import (
    SeedCheckRun,
    SeedStatus,
    SeedSuite,
    SeedWorkflow,
    SeedWorkflowRun,
)
from lifecycle.sandbox.seed.form.issues import (
    SeedComment,
    SeedEvent,
    SeedIssue,
    SeedLabel,
    SeedMilestone,
)
from lifecycle.sandbox.seed.form.people import (
    Form,
    SeedApp,
    SeedInstallation,
    SeedOrganization,
    SeedToken,
    SeedUser,
)
from lifecycle.sandbox.seed.form.pulls import (
    SeedAutoMerge,
    SeedPull,
    SeedQueueEntry,
    SeedReview,
    SeedReviewComment,
    SeedThread,
)
from lifecycle.sandbox.seed.form.repositories import (
    SeedBranch,
    SeedCommit,
    SeedProtection,
    SeedRef,
    SeedRepository,
)
from lifecycle.sandbox.seed.form.whole import Seed, SeedFault

__all__ = [
    "Form",
    "Seed",
    "SeedApp",
    "SeedAutoMerge",
    "SeedBranch",
    "SeedCheckRun",
    "SeedComment",
    "SeedCommit",
    "SeedDraft",
    "SeedEvent",
    "SeedFault",
    "SeedField",
    "SeedInstallation",
    "SeedIssue",
    "SeedItem",
    "SeedIteration",
    "SeedLabel",
    "SeedMark",
    "SeedMilestone",
    "SeedOption",
    "SeedOrganization",
    "SeedProject",
    "SeedProtection",
    "SeedPull",
    "SeedQueueEntry",
    "SeedRef",
    "SeedRepository",
    "SeedReview",
    "SeedReviewComment",
    "SeedStatus",
    "SeedSuite",
    "SeedThread",
    "SeedToken",
    "SeedUser",
    "SeedWorkflow",
    "SeedWorkflowRun",
]
