import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeTimeline, type TimedCommand, type TimelineFacts } from './compose-timeline.ts';

const ours = (milliseconds: number) => new Date(Date.UTC(2026, 0, 1) + milliseconds);
/** The agent's clock is an hour ahead of the service's. */
const theirs = (milliseconds: number) => ours(3_600_000 + milliseconds);

const command = (
  [step, label]: readonly [string, string],
  [from, to]: readonly [number, number],
  more: Partial<TimedCommand> = {},
): TimedCommand => ({
  step,
  label,
  program: label.split(' ')[0] ?? '',
  at: theirs(to).toISOString(),
  milliseconds: to - from,
  ...more,
});

const facts: TimelineFacts = {
  id: 'd',
  queuedAt: ours(0),
  startedAt: ours(0),
  finishedAt: ours(1000),
  isApprovalNeeded: true,
  attempts: [
    {
      phase: 'plan',
      createdAt: ours(10),
      firstClaimedAt: ours(30),
      claimedAt: ours(30),
      endedAt: ours(430),
      receivedAt: theirs(35),
      sentAt: theirs(415),
    },
  ],
  steps: [
    { name: 'clone', phase: 'checkout', run: 'plan', startedAt: theirs(60), completedAt: theirs(100) },
    { name: 'plan', phase: 'plan', run: 'plan', startedAt: theirs(105), completedAt: theirs(400) },
  ],
  commands: [
    command(['clone', 'git clone'], [70, 95]),
    command(['plan', 'terraform plan'], [110, 300], { cpuMilliseconds: 150 }),
    command(['plan', 'terraform show'], [310, 390], { isReading: true }),
  ],
};

const rows = (found: TimelineFacts) =>
  composeTimeline(found).phases.map(
    ({ run = '', phase, milliseconds, toolMilliseconds, gitMilliseconds, waitingMilliseconds }) => [
      `${run} ${phase}`.trim(),
      milliseconds,
      toolMilliseconds,
      gitMilliseconds,
      waitingMilliseconds,
    ],
  );

test('a plan that waits is divided into its phases, whatever the difference between the two clocks', () => {
  assert.deepEqual(rows({ ...facts, finishedAt: null }), [
    ['request', 10, 0, 0, 0],
    ['plan claim', 20, 0, 0, 0],
    ['plan start', 25, 0, 0, 0],
    ['plan checkout', 40, 0, 25, 0],
    ['plan plan', 200, 190, 0, 0],
    ['plan reading', 100, 80, 0, 0],
    ['plan end', 35, 0, 0, 0],
  ]);
});

test('the phases of a deployment add up to the time from its request to its end', () => {
  const apply = { phase: 'apply', createdAt: ours(900), firstClaimedAt: ours(905) } as const;
  const timeline = composeTimeline({
    ...facts,
    attempts: [
      ...facts.attempts,
      {
        ...apply,
        claimedAt: ours(905),
        endedAt: ours(1000),
        receivedAt: theirs(910),
        sentAt: theirs(990),
      },
    ],
    steps: [
      ...facts.steps,
      { name: 'apply', phase: 'apply', run: 'apply', startedAt: theirs(920), completedAt: theirs(980) },
    ],
    commands: [...facts.commands, command(['apply', 'terraform apply'], [925, 975])],
  });
  assert.deepEqual(
    [
      timeline.milliseconds,
      timeline.toolMilliseconds,
      timeline.gitMilliseconds,
      timeline.waitingMilliseconds,
      timeline.ownMilliseconds,
    ],
    [1000, 320, 25, 470, 185],
  );
  assert.deepEqual(timeline.commands[1], {
    step: 'plan',
    label: 'terraform plan',
    program: 'terraform',
    milliseconds: 190,
    cpuMilliseconds: 150,
  });
});

test('commands that run at the same time count once', () => {
  const commands = [command(['clone', 'git lfs'], [70, 95]), command(['clone', 'ssh host'], [80, 90])];
  const [, , , checkout] = rows({ ...facts, commands });
  assert.deepEqual(checkout, ['plan checkout', 40, 10, 15, 0]);
});

test('attempts that were lost, and a wait behind other deployments, are phases of their own', () => {
  const [attempt] = facts.attempts;
  assert.ok(attempt);
  const found = rows({
    ...facts,
    queuedAt: ours(-500),
    attempts: [{ ...attempt, firstClaimedAt: ours(20) }],
    finishedAt: null,
  });
  assert.deepEqual(found.slice(0, 4), [
    ['queue', 500, 0, 0, 500],
    ['request', 10, 0, 0, 0],
    ['plan claim', 10, 0, 0, 0],
    ['plan lost', 10, 0, 0, 0],
  ]);
});

test('without the times of its agent, an attempt still adds up', () => {
  const attempts = facts.attempts.map((each) => ({ ...each, receivedAt: null, sentAt: null }));
  const found = rows({ ...facts, attempts, finishedAt: null });
  assert.deepEqual(found.at(-1), ['plan end', 60, 0, 0, 0]);
  assert.deepEqual(rows({ ...facts, attempts, steps: [], finishedAt: null }).slice(2), [
    ['plan end', 400, 0, 0, 0],
  ]);
});

test('a deployment that has only been requested has no time of a run yet', () => {
  assert.deepEqual(rows({ ...facts, attempts: [], steps: [], commands: [], finishedAt: null }), [
    ['request', 0, 0, 0, 0],
  ]);
});
