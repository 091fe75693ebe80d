import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { placeOf, withToolbox } from '../../../../../tools/toolbox/places.ts';
import type { Context } from '../../../framework/context.ts';
import type { PolicyFiles } from './compile-policy.ts';
import { evaluateFiles, evaluateTogether, hashOf, readyPolicies } from './policy-engine.ts';

const needsOpa = withToolbox('opa');

type EngineContext = Pick<Context, 'settings' | 'stopping' | 'events'>;

function engine(t: TestContext, more: Partial<Context['settings']> = {}) {
  const dataFolder = mkdtempSync(join(tmpdir(), 'policies-'));
  const closing = new AbortController();
  t.after(() => {
    closing.abort();
    rmSync(dataFolder, { recursive: true });
  });
  const settings = {
    dataFolder,
    opaProgram: placeOf('opa') ?? '',
    policyMemoryMegabytes: 512,
    policyTimeLimitSeconds: 10,
    policyProcesses: 2,
    ...more,
  } as unknown as Context['settings'];
  const context: EngineContext = { settings, stopping: closing.signal, events: {} as Context['events'] };
  const evaluate = (text: string, input: unknown = {}) =>
    evaluateFiles(context, new Map([['policy.rego', text]]), Buffer.from(JSON.stringify(input)));
  /** By the numbers of the policies; those that are not evaluated together are missing. */
  const together = async (policies: readonly (string | PolicyFiles)[], input: unknown = {}) => {
    const files = policies.map((each) =>
      typeof each === 'string' ? new Map([['policy.rego', each]]) : each,
    );
    const said = await evaluateTogether(context, files, Buffer.from(JSON.stringify(input)));
    const numbered = files.map((each, index) => [index, said.get(hashOf(each))] as const);
    return Object.fromEntries(numbered.filter(([, messages]) => messages !== undefined));
  };
  return { context, evaluate, together, closing, dataFolder };
}

const none = { deny: [], pending: [], allow: [], warn: [] };

