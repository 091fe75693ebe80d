import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { operations } from '../operations.ts';
import { type ErrorCode, errors } from '../schema/errors.ts';
import { type Operation, rightsOf } from '../schema/operation.ts';
import { coveragePage, covers, readCoverage } from './coverage.ts';
import { fieldsOf, jsonSchemaOf, pathSchemaOf, shapesIn } from './describe-schema.ts';
import { fieldWords } from './field-words.ts';
import { interfaceOperations } from './interface-operations.ts';
import { openApiDocument } from './openapi.ts';
import { referencePage } from './reference-page.ts';
import { requestExample } from './request-example.ts';
import { shapeWords } from './shape-words.ts';

const all = Object.values(operations) as Operation[];

describe('OpenAPI document', () => {
  const document = openApiDocument({ version: '1.2.3' }) as {
    openapi: string;
    info: { version: string };
    paths: Record<
      string,
      Record<
        string,
        {
          operationId: string;
          'x-right': string;
          requestBody?: { required: boolean };
          security?: unknown[];
          responses: Record<string, unknown>;
        }
      >
    >;
    components: {
      schemas: Record<string, unknown>;
      responses: Record<string, { description: string; content: object }>;
    };
  };

  it('has every operation with its right', () => {
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, '1.2.3');
    for (const operation of all) {
      const { name, method, path, needs, body, bodyOptional, refusesWith = [] } = operation;
      const found = document.paths[path]?.[method.toLowerCase()];
      assert.equal(found?.operationId, name);
      assert.equal(found?.['x-right'], rightsOf(operation).join(' | ') || needs);
      assert.equal(found?.requestBody?.required, body && !bodyOptional);
      assert.equal(needs === 'nothing', found?.security?.length === 0);
      const isRefused = needs !== 'nothing' || refusesWith.includes('unauthorized');
      assert.equal('401' in (found?.responses ?? {}), isRefused, name);
    }
  });

  it('lists the errors of every operation, each as the table describes it', () => {
    for (const { path, method, params, body, family } of all) {
      const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
      const statuses = Object.keys(responses).map(Number);
      const expected = [400, 429, 431, 500, 503, ...(params ? [404, 414] : []), ...(body ? [413, 422] : [])];
      assert.deepEqual(
        expected.filter((status) => !statuses.includes(status)),
        [],
        path,
      );
      assert.equal(statuses.includes(409), method !== 'GET', path);
      for (const [status, response] of Object.entries(responses))
        if (Number(status) >= 400) {
          const [, name = ''] =
            /^#\/components\/responses\/(\w+)$/.exec((response as { $ref: string }).$ref) ?? [];
          const { description = '', content = {} } = document.components.responses[name] ?? {};
          const code = name.replace(/_as_text$/, '') as ErrorCode;
          assert.equal(errors[code].status, Number(status));
          assert.match(description, /\w{3}/);
          assert.deepEqual(
            Object.keys(content),
            [family === 'mcp' ? 'text/plain' : 'application/json'],
            path,
          );
        }
    }
  });

  it('refers only to shapes that it has, and uses all that it has', () => {
    const text = JSON.stringify(document);
    const referred = new Set([...text.matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name]) => name));
    assert.deepEqual(referred, new Set(Object.keys(document.components.schemas)));
    for (const schema of Object.values(document.components.schemas))
      assert.ok(Object.keys(schema as object).length > 0);
  });

  it('has patterns that the regular expressions of other languages read, too', () => {
    const patterns = Array.from(
      JSON.stringify(document).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
      ([, text = '']) => String(JSON.parse(text)),
    );
    assert.ok(patterns.some((pattern) => pattern.includes('\\x7f')));
    assert.deepEqual(
      patterns.filter((pattern) => /\\p\{|\(\?</i.test(pattern)),
      [],
    );
    const [title = ''] = patterns.filter((pattern) => pattern.startsWith('^[^\\x00'));
    assert.ok(new RegExp(title).test('a b'));
    for (const wrong of ['', ' ', 'a\u0000', 'a\u0085b']) assert.ok(!new RegExp(title).test(wrong));
  });

  it('is the same each time', () => {
    assert.deepEqual(openApiDocument({ version: '1.2.3' }), document);
  });
});

/** Fields of requests and replies that nothing describes. */
function undescribed(): string[] {
  const schemas = all.flatMap(({ params, query, body, reply }) =>
    [params, query, body, reply].flatMap((schema) => (schema ? [jsonSchemaOf(schema)] : [])),
  );
  const shapes = [...schemas, ...shapesIn(schemas).values()];
  return shapes.flatMap((shape) =>
    fieldsOf(shape).flatMap(({ path, description }) =>
      description === '' ? [`${shape.title ?? ''}.${path}`] : [],
    ),
  );
}

