"""schema_errors.py SCHEMA: for each line of stdin, a JSON document, `valid` or how it breaks the schema."""

import json
import sys

import jsonschema

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
for line in sys.stdin:
    error = next(validator.iter_errors(json.loads(line)), None)
    print("valid" if error is None else f"invalid: {error.json_path}: {error.message[:200]}")
