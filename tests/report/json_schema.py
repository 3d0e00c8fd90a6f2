"""Whether a value is what a JSON Schema describes."""

import json
from functools import cache

from jsonschema import Draft202012Validator


@cache
def validator(schema):
    """Of a schema, a text, that is checked once: this takes longer than most records."""
    schema = json.loads(schema)
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def is_valid(value, schema):
    """Whether a value is what a schema, of draft 2020-12, describes."""
    return validator(json.dumps(schema)).is_valid(value)