describe('reference page', () => {
  const page = referencePage({ version: '1.2.3' });

  it('has every operation with its path, right and fields', () => {
    for (const { name, path, method } of all)
      assert.ok(
        page.includes(`id="${name}"`) && page.includes(`<b>${method}</b> <code>/api${path}</code>`),
        name,
      );
    for (const text of [
      'needs <code>RUN_APPLY</code>',
      '<code>autoDriftRemediationStrategy</code>',
      '<code>latestDeploymentLog</code>',
      '1.2.3',
    ])
      assert.ok(page.includes(text), text);
  });

  it('shows a request of every operation, with its method, path and required fields', () => {
    const commands = all.map((operation) => requestExample(operation));
    for (const [index, { method, path, needs }] of all.entries()) {
      const command = commands[index] ?? '';
      assert.equal(/--request (\w+)/.exec(command)?.[1] ?? 'GET', method);
      assert.ok(command.includes(`"$ENVARIUM_API_URL/api${path.split('{')[0]}`), command);
      assert.equal(command.includes('--user'), needs !== 'nothing');
      assert.doesNotMatch(command, /[{}](?![^']*')/);
    }
    const create = commands.find((command) => command.includes('without-template')) ?? '';
    assert.deepEqual(JSON.parse(/--data '(.*)'/.exec(create)?.[1] ?? ''), {
      name: '<name>',
      projectId: '<projectId>',
      organizationId: '<organizationId>',
      repository: '<repository>',
      type: 'opentofu',
    });
    const cancel = commands.find((command) => command.includes('/cancel')) ?? '';
    assert.match(cancel, /environments\/deployments\/\$DEPLOYMENT_ID\/cancel"$/);
  });

  it('says what the id in every path identifies', () => {
    for (const operation of all)
      for (const { path, description } of fieldsOf(pathSchemaOf(operation) ?? {}))
        if (path === 'id') assert.match(description, /^Id of the \w/, operation.name);
  });

  it('describes every field of every request and reply', () => {
    assert.deepEqual(undescribed(), []);
    assert.doesNotMatch(page, /<td><\/td><\/tr>/);
  });

  it('describes no field that does not exist', () => {
    const text = JSON.stringify(all);
    const names = [...Object.keys(fieldWords), ...Object.keys(shapeWords)].map((name) =>
      name.split('.').at(-1),
    );
    assert.deepEqual(
      names.filter((name) => !text.includes(`"${name}":`)),
      [],
    );
  });

  it('fits the width of a phone: every table is in a box of its own', () => {
    assert.equal(page.match(/<table>/g)?.length, page.match(/<div class="wide"><table>/g)?.length);
    assert.match(page, /<meta name="viewport" content="width=device-width/);
  });

  it('loads nothing, runs nothing, and its links lead somewhere', () => {
    assert.doesNotMatch(page, /<script|<link|<img|src=|url\(|@import/);
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, target] of page.matchAll(/href="([^"]+)"/g))
      assert.ok(target === '/api/openapi.json' || ids.has(target?.slice(1)), target);
  });
});

describe('coverage', () => {
  // Spelled apart, so that this file declares nothing about itself.
  const call = 'covers';
  const source = `
    describe('ttl', () => {
      it('sets the end of the lifespan', async () => {
        ${call}('createEnvironmentWithoutTemplate', 'body.ttl');
        ${call}('Environment', 'lifespanEndAt', 'markedForAutoDestroy');
      });
      test("isn't lost", () => { ${call}(
        'listEnvironments',
      ); });
    });`;

  it('is read from test files, with the title of the test', () => {
    assert.deepEqual(readCoverage('a.test.ts', source), [
      {
        subject: 'createEnvironmentWithoutTemplate',
        field: 'body.ttl',
        file: 'a.test.ts',
        test: 'sets the end of the lifespan',
      },
      {
        subject: 'Environment',
        field: 'lifespanEndAt',
        file: 'a.test.ts',
        test: 'sets the end of the lifespan',
      },
      {
        subject: 'Environment',
        field: 'markedForAutoDestroy',
        file: 'a.test.ts',
        test: 'sets the end of the lifespan',
      },
      { subject: 'listEnvironments', field: '', file: 'a.test.ts', test: "isn't lost" },
    ]);
  });

  it('shows each field with its tests', () => {
    const page = coveragePage(readCoverage('a.test.ts', source));
    assert.ok(page.includes('| `body.ttl` | Ttl or null | a.test.ts: sets the end of the lifespan |'));
    assert.ok(page.includes("| the operation | | a.test.ts: isn't lost |"));
    assert.ok(page.includes('| `body.k8sNamespace` | string |  |'));
    const ours = new Set(Object.values<Operation>(operations).map(({ method, path }) => `${method} ${path}`));
    const listed = interfaceOperations.filter(([, method, path]) => ours.has(`${method} ${path}`));
    const counts = `${listed.length} operations are listed`;
    assert.match(page, new RegExp(`${counts}; 3 of their \\d+ fields have a test`));
  });

  it('refuses what the contract does not have', () => {
    const claim = covers;
    assert.throws(
      () => claim('deployEnvironment', 'body.nope'),
      /deployEnvironment has no field "body.nope"/,
    );
    assert.throws(() => claim('nope'), /"nope" is not an operation/);
    assert.throws(
      () => coveragePage([{ subject: 'User', field: 'nmae', file: 'b.test.ts', test: 't' }]),
      /b\.test\.ts: covers: User has no field "nmae"/,
    );
  });
});
