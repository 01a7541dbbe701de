# coding: ascii
# HEADER
from __future__ import annotations

import unittest

import signature


class SignatureTest(unittest.TestCase):
    def check(self, title: str, signed: str, expected: str) -> None:
        with self.subTest(title):
            self.assertEqual(signed, expected)

    # REQUESTS
    def check_request(
        self, title: str, sent: tuple[str, str, str | None], *expected: object
    ) -> None:
        with self.subTest(title):
            self.assertEqual(sent, expected)

    # END REQUESTS
    def test_signatures(self) -> None:
        # CASES
        self.check(
            "plain",
            signature.sign("GET", "/", [("a", "1")], None, "key"),
            "033225d7ad9c4ca917bad4f75f322790",
        )
        # END


if __name__ == "__main__":
    unittest.main()
