"""The error for problems that people can fix."""


class StoreError(Exception):
    """What is wrong, and in `hint` what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} {hint}".rstrip())
        self.message = message
        self.hint = hint