/** Processes of opa that work below a folder. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(folder);
    } catch {
      return false;
    }
  });
}

test('policies of both versions of the language are evaluated', needsOpa, async (t) => {
  const { evaluate } = engine(t);
  const old = `package envarium
deny[msg] { input.n > 1; msg := sprintf("%d is too much", [input.n]) }
allow[msg] { input.n == 1; msg := "one" }`;
  assert.deepEqual(await evaluate(old, { n: 2 }), { ...none, deny: ['2 is too much'] });
  assert.deepEqual(await evaluate(old, { n: 1 }), { ...none, allow: ['one'] });
  const today = `package envarium
# METADATA
# title: Approvers
pending contains rego.metadata.rule().title if count(input.approvers) < 2
warn := ["listed"]
allow := ["enough"] if { count(input.approvers) > 1 }`;
  assert.deepEqual(await evaluate(today, { approvers: [1] }), {
    ...none,
    pending: ['Approvers'],
    warn: ['listed'],
  });
  assert.deepEqual(await evaluate(today, { approvers: [1, 2] }), {
    ...none,
    allow: ['enough'],
    warn: ['listed'],
  });
  assert.deepEqual(await evaluate('package envarium\nhelper := 1'), none);
});

test('what does not compile is refused with the messages of the compiler', needsOpa, async (t) => {
  const { evaluate } = engine(t);
  for (const [text, message] of [
    [
      'package envarium\ndeny contains "x" if input.a ==',
      /^The policy does not compile:\npolicy\.rego:\d: .*unexpected/,
    ],
    ['package envarium\ndeny[msg] { msg := nothing }', /policy\.rego:2: .*nothing/],
    [
      'package envarium\ndeny contains "x" if http.send({})',
      /undefined function http\.send \(policies may not reach/,
    ],
    ['package envarium\ndeny["x"] { opa.runtime().env.HOME }', /undefined function opa\.runtime/],
    ['package other\ndeny contains "x"', /"package envarium"/],
    ['package system.authz\nallow := true\n# package envarium', /"package envarium"/],
    ['package envarium\ndeny := {"x": 1}', /"deny" must be a set or a list of messages, not an object/],
    ['package envarium\nallow := true', /"allow" must be .* not a boolean/],
    ['package envarium\nallow := [1]', /"allow" must contain messages, which are texts, not a number/],
    ['package envarium\nallow := x if some x in [["1"],["2"]]', /failed: .*multiple outputs|conflict/],
  ] as const)
    await assert.rejects(evaluate(text), (error: Error) => {
      assert.equal(error.name, 'PolicyError', error.stack);
      assert.match(error.message, message);
      return true;
    });
});

test('a policy that hangs, grows or talks without end is stopped', needsOpa, async (t) => {
  const { evaluate, context } = engine(t, { policyTimeLimitSeconds: 1, policyMemoryMegabytes: 200 });
  const numbers = 'numbers.range(1, 100000)';
  await assert.rejects(
    evaluate(
      `package envarium\ndeny contains "x" if { some a in ${numbers}; some b in ${numbers}; a * b == -1 }`,
    ),
    /takes longer than 1 s/,
  );
  await assert.rejects(
    evaluate(`package envarium\nallow := [concat("", [x | some _ in ${numbers}; x := "0123456789012345"])]`),
    /messages of the policy have more than|longer than/,
  );
  await assert.rejects(
    evaluate('package envarium\ndeny contains "x" if { x := numbers.range(1, 100000000); count(x) == 1 }'),
    /ended while it evaluated the policy, which may need more than 200 MB|longer than 1 s/,
  );
  assert.deepEqual(await evaluate('package envarium\nallow := ["still"]'), { ...none, allow: ['still'] });
  assert.ok(readyPolicies(context) <= 2);
});

test(
  'a process that was killed is started again, the longest unused ends, and none outlives the server',
  needsOpa,
  async (t) => {
    const { evaluate, context, closing, dataFolder } = engine(t);
    const policy = (name: string) => `package envarium\nallow := ["${name}"]`;
    await evaluate(policy('a'));
    const [first] = processesIn(dataFolder);
    process.kill(Number(first), 'SIGKILL');
    assert.deepEqual((await evaluate(policy('a'))).allow, ['a']);
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    let most = 0;
    const answers = await Promise.all(
      names.map(async (name) => {
        const asked = evaluate(policy(name));
        most = Math.max(most, readyPolicies(context));
        const answer = await asked;
        most = Math.max(most, readyPolicies(context));
        return answer;
      }),
    );
    assert.ok(most <= 2, `${most} processes at once`);
    assert.deepEqual(
      answers.map(({ allow }) => allow[0]),
      names,
    );
    await evaluate(policy('i'));
    assert.ok(readyPolicies(context) <= 2, String(readyPolicies(context)));
    closing.abort();
    while (processesIn(dataFolder).length > 0) await new Promise(setImmediate);
    assert.deepEqual(readdirSync(join(dataFolder, 'policies')), []);
  },
);

test('policies about one plan share a process, and each says what it says alone', needsOpa, async (t) => {
  const { evaluate, together, context } = engine(t);
  const inTwoFiles: PolicyFiles = new Map([
    [
      'main.rego',
      `# Limits.
package envarium

import rego.v1

items := ["kg"]
deny contains sprintf("%d%s", [input.n, unit]) if above(input.n, limit)
pending contains unit if some unit in items
allow contains "listed" if ("kg" in items) == true`,
    ],
    ['limits.rego', '\npackage envarium\nlimit := 1\nunit := "m"\nabove(a, b) if a > b\n'],
  ]);
  const policies = [
    inTwoFiles,
    'package envarium\nwarn contains input.metadata.name\nitems := ["other"]',
    'package envarium\nwarn contains `raw \\n\npackage p\n# ` if not input.absent',
    'package envarium\nhelper := regex.match("^a", "b")',
  ];
  const input = { n: 2, metadata: { name: 'a' } };
  const said = await together(policies, input);
  assert.deepEqual(said[0], { ...none, deny: ['2m'], pending: ['kg'], allow: ['listed'] });
  assert.deepEqual(said[3], none);
  assert.equal(readyPolicies(context), 1);
  for (const index of [1, 2, 3] as const)
    assert.deepEqual(said[index], await evaluate(policies[index] as string, input));
  // The same ones in another order, each twice.
  assert.deepEqual((await together([...policies, ...policies].toReversed(), { n: 1 }))[3]?.deny, []);
});

test('what refers to packages, or could, is left out', needsOpa, async (t) => {
  const { together } = engine(t);
  const others = [1, 2].map((n) => `package envarium\nallow := ["${n}"]`);
  const out = [
    'package envarium\nwarn contains v if some v in data[_].envarium.secrets',
    'package envarium\nitems := ["a"]\ndeny contains x if some x in data.envarium.items',
    'package envarium\nimport data as everything\nwarn contains "x" if everything[input.name].deny',
    'package envarium\nunit := ["m"]\ndeny contains x if some x in unit with data.envarium.unit as ["kg"]',
    'package envarium\nwarn contains $"\\\\\\{opa.runtime()}"',
    'package envarium\nwarn contains $`{input.n}`',
    'package envarium\n# METADATA\n# title: a\ndeny contains "annotated"',
    'package envarium\nwarn contains json.marshal(rego["meta\\u0064ata"].chain())',
    'package envarium\ndeny contains "x" if glob.match("x*", ["-", "."], input.name)',
    'package envarium\ndeny contains "x" if glob["m\\u0061tch"]("x*", ["-", "."], input.name)',
    'package envarium\ndeny contains "x" if regex.template_match("urn:{.*}", input.name, "{", "}")',
    'package envarium\ndeny contains "x" if regex["template\\u005fmatch"]("urn:{.*}", input.name, "{", "}")',
    'package envarium\ndeny contains "x" if rand.intn("a", 10) > 5',
    'package envarium\ndeny contains uuid.rfc4122("a")',
    'package envarium\ndeny contains "x" if graphql.is_valid("query { a }", input.name)',
    'package envarium\ndeny[msg] { msg := "before 1.0" }',
    'package envarium\ndeny contains',
    'package envarium # with a comment\nallow := ["x"]',
    'package envarium\r\nallow := ["x"]',
    'package envarium.library\nallow := ["x"]',
    new Map([
      ['main.rego', 'package envarium\nallow := ["x"]'],
      ['library.rego', 'package library\nx := 1'],
    ]),
  ];
  for (const policy of out)
    assert.deepEqual(Object.keys(await together([...others, policy])), ['0', '1'], JSON.stringify(policy));
  assert.deepEqual(await together([out[0] ?? '', others[0] ?? '']), {}, 'a single one is left');
  assert.deepEqual(await together([others[0] ?? '', others[0] ?? '']), {}, 'the same twice');
});

test('a server that stops while policies are joined leaves nothing behind', needsOpa, async (t) => {
  const { together, closing, dataFolder } = engine(t);
  const policies = Array.from({ length: 8 }, (_, n) => `package envarium\nallow := ["${n}"]`);
  const joining = together(policies);
  await once(closing.signal, 'abort', { signal: AbortSignal.timeout(100) }).catch(() => undefined);
  closing.abort();
  await assert.rejects(joining);
  while (processesIn(dataFolder).length > 0) await new Promise(setImmediate);
  const left = readdirSync(join(dataFolder, 'policies'), { recursive: true });
  assert.deepEqual(
    left.filter((name) => String(name).endsWith('.rego')),
    [],
  );
});

test('policies that fail together are left to themselves from then on', needsOpa, async (t) => {
  const { together, context, dataFolder } = engine(t, { policyTimeLimitSeconds: 2 });
  const fine = 'package envarium\nallow := ["fine"]';
  const numbers = 'numbers.range(1, 100000)';
  for (const bad of [
    'package envarium\nx := input.values[_]\ndeny contains "x" if x > 0',
    'package envarium\nwarn := 5',
    `package envarium\ndeny contains "x" if { some a in ${numbers}; some b in ${numbers}; a * b == -1 }`,
  ]) {
    assert.deepEqual(await together([fine, bad], { values: [1, 2] }), {}, bad);
    const again = together([fine, bad], { values: [1, 2] });
    assert.equal(readyPolicies(context), 0, 'no process is started for them');
    assert.deepEqual(await again, {});
  }
  while (processesIn(dataFolder).length > 0) await new Promise(setImmediate);
});

test('a process of several policies that was killed is started again', needsOpa, async (t) => {
  const { together, dataFolder } = engine(t);
  const policies = ['a', 'b'].map((name) => `package envarium\nallow := ["${name}"]`);
  await together(policies);
  const [pid] = processesIn(dataFolder);
  process.kill(Number(pid), 'SIGKILL');
  assert.deepEqual((await together(policies))[1]?.allow, ['b']);
});

test('the hash of a policy tells names and texts apart', () => {
  const hashes = [
    [['a', 'b']],
    [['ab', '']],
    [['', 'ab']],
    [
      ['a', ''],
      ['b', ''],
    ],
  ].map((files) => hashOf(new Map(files as [string, string][])));
  assert.equal(new Set(hashes).size, 4);
  assert.equal(
    hashOf(
      new Map([
        ['a', '1'],
        ['b', '2'],
      ]),
    ),
    hashOf(
      new Map([
        ['b', '2'],
        ['a', '1'],
      ]),
    ),
  );
});

test('without opa, the error says how to get it', async (t) => {
  const { evaluate } = engine(t, { opaProgram: '/nowhere/opa' });
  await assert.rejects(
    evaluate('package envarium'),
    /ENVARIUM_OPA names \/nowhere\/opa, which this service cannot execute: install opa/,
  );
});

test('what a policy cannot see: the environment, the network and other policies', needsOpa, async (t) => {
  const { evaluate } = engine(t);
  await evaluate('package envarium\nallow := ["other"]\nsecret := "planted"');
  const seen = await evaluate('package envarium\nwarn contains json.marshal(data.envarium.secret)');
  assert.deepEqual(seen.warn, []);
  for (const call of ['opa.runtime()', 'http.send({})', 'net.lookup_ip_addr("localhost")'])
    await assert.rejects(
      evaluate(`package envarium\nwarn contains json.marshal(${call})`),
      /undefined function/,
    );
});

test('schemas lead a policy neither to files nor to addresses', needsOpa, async (t) => {
  const { evaluate, dataFolder } = engine(t);
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end('{"type": "array"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const file = join(dataFolder, 'secrets.json');
  writeFileSync(file, '{"type": "hunter22"}');
  const { port } = server.address() as AddressInfo;
  for (const reference of [`http://127.0.0.1:${port}/schema`, `file://${file}`]) {
    for (const call of ['match_schema({}, schema)', 'verify_schema(schema)'])
      await assert.rejects(
        evaluate(`package envarium
schema := {"$ref": "${reference}"}
deny contains json.marshal(json.${call})`),
        /undefined function json\.\w+_schema \(policies may not reach/,
      );
    const annotated = `# METADATA
# scope: package
# "sch\\x65mas":
#   - input: {"$ref": "${reference}"}
package envarium
# METADATA
# title: Titled
deny contains rego.metadata.rule().title if input.a == 1`;
    assert.deepEqual((await evaluate(annotated, { a: 1 })).deny, ['Titled']);
  }
  assert.deepEqual(asked, []);
});

test('a name after an empty comment hides nothing from the compiler', needsOpa, async (t) => {
  const { evaluate } = engine(t);
  const hidden = (blank: string) => `package envarium
METADATA := 1 if false
#${blank}METADATA := http.send({"method": "GET", "url": "http://127.0.0.1:1/", "raise_error": false})
warn contains json.marshal(METADATA)`;
  for (const blank of ['\n', '\r\n', ' \n\t'])
    await assert.rejects(evaluate(hidden(blank)), /undefined function http.send/, JSON.stringify(blank));
});

test('the packages of a policy are those that the compiler reads', needsOpa, async (t) => {
  const { evaluate } = engine(t);
  const withOther = (line: string) =>
    evaluateFiles(
      engine(t).context,
      new Map([
        ['policy.rego', 'package envarium\nallow := ["x"]'],
        ['other.rego', `${line}\nx := 1`],
      ]),
      Buffer.from('{}'),
    );
  const reserved = /^other\.rego: packages "system" and "envarium_verdict" cannot be used$/;
  for (const line of [
    'package system',
    'package # comment\nsystem',
    'package # comment\n\n # another\n system["main"]',
    'package # comment\nenvarium_verdict.result',
  ])
    await assert.rejects(withOther(line), { name: 'PolicyError', message: reserved }, line);
  for (const line of ['# comment\npackage systems', 'package other\ny := `\npackage system\n`'])
    assert.deepEqual((await withOther(line)).allow, ['x'], line);
  assert.deepEqual((await evaluate('package # comment\nenvarium\nallow := ["x"]')).allow, ['x']);
  for (const text of [
    'package other\ny := `\npackage envarium\n`',
    'package other\n# \u2028package envarium\ny := 1',
    'package envarium.other\ny := 1',
  ])
    await assert.rejects(evaluate(text), /begin one with "package envarium"/, text);
});
