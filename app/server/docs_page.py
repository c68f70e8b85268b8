"""The routes as one self-contained page."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from eval.reports.render import style

HEADERS = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'"}
"""The browser, too, may load nothing else."""

_STYLE = "th, td { text-align: left; } pre { white-space: pre-wrap; } section { scroll-margin-top: 1rem; }"
_REF = "#/components/schemas/"
_EXAMPLE = """curl -s http://127.0.0.1:8000/v1/chat/completions -H 'content-type: application/json' \\
  -d '{"messages": [{"role": "user", "content": "What is broken at the mill?"}]}'"""


def docs_page(description: Mapping[str, Any]) -> str:
    """The whole page, as HTML, of an OpenAPI description."""
    info = description["info"]
    routes = "".join(
        _route(method.upper(), path, route)
        for path, methods in description["paths"].items()
        for method, route in methods.items()
    )
    schemas = "".join(_schema(name, schema) for name, schema in description["components"]["schemas"].items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])}: routes</title><style>{style()}{_STYLE}</style></head><body><main>"
        f"<header><h1>{escape(info['title'])} {escape(info['version'])}</h1>"
        '<p class="lead">OpenAI clients take this server\'s address with /v1 as their base URL. The same as '
        'JSON: <a href="/openapi.json">/openapi.json</a>.</p></header>'
        f'<div class="panel"><pre>{escape(_EXAMPLE)}</pre></div>'
        f"<h2>Routes</h2>{_table(('route', 'what it gives', 'body', 'answer'), routes)}"
        f"<h2>Bodies and answers</h2>{schemas}</main></body></html>\n"
    )


def _route(method: str, path: str, route: Mapping[str, Any]) -> str:
    asked = _content(route.get("requestBody", {}))
    (answer,) = (answer for status, answer in route["responses"].items() if status.startswith("20"))
    answered = _content(answer)
    return _row(f"{method} {path}", escape(route.get("description", route["summary"])), asked, answered)


def _content(body: Mapping[str, Any]) -> str:
    forms = {"multipart/form-data": "form: ", "application/json": ""}
    kinds = [(said, body.get("content", {}).get(kind)) for kind, said in forms.items()]
    return "; or ".join(f"{said}{_type(each['schema'])}" for said, each in kinds if each)


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    required: Sequence[str] = schema.get("required", ())
    rows = "".join(
        _row(field, _type(each), _default(field in required, each), escape(each.get("description", "")))
        for field, each in schema.get("properties", {}).items()
    )
    heading = f"<h3>{escape(name)}</h3><p>{escape(schema.get('description', ''))}</p>"
    table = _table(("field", "type", "default", ""), rows)
    return f'<section id="{escape(name)}">{heading}{table}</section>'


def _default(required: bool, field: Mapping[str, Any]) -> str:
    return "required" if required else escape(str(field.get("default", "")))


def _type(schema: Mapping[str, Any]) -> str:
    """The type of a field, in words."""
    if "$ref" in schema:
        name = escape(schema["$ref"].removeprefix(_REF))
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return ", ".join(escape(str(each)) for each in schema.get("enum", [schema.get("const")]))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if schema.get("properties"):
        return ", ".join(f"<code>{escape(name)}</code>" for name in schema["properties"])
    return escape(" ".join([str(schema.get("type", "anything")), *_bounds(schema)]))


def _bounds(schema: Mapping[str, Any]) -> Iterator[str]:
    words = {"minimum": "from", "maximum": "to", "minLength": "of at least", "maxLength": "of at most"}
    for name, word in words.items():
        if name in schema:
            yield f"{word} {schema[name]}{' characters' if 'Length' in name else ''}"


def _row(head: str, *cells: str) -> str:
    return f"<tr><th><code>{escape(head)}</code></th>{''.join(f'<td>{each}</td>' for each in cells)}</tr>"


def _table(heads: Sequence[str], rows: str) -> str:
    cells = "".join(f"<th>{each}</th>" for each in heads)
    return f'<div class="panel"><table><thead><tr>{cells}</tr></thead><tbody>{rows}</tbody></table></div>'
