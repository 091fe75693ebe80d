/**
 * The API as one readable page: no scripts, nothing loaded from elsewhere.
 */

import { operations } from '../operations.ts';
import { errors } from '../schema/errors.ts';
import type { Operation } from '../schema/operation.ts';
import { apiBase } from '../schema/operation.ts';
import {
  type DescribedField,
  fieldsOf,
  type JsonSchema,
  jsonSchemaOf,
  limitsText,
  pathSchemaOf,
  referredShape,
  shapesIn,
  typeText,
} from './describe-schema.ts';
import { pageStyle } from './reference-style.ts';
import { requestExample } from './request-example.ts';

const all: readonly Operation[] = Object.values(operations);

/** Text as HTML shows it; `code` between backticks. */
function html(text: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
  return escaped.replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function shapeLink(title: string): string {
  return `<a href="#shape-${title}">${title}</a>`;
}

/** A schema's type, with links. */
function typeHtml(schema: JsonSchema): string {
  return typeText(schema, (title) => `\u0001${title}\u0002`)
    .split(/(\u0001\w+\u0002)/)
    .map((part) => (part.startsWith('\u0001') ? shapeLink(part.slice(1, -1)) : html(part)))
    .join('');
}

function fieldRow({ path, schema, isRequired, description }: DescribedField): string {
  const note = [description, limitsText(schema)].filter((text) => text !== '').join('; ');
  return `<tr><td><code>${html(path)}</code>${isRequired ? ' <b title="required">*</b>' : ''}</td><td>${typeHtml(schema)}</td><td>${html(note)}</td></tr>`;
}

function fieldTable(caption: string, schema: JsonSchema | undefined): string {
  const fields = schema ? fieldsOf(schema) : [];
  if (fields.length === 0) return '';
  return `<h4>${caption}</h4><div class="wide"><table><thead><tr><th>Field</th><th>Type</th><th>Meaning</th></tr></thead><tbody>${fields.map(fieldRow).join('')}</tbody></table></div>`;
}

function part(caption: string, schema: JsonSchema | undefined): string {
  if (!schema) return '';
  if (referredShape(schema) || !schema.properties) return `<h4>${caption}</h4><p>${typeHtml(schema)}</p>`;
  return fieldTable(caption, schema);
}

const replyNames = {
  json: 'Reply',
  'event-stream': 'Server-sent events',
  binary: 'Reply, as bytes',
  redirect: 'Redirection',
} as const;

function rightText({ needs }: Operation): string {
  if (needs === 'nothing') return 'no credentials needed';
  return needs === 'signed-in' ? 'any valid credentials' : `needs <code>${needs}</code>`;
}

function operationHtml(operation: Operation): string {
  const schemaOf = (schema: Operation['query']) => schema && jsonSchemaOf(schema, operation.name);
  return [
    `<article id="${operation.name}">`,
    `<h3>${html(operation.summary)}</h3>`,
    `<p class="route"><b>${operation.method}</b> <code>${html(`${apiBase}${operation.path}`)}</code> <span>${rightText(operation)}</span></p>`,
    operation.description ? `<p>${html(operation.description)}</p>` : '',
    `<pre>${html(requestExample(operation))}</pre>`,
    part('Path', pathSchemaOf(operation)),
    part('Query', schemaOf(operation.query)),
    part(operation.bodyOptional ? 'Body (optional)' : 'Body', schemaOf(operation.body)),
    part(replyNames[operation.replyKind ?? 'json'], schemaOf(operation.reply)),
    '</article>',
  ].join('');
}

function familyHtml(family: string): string {
  const own = all.filter((operation) => operation.family === family);
  return `<section><h2 id="family-${family}">${html(family)}</h2>${own.map(operationHtml).join('')}</section>`;
}

function navigation(families: readonly string[]): string {
  const entry = ({ name, summary }: Operation) => `<li><a href="#${name}">${html(summary)}</a></li>`;
  const groups = families.map(
    (family) =>
      `<li>${html(family)}<ul>${all
        .filter((each) => each.family === family)
        .map(entry)
        .join('')}</ul></li>`,
  );
  return `<nav><ul>${groups.join('')}<li><a href="#shapes">Shapes</a></li><li><a href="#errors">Errors</a></li></ul></nav>`;
}

function shapesHtml(): string {
  const schemas = all
    .flatMap(({ params, query, body, reply }) => [params, query, body, reply])
    .flatMap((schema) => (schema ? [jsonSchemaOf(schema)] : []));
  const shapes = [...shapesIn(schemas)].sort(([one], [other]) => (one < other ? -1 : 1));
  const one = ([title, schema]: [string, JsonSchema]) =>
    `<article id="shape-${title}"><h3>${title}</h3>${fieldTable('Fields', schema)}</article>`;
  return `<section><h2 id="shapes">Shapes</h2>${shapes.map(one).join('')}</section>`;
}

function errorsHtml(): string {
  const rows = Object.entries(errors).map(
    ([code, { status, cause, remedy }]) =>
      `<tr><td>${status}</td><td><code>${code}</code></td><td>${html(cause)}</td><td>${html(remedy)}</td></tr>`,
  );
  return [
    '<section><h2 id="errors">Errors</h2>',
    `<p>${html('Errors have the body `{code, message, requestId, details?}`. The message names the field or object and says what to do; the request id also appears in the log of the service.')}</p>`,
    `<div class="wide"><table><thead><tr><th>Status</th><th>Code</th><th>Cause</th><th>Remedy</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`,
  ].join('');
}

const introduction = [
  'All paths below require an API key as HTTP Basic credentials: the id of the key is the user name, and its secret is the password.',
  'Times in replies are ISO 8601 in UTC with milliseconds, such as `2026-01-31T09:30:00.000Z`.',
  'Examples use variables of the shell for the address of the service, the key and the ids in a path; replace values in `<>` before you run them.',
  'Bodies are JSON. Unknown fields are refused by name. Required fields are marked with `*`; required fields of replies are always present.',
];

/** Runs as it is in any shell where the variables are set. */
export const firstRequest = [
  `curl --fail-with-body --user "$ENVARIUM_API_KEY:$ENVARIUM_API_SECRET" \\`,
  `  "$ENVARIUM_API_URL${apiBase}/environments?limit=10"`,
].join('\n');

/**
 * The page of all operations with their fields.
 * @param about `version` of the service, shown next to the name; `basePath` of the service that shows it, without a
 * slash at its end
 * @returns a whole HTML document
 */
export function referencePage({
  version,
  basePath = '',
}: {
  version?: string;
  basePath?: string;
} = {}): string {
  const families = [...new Set(all.map(({ family }) => family))];
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Envarium</title><style>${pageStyle}</style></head><body>`,
    `<header><h1>Envarium${version ? ` <small>${html(version)}</small>` : ''}</h1><p>Manages infrastructure-as-code environments, from a git repository through plan and approval to running resources.</p></header>`,
    navigation(families),
    '<main>',
    ...introduction.map((text) => `<p>${html(text)}</p>`),
    `<p>Machine-readable: <a href="${html(basePath)}${apiBase}/openapi.json">${apiBase}/openapi.json</a> (OpenAPI 3.1).</p>`,
    `<p>The first request, with the address of the service and a key in the environment:</p>`,
    `<pre>${html(firstRequest)}</pre>`,
    ...families.map(familyHtml),
    shapesHtml(),
    errorsHtml(),
    '</main></body></html>',
  ].join('\n');
}
