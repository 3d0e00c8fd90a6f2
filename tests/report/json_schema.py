"""Whether a value is what a JSON Schema describes."""

from jsonschema import Draft202012Validator


def is_valid(value, schema):
    """Whether a value is what a schema, of draft 2020-12, describes."""
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(value)
