import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../../../../tools/suite/until.ts';
import { withToolbox } from '../../../../../tools/toolbox/places.ts';
import { engine, evaluateFiles, none, processesIn } from '../../../../testing/policy-engine.ts';
import { openReceiver } from '../../../../testing/receiver.ts';
import { hashOf, readyPolicies } from './policy-engine.ts';

const needsOpa = withToolbox('opa');

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
        const evaluation = evaluate(policy(name));
        most = Math.max(most, readyPolicies(context));
        const answer = await evaluation;
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
    await until('the end of the engines', () => processesIn(dataFolder).length === 0);
    assert.deepEqual(readdirSync(join(dataFolder, 'policies')), []);
  },
);

test('policies with one package neither see nor change each other', needsOpa, async (t) => {
  const { evaluate } = engine(t, { policyProcesses: 8 });
  const policies = [
    'package envarium\nitems := ["a"]\ndeny contains x if some x in data.envarium.items',
    'package envarium\nitems := ["b"]\ndeny contains x if some x in data.envarium.items',
    'package envarium\nwarn contains json.marshal(data.envarium.items)\nsecret := "planted"',
    'package envarium\nimport data.envarium as mine\nwarn contains x if some x in mine.items',
  ];
  const results = await Promise.all(policies.map((text) => evaluate(text)));
  assert.deepEqual(
    results.map(({ deny, warn }) => [...deny, ...warn]),
    [['a'], ['b'], [], []],
  );
});

test('a policy that fails or hangs fails alone', needsOpa, async (t) => {
  const { evaluate } = engine(t, { policyTimeLimitSeconds: 2, policyProcesses: 8 });
  const numbers = 'numbers.range(1, 100000)';
  const hangs = `package envarium\ndeny contains "x" if { some a in ${numbers}; some b in ${numbers}; a * b == -1 }`;
  const policies = ['package envarium\nallow := ["fine"]', 'package envarium\nwarn := 5', hangs];
  const [fine, wrong, late] = await Promise.allSettled(policies.map((text) => evaluate(text)));
  assert.deepEqual(fine, { status: 'fulfilled', value: { ...none, allow: ['fine'] } });
  assert.match(String(wrong?.status === 'rejected' && wrong.reason), /"warn" must be/);
  assert.match(String(late?.status === 'rejected' && late.reason), /takes longer than 2 s/);
});

test('a server that stops while policies are compiled leaves nothing behind', needsOpa, async (t) => {
  const { evaluate, closing, dataFolder } = engine(t, { policyProcesses: 8 });
  const names = Array.from({ length: 8 }, (_, n) => `package envarium\nallow := ["${n}"]`);
  const evaluations = Promise.allSettled(names.map((text) => evaluate(text)));
  await once(closing.signal, 'abort', { signal: AbortSignal.timeout(100) }).catch(() => undefined);
  closing.abort();
  assert.ok((await evaluations).some(({ status }) => status === 'rejected'));
  await until('the end of the engines', () => processesIn(dataFolder).length === 0);
  const left = readdirSync(join(dataFolder, 'policies'), { recursive: true });
  assert.deepEqual(
    left.filter((name) => String(name).endsWith('.rego')),
    [],
  );
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
  const receiver = await openReceiver();
  receiver.answer = (_, response) => response.end('{"type": "array"}');
  const file = join(dataFolder, 'secrets.json');
  writeFileSync(file, '{"type": "hunter22"}');
  for (const reference of [`${receiver.address}/schema`, `file://${file}`]) {
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
  assert.deepEqual(receiver.received, []);
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
