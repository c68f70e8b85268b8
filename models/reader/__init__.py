"""The reader: a small cased model of many languages that finds, joins and judges what tells of a person."""
