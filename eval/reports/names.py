"""What the files of a report are called."""

AUDIT, PAGE = "audit.json", "report.html"
