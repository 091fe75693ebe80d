import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import { until } from '../../../../../tools/suite/until.ts';
import { withToolbox } from '../../../../../tools/toolbox/places.ts';
import { engine, none, processesIn } from '../../../../testing/policy-engine.ts';
import { openReceiver } from '../../../../testing/receiver.ts';
import { PolicyCheck, readyPolicies } from './policy-engine.ts';
import { PolicyTurns } from './policy-turns.ts';
import { SharedOpa } from './shared-opa.ts';
import { SharedProcesses } from './shared-processes.ts';

const needsOpa = withToolbox('opa');

const filler = Array.from({ length: 4 }, (_, n) => `package envarium\nallow := ["filler ${n}"]`);
const numbers = 'numbers.range(1, 100000)';
const hangs = `package envarium\ndeny contains "x" if { some a in ${numbers}; some b in ${numbers}; a * b == -1 }`;

function checks(t: TestContext, more: Parameters<typeof engine>[1] = {}) {
  const one = engine(t, { policyProcesses: 24, ...more });
  /** Texts of one check, with fillers, so that they take turns. @param configurations of policies, by position */
  const check = async (
    texts: readonly string[],
    input: object = {},
    configurations: readonly object[] = [],
  ) => {
    const common = Buffer.from(JSON.stringify(input));
    const all = [...texts, ...filler];
    await using running = new PolicyCheck(one.context, common, all.length);
    const results = await Promise.allSettled(
      all.map((text, index) => {
        const configuration = JSON.stringify(configurations[index] ?? {});
        const whole = () =>
          Buffer.from(JSON.stringify({ ...input, policyConfiguration: JSON.parse(configuration) as object }));
        const document = { common, configuration, whole };
        return running.evaluate(new Map([['policy.rego', text]]), document);
      }),
    );
    assert.deepEqual(
      results.slice(texts.length),
      filler.map((_, n) => ({ status: 'fulfilled', value: { ...none, allow: [`filler ${n}`] } })),
    );
    return results.slice(0, texts.length);
  };
  const values = async (...args: Parameters<typeof check>) =>
    (await check(...args)).map((result) => {
      if (result.status === 'rejected') throw result.reason;
      return result.value as PolicyMessages;
    });
  return { ...one, check, values };
}

const reasonOf = (result: PromiseSettledResult<unknown> | undefined) =>
  result?.status === 'rejected' ? String(result.reason) : 'fulfilled';

test(
  'policies in turn get what they get alone: input, configuration, metadata, languages',
  needsOpa,
  async (t) => {
    const { values, evaluate, context } = checks(t);
    const texts = [
      'package envarium\nwarn contains json.marshal(input)',
      'package envarium\ndeny[msg] { input.n > 1; msg := sprintf("%d is too much", [input.n]) }',
      'package envarium\n# METADATA\n# title: Approvers\npending contains rego.metadata.rule().title if not input.approvers',
      'package envarium\nallow contains x if { some x in input.policyConfiguration.names }\nwarn contains "none" if not input.absent',
      'package envarium\nwarn contains sprintf("%v %v %v", [input.large, input.small, input.plan.list[1]])',
      'package envarium\nhelper := 1',
    ];
    const input = {
      n: 2,
      large: 2 ** 60,
      small: 1e-7,
      plan: { list: [{}, { a: null }], empty: {}, text: 'ü\u2028"' },
    };
    const configurations = texts.map((_, index) => ({ names: [`name ${index}`], plan: index }));
    const answers = await values(texts, input, configurations);
    assert.equal(readyPolicies(context), 0, 'none has a process of its own');
    for (const [index, text] of texts.entries())
      assert.deepEqual(
        answers[index],
        await evaluate(text, { ...input, policyConfiguration: configurations[index] }),
        text,
      );
    assert.deepEqual(answers[3]?.allow, ['name 3']);
  },
);

test('policies in turn neither see nor change each other', needsOpa, async (t) => {
  const { values, context } = checks(t);
  const answers = await values(
    [
      'package envarium\nitems := ["a"]\ndeny contains x if some x in data.envarium.items',
      'package envarium\nitems := ["b"]\ndeny contains x if some x in data.envarium.items',
      'package envarium\nwarn contains json.marshal(data.envarium.items)\nsecret := "planted"',
      'package envarium\nimport data.envarium as mine\nwarn contains x if some x in mine.items',
      'package envarium\nwarn contains json.marshal(data.envarium.secret)',
    ],
    {},
  );
  assert.deepEqual(
    answers.map(({ deny, warn }) => [...deny, ...warn]),
    [['a'], ['b'], [], [], []],
  );
  assert.equal(readyPolicies(context), 0, 'none has a process of its own');
});

test('a process that has ended leads no turn to the process that has its descriptor', needsOpa, async (t) => {
  const { context, dataFolder } = checks(t);
  const folderOf = (name: string) => join(dataFolder, name);
  const ended = await SharedOpa.start(context.settings, folderOf('ended'), false);
  ended.kill();
  await until('its end', () => ended.hasEnded);
  const other = await SharedOpa.start(context.settings, folderOf('other'), false);
  t.after(() => Promise.all([ended.end(), other.end()]));
  const input = Buffer.from('{}');
  await other.read(input, context.settings);
  const turn = { text: 'package envarium\nallow := ["planted"]', configuration: '{}' };
  await assert.rejects(ended.take(turn), { name: 'OpaEnded' });
  const mine = { text: 'package envarium\nallow := ["mine"]', configuration: '{}' };
  assert.deepEqual(await other.take(mine), { allow: ['mine'] });
});

