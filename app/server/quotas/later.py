"""The refusal of a request that may be sent again as it is, a little later."""

from models.errors import LetheError


class TryLater(LetheError):
    """The server cannot answer now; in ``seconds`` it is worth another try."""

    def __init__(self, status: int, code: str, message: str, seconds: int) -> None:
        super().__init__(message)
        self.status, self.code, self.seconds = status, code, seconds
