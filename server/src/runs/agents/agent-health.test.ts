import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testIsolation } from '../../../testing/agent.ts';
import { type HealthFacts, healthOf, type ProcessFacts } from './agent-health.ts';

const now = new Date('2026-06-01T12:00:00Z');
const process: ProcessFacts = {
  hostname: 'east-1',
  version: '1.2.0',
  slots: 2,
  tools: ['terraform'],
  work_folder: '/work',
  isolation: testIsolation,
  condition: {
    clockAheadSeconds: 0,
    missingPrograms: [],
    folders: [{ what: 'spool', path: '/spool', freeMegabytes: 5000, reserveMegabytes: 256 }],
  },
};
const facts: HealthFacts = {
  now,
  contactAt: now,
  processes: [process],
  waiting: [],
  running: 0,
  secrets: [{ expires_at: null, last_used_at: now }],
  serviceVersion: '1.2.0',
  showsMachines: true,
};
const waiting = (seconds: number, more: object = {}) => ({
  organization_id: 'o',
  agent_key: null,
  tool: 'terraform',
  work_folder: null,
  count: 3,
  oldest_at: new Date(now.getTime() - seconds * 1000),
  ...more,
});
const statusOf = (more: Partial<HealthFacts>) => healthOf({ ...facts, ...more }).status;
const problemsOf = (more: Partial<HealthFacts>) => healthOf({ ...facts, ...more }).health.problems;

test('an agent is degraded if a job waits for more than 5 minutes while it runs nothing', () => {
  assert.equal(statusOf({}), 'ACTIVE');
  assert.equal(statusOf({ waiting: [waiting(300)] }), 'ACTIVE');
  assert.equal(statusOf({ waiting: [waiting(301)] }), 'DEGRADED');
  // Its capacity is what is missing then.
  assert.equal(statusOf({ waiting: [waiting(301)], running: 1 }), 'ACTIVE');
  assert.equal(statusOf({ waiting: [waiting(301)], processes: [] }), 'INACTIVE');
  assert.match(
    problemsOf({ waiting: [waiting(301)] }).join(),
    /more than 5 minutes, and the agent runs nothing/,
  );
});

test('health counts jobs and slots, and says since when the oldest waits', () => {
  const { health } = healthOf({
    ...facts,
    processes: [process, { ...process, hostname: 'east-2', slots: 4 }],
    waiting: [waiting(10), waiting(60, { tool: 'opentofu', count: 1 })],
    running: 5,
  });
  assert.deepEqual(health, {
    lastContactAt: '2026-06-01T12:00:00.000Z',
    oldestQueuedAt: '2026-06-01T11:59:00.000Z',
    queued: 4,
    running: 5,
    slots: 6,
    problems: ['Jobs wait for it that it cannot run: install what opentofu needs on its machine.'],
  });
});

test('problems are sentences about what is wrong and what to do', () => {
  const withCondition = (condition: object) => [
    { ...process, condition: { clockAheadSeconds: 0, missingPrograms: [], folders: [], ...condition } },
  ];
  const space = (freeMegabytes: number) => ({
    folders: [{ what: 'work' as const, path: '/work', freeMegabytes, reserveMegabytes: 256 }],
  });
  for (const [more, expected] of [
    [{ processes: [], contactAt: null }, [/never started: create a secret/]],
    [{ processes: [] }, [/has not been heard from since 2026-06-01T12:00:00\.000Z: start it/]],
    [{ processes: [{ ...process, condition: null }] }, []],
    [{ processes: withCondition(space(1024)) }, []],
    [
      { processes: withCondition(space(1023)) },
      [/work folder \/work is nearly full: 1023 MB .* below 256 MB/],
    ],
    [{ processes: withCondition({ clockAheadSeconds: 40 }) }, []],
    [{ processes: withCondition({ clockAheadSeconds: 3600 }) }, [/clock is 3600 seconds ahead of/]],
    [{ processes: withCondition({ clockAheadSeconds: -41 }) }, [/clock is 41 seconds behind/]],
    [{ processes: withCondition({ missingPrograms: ['a', 'b'] }) }, [/no a, b and cannot download them/]],
    [{ processes: withCondition({ isDraining: true }) }, [/takes no further jobs, and ends after those/]],
    [
      { processes: withCondition({ memoryShortage: { availableMegabytes: 90, neededMegabytes: 256 } }) },
      [/begins no further jobs: 90 MB of memory are available, and it needs 256 MB/],
    ],
    [{ processes: [{ ...process, version: '1.1.9' }] }, [/version 1\.1\.9 is older than 1\.2\.0/]],
    [{ processes: [{ ...process, version: 'development' }] }, []],
    [
      {
        processes: [
          { ...process, isolation: { ...testIsolation, hasNamespaces: false, problem: 'no bwrap' } },
        ],
      },
      [/no namespaces of their own \(no bwrap\): install bubblewrap/],
    ],
  ] as const) {
    const problems = problemsOf(more as Partial<HealthFacts>);
    assert.equal(problems.length, expected.length, problems.join());
    for (const [at, pattern] of expected.entries()) assert.match(problems[at] ?? '', pattern);
  }
});

test('those who may not know the machines learn what is wrong, but not where', () => {
  const bad = {
    ...process,
    isolation: { ...testIsolation, hasNamespaces: false, problem: 'no bwrap at /opt' },
    condition: {
      clockAheadSeconds: 0,
      missingPrograms: [],
      folders: [{ what: 'spool' as const, path: '/srv/secret', freeMegabytes: 1, reserveMegabytes: 256 }],
    },
  };
  const processes = [bad, { ...bad, hostname: 'east-2' }];
  const shown = problemsOf({ processes });
  assert.equal(shown.length, 4);
  assert.match(shown.join(), /east-2: .*\/srv\/secret/);
  const hidden = problemsOf({ processes, showsMachines: false });
  assert.equal(hidden.length, 2);
  assert.doesNotMatch(hidden.join(), /east|secret|opt/);
});

test('a secret is named 14 days before its end, unless another one is in use', () => {
  const after = (days: number) => new Date(now.getTime() + days * 86_400_000);
  const secret = (expires_at: Date | null, last_used_at: Date | null = now) => ({ expires_at, last_used_at });
  const ends = (...secrets: HealthFacts['secrets']) =>
    problemsOf({ secrets }).filter((text) => text.startsWith('Its secret ends at'));
  assert.deepEqual(ends(secret(null), secret(after(14.1))), []);
  assert.deepEqual(ends(secret(after(13.9))), [
    'Its secret ends at 2026-06-15T09:36:00.000Z: create another one, start the agent with that, and delete the old one.',
  ]);
  assert.equal(ends(secret(after(1), after(-1)), secret(null)).length, 0, 'it was replaced');
  assert.equal(ends(secret(after(1)), secret(null, null)).length, 1, 'the other one is not used yet');
  assert.equal(ends(secret(after(1), null)).length, 1, 'an agent that was not started yet');
});

test('an agent without a valid secret says so where it is not in contact', () => {
  const [first] = problemsOf({ processes: [], secrets: [] });
  assert.equal(first, 'It has no valid secret: create one, and start it with that.');
  assert.match(problemsOf({ processes: [], secrets: [], contactAt: null }).join(), /never started/);
});