test('a turn is answered when the process that waited has ended', needsOpa, async (t) => {
  const { context } = checks(t);
  const processes = new SharedProcesses(() => join(context.settings.dataFolder, 'shared'));
  const check = { context, input: Buffer.from('{}'), most: 1 };
  const turn = { text: 'package envarium\nallow := ["x"]', configuration: '{}' };
  await using turns = new PolicyTurns(check, processes, false);
  assert.deepEqual(await turns.take(turn), { result: { allow: ['x'] } });
  processes.close();
  await until('its end', () => processesIn(context.settings.dataFolder).length === 0);
  assert.ok(
    !('result' in (await turns.take(turn))),
    'the caller evaluates the policy in a process of its own',
  );
});

test('a spare process of the older language makes room for one of today', needsOpa, async (t) => {
  const { context } = checks(t, { policyProcesses: 4 });
  const processes = new SharedProcesses(() => join(context.settings.dataFolder, 'shared'));
  processes.prepare(context, true);
  const taken = await processes.take(context, false);
  assert.equal(taken?.isOld, false);
  assert.equal(await processes.take(context, false), null, 'a process in use makes no room');
  if (taken) await processes.end(taken);
  await until('the end of both', () => processesIn(context.settings.dataFolder).length === 0);
});

test('what opa remembers of one policy does not reach another', needsOpa, async (t) => {
  const { values } = checks(t);
  const planting = [
    'package envarium\nwarn contains "planted" if regex.template_match("b{.}", "bx", "{", "}")',
    'package envarium\nwarn contains "planted" if not glob.match("a-", ["-"], "x")',
  ];
  const reading = [
    'package envarium\nallow := ["text"] if regex.template_match("b{.}", "b{.}", "<", ">")',
    'package envarium\nallow := ["text"] if glob.match("a", ["-", "-"], "a")',
  ];
  const texts = Array.from({ length: 5 }, () => [...planting, ...reading]).flat();
  const expected = texts.map((_, index) => [index % 4 < 2 ? 'planted' : 'text']);
  // Once they are compiled, they get their turns in this order.
  await values(texts);
  const answers = await values(texts);
  assert.deepEqual(
    answers.map(({ warn, allow }) => [...warn, ...allow]),
    expected,
  );
});

test(
  'of policies in turn, each fails for itself, in its own words and by its own limits',
  needsOpa,
  async (t) => {
    const { check } = checks(t, { policyTimeLimitSeconds: 2, policyMemoryMegabytes: 200 });
    for (const _ of [1, 2]) {
      const results = await check([
        'package envarium\nwarn := 5',
        'package envarium\nallow := x if some x in [["1"],["2"]]',
        'package envarium\ndeny contains "x" if input.a ==',
        'package envarium\nwarn contains json.marshal(http.send({}))',
        hangs,
        'package envarium\nallow := ["fine"]',
        'package envarium\ndeny contains "x" if { x := numbers.range(1, 100000000); count(x) == 1 }',
        `package envarium\nallow := [concat("", [x | some _ in ${numbers}; x := "0123456789012345"])]`,
      ]);
      for (const [index, words] of [
        /"warn" must be/,
        /policy failed: .*(?:multiple outputs|conflict)/,
        /does not compile:\npolicy\.rego:\d: .*unexpected/,
        /undefined function http\.send \(policies may not reach/,
        /takes longer than 2 s/,
        /^fulfilled$/,
        /ended while it evaluated the policy, which may need more than 200 MB|longer than 2 s/,
        /messages of the policy have more than|longer than/,
      ].entries())
        assert.match(reasonOf(results[index]), words);
    }
  },
);

test('schemas of a policy in turn lead neither to files nor to addresses', needsOpa, async (t) => {
  const { values } = checks(t);
  const receiver = await openReceiver();
  receiver.answer = (_, response) => response.end('{"type": "array"}');
  const [answer] = await values(
    [
      `# METADATA
# scope: package
# schemas:
#   - input: {"$ref": "${receiver.address}/schema"}
package envarium
# METADATA
# title: Titled
deny contains rego.metadata.rule().title if input.a == 1`,
    ],
    { a: 1 },
  );
  assert.deepEqual(answer?.deny, ['Titled']);
  assert.deepEqual(receiver.received, []);
});

test('a plan of the greatest size is read for policies in turn', needsOpa, async (t) => {
  const { values, context } = checks(t);
  const text = 'x'.repeat(1000);
  const input = {
    plan: { resource_changes: Array.from({ length: 30_000 }, (_, index) => ({ index, text })) },
  };
  const [answer] = await values(
    ['package envarium\nallow contains sprintf("%d", [count(input.plan.resource_changes)])'],
    input,
  );
  assert.deepEqual([answer?.allow, readyPolicies(context)], [['30000'], 0]);
});

test('each check has processes of its own, and none outlives the server', needsOpa, async (t) => {
  const { values, closing, dataFolder } = checks(t, { policyProcesses: 4 });
  const text = ['package envarium\nallow := ["x"]'];
  await values(text);
  await until('a spare process', () => processesIn(dataFolder).length === 1);
  const [first] = processesIn(dataFolder);
  await values(text);
  await until('another spare process', () => {
    const pids = processesIn(dataFolder);
    return pids.length === 1 && pids[0] !== first;
  });
  process.kill(Number(processesIn(dataFolder)[0]), 'SIGKILL');
  assert.deepEqual(await values(text), [{ ...none, allow: ['x'] }]);
  const late = Promise.allSettled([values([hangs]), values(text)]);
  await until('a check', () => processesIn(dataFolder).length > 0);
  closing.abort();
  await late;
  await until('the end of the engine', () => processesIn(dataFolder).length === 0);
  const left = readdirSync(join(dataFolder, 'policies'), { recursive: true });
  assert.deepEqual(
    left.filter((name) => String(name).endsWith('.rego')),
    [],
  );
});
