"""Operations that may be repeated: each reads, compares, and writes only the difference.

There is one file for each subject. The first line of an operation's docstring says what is true after it,
and each docstring says how many requests are made. The operations use the calls of `lifecycle/github/`, and
raise only Refused, Transient and Rejected.
"""
