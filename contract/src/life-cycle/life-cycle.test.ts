import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { lifeCyclePage } from '../documents/life-cycle-page.ts';
import {
  type DeploymentStatus,
  type DeploymentType,
  deploymentStatuses,
  deploymentTypes,
  type EnvironmentStatus,
  environmentStatuses,
} from '../schema/enumerations.ts';
import {
  activeStatuses,
  canMove,
  type DeploymentEvent,
  deploymentMoves,
  environmentAccepts,
  environmentStatusOf,
  isActive,
  isTerminal,
  moveBy,
  openStatuses,
  permits,
  restingStatusAfter,
  serialTypes,
  speakerOf,
  speaksForEnvironment,
  terminalStatuses,
} from './life-cycle.ts';

const births = deploymentMoves.filter(({ from }) => from === null).map(({ event }) => event);
const events = [...new Set(deploymentMoves.map(({ event }) => event))];

describe('life cycle of a deployment', () => {
  it('divides the statuses into terminal and open ones', () => {
    assert.deepEqual([...terminalStatuses, ...openStatuses].sort(), [...deploymentStatuses].sort());
    assert.deepEqual(deploymentStatuses.filter(isTerminal).sort(), [...terminalStatuses].sort());
  });

  it('has no move out of a terminal status and at least one out of every other', () => {
    for (const status of deploymentStatuses) {
      assert.equal(
        deploymentMoves.some(({ from }) => from === status),
        !isTerminal(status),
        status,
      );
    }
  });

  it('leads an event of a status to one place only', () => {
    const keys = deploymentMoves.map(({ from, event }) => `${from} ${event}`);
    assert.equal(new Set(keys).size, keys.length);
  });

  it('reaches every status, and from every open one an end', () => {
    const reach = (from: (DeploymentStatus | null)[]): Set<DeploymentStatus | null> => {
      const found = new Set(from);
      for (const status of found)
        for (const move of deploymentMoves) if (move.from === status) found.add(move.to);
      return found;
    };
    assert.deepEqual(
      [...reach([null])].filter((status) => status !== null).sort(),
      [...deploymentStatuses].sort(),
    );
    for (const status of openStatuses)
      assert.ok(
        [...reach([status])].some((found) => found !== null && isTerminal(found)),
        status,
      );
  });

  it('lets a person approve what waits, cancel what waits or is queued, and abort what runs', () => {
    assert.deepEqual(
      deploymentStatuses.filter((status) => permits(status, 'approve')),
      ['WAITING_FOR_USER'],
    );
    assert.deepEqual(
      deploymentStatuses.filter((status) => permits(status, 'cancel')),
      ['WAITING_FOR_USER', 'QUEUED'],
    );
    assert.deepEqual(
      deploymentStatuses.filter((status) => permits(status, 'abort')),
      ['IN_PROGRESS'],
    );
  });

  it('moves only along the table, whatever happens in whatever order', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...births),
        fc.array(fc.constantFrom(...events), { maxLength: 30 }),
        (birth, happenings) => {
          let status = moveBy(null, birth) as DeploymentStatus;
          for (const event of happenings) {
            const next = moveBy(status, event as DeploymentEvent);
            if (next === undefined) continue;
            assert.ok(!isTerminal(status), `${status} is the end, and ${event} led to ${next}`);
            assert.ok(canMove(status, next));
            status = next;
          }
          assert.ok(deploymentStatuses.includes(status));
        },
      ),
    );
  });
});

interface Run {
  type: DeploymentType;
  status: DeploymentStatus;
}

/** An environment that follows its rules: one active serial deployment, the others queued behind it. */
function walk(
  happenings: readonly { run: number; type: DeploymentType; event: DeploymentEvent; isNew: boolean }[],
) {
  const runs: Run[] = [];
  let resting: EnvironmentStatus = 'NEVER_DEPLOYED';
  const serial = (run: Run) => (serialTypes as readonly string[]).includes(run.type);
  const conclude = (run: Run, to: DeploymentStatus) => {
    run.status = to;
    resting = restingStatusAfter(resting, run);
  };
  const statusNow = () => {
    return environmentStatusOf({ latest: speakerOf(runs), resting, isArchived: false });
  };
  const seen: EnvironmentStatus[] = [statusNow()];
  for (const { run: index, type, event, isNew } of happenings) {
    const isBusy = runs.some((run) => serial(run) && isActive(run.status));
    if (isNew)
      runs.push({
        type,
        status: isBusy && (serialTypes as readonly string[]).includes(type) ? 'QUEUED' : 'IN_PROGRESS',
      });
    const run = runs[index % Math.max(1, runs.length)];
    const to = run && moveBy(run.status, event);
    if (run && to && !(event === 'start' && isBusy)) conclude(run, to);
    seen.push(statusNow());
  }
  return { seen, resting, runs };
}

const happenings = fc.array(
  fc.record({
    run: fc.nat(20),
    type: fc.constantFrom(...deploymentTypes),
    event: fc.constantFrom(...events),
    isNew: fc.boolean(),
  }),
  { maxLength: 40 },
);

describe('status of an environment', () => {
  it('is a value of the enumeration through any walk, and rests only in quiet ones', () => {
    const quiet: readonly EnvironmentStatus[] = [
      'NEVER_DEPLOYED',
      'ACTIVE',
      'INACTIVE',
      'FAILED',
      'TIMEOUT',
      'ABORTED',
    ];
    fc.assert(
      fc.property(happenings, (list) => {
        const { seen, resting, runs } = walk(list);
        for (const status of seen) assert.ok(environmentStatuses.includes(status), status);
        assert.ok(quiet.includes(resting));
        if (runs.every((run) => isTerminal(run.status) || !speaksForEnvironment(run.type)))
          assert.equal(seen.at(-1), resting);
      }),
    );
  });

  it('follows the active deployment, then the next in the queue, then the newest', () => {
    const run = (status: DeploymentStatus, type: DeploymentType = 'deploy') => ({ type, status });
    const [queued, cancelled, waiting, drift] = [
      run('QUEUED'),
      run('CANCELLED', 'destroy'),
      run('WAITING_FOR_USER'),
      run('IN_PROGRESS', 'driftDetection'),
    ];
    assert.equal(speakerOf([queued, waiting, cancelled, drift]), waiting);
    assert.equal(speakerOf([queued, cancelled, drift]), queued);
    assert.equal(speakerOf([run('SUCCESS'), cancelled, drift]), cancelled);
    assert.equal(speakerOf([drift]), null);
  });

  it('is left alone by plans and drift runs', () => {
    for (const type of ['prPlan', 'driftDetection', 'remotePlan', 'moduleTest'] as const) {
      for (const status of deploymentStatuses) {
        assert.equal(
          environmentStatusOf({ latest: { type, status }, resting: 'ACTIVE', isArchived: false }),
          'ACTIVE',
        );
        assert.equal(restingStatusAfter('ACTIVE', { type, status }), 'ACTIVE');
      }
    }
  });

  it('says what runs, who is waited for, and how it ended', () => {
    const of = (type: DeploymentType, status: DeploymentStatus, resting: EnvironmentStatus = 'ACTIVE') =>
      environmentStatusOf({ latest: { type, status }, resting, isArchived: false });
    assert.equal(of('deploy', 'QUEUED'), 'DEPLOY_IN_PROGRESS');
    assert.equal(of('destroy', 'IN_PROGRESS'), 'DESTROY_IN_PROGRESS');
    assert.equal(of('task', 'IN_PROGRESS'), 'TASK_IN_PROGRESS');
    assert.equal(of('dryRun', 'IN_PROGRESS'), 'DRY_RUN_IN_PROGRESS');
    assert.equal(of('deploy', 'WAITING_FOR_USER'), 'WAITING_FOR_USER');
    assert.equal(of('deploy', 'SUCCESS', 'FAILED'), 'ACTIVE');
    assert.equal(of('destroy', 'SUCCESS'), 'INACTIVE');
    assert.equal(of('destroy', 'FAILURE'), 'FAILED');
    assert.equal(of('deploy', 'INTERNAL_FAILURE'), 'FAILED');
    assert.equal(of('deploy', 'TIMEOUT'), 'TIMEOUT');
    assert.equal(of('deploy', 'ABORTED'), 'ABORTED');
  });

  it('goes back to what stood before where a deployment is cancelled, skipped or only a task', () => {
    for (const resting of ['ACTIVE', 'INACTIVE', 'NEVER_DEPLOYED', 'FAILED'] as const) {
      assert.equal(
        environmentStatusOf({ latest: { type: 'deploy', status: 'CANCELLED' }, resting, isArchived: false }),
        resting,
      );
      assert.equal(
        environmentStatusOf({ latest: { type: 'deploy', status: 'SKIPPED' }, resting, isArchived: false }),
        resting,
      );
      assert.equal(
        environmentStatusOf({ latest: { type: 'task', status: 'FAILURE' }, resting, isArchived: false }),
        resting,
      );
    }
  });

  it('is INACTIVE while archived, and what it rests in without any deployment', () => {
    assert.equal(
      environmentStatusOf({
        latest: { type: 'deploy', status: 'SUCCESS' },
        resting: 'ACTIVE',
        isArchived: true,
      }),
      'INACTIVE',
    );
    assert.equal(
      environmentStatusOf({ latest: null, resting: 'NEVER_DEPLOYED', isArchived: false }),
      'NEVER_DEPLOYED',
    );
  });

  it('decides what can be started', () => {
    const facts = (status: EnvironmentStatus) => ({ status, isLocked: false, isArchived: false });
    for (const status of environmentStatuses) {
      assert.ok(environmentAccepts(facts(status), 'deploy'), status);
      assert.ok(!environmentAccepts({ ...facts(status), isLocked: true }, 'deploy'), status);
    }
    for (const status of ['INACTIVE', 'NEVER_DEPLOYED', 'DESTROY_IN_PROGRESS'] as const)
      assert.ok(!environmentAccepts(facts(status), 'destroy'), status);
    assert.ok(environmentAccepts(facts('FAILED'), 'destroy'));
    assert.ok(environmentAccepts({ ...facts('INACTIVE'), isArchived: true }, 'deploy'));
    assert.ok(!environmentAccepts({ ...facts('INACTIVE'), isArchived: true }, 'plan'));
  });
});

describe('page of the life cycles', () => {
  it('prints every move and every status', () => {
    const page = lifeCyclePage();
    for (const { event, when } of deploymentMoves)
      assert.ok(page.includes(`| ${event} |`) && page.includes(when), event);
    for (const status of [...deploymentStatuses, ...environmentStatuses])
      assert.ok(page.includes(`| ${status} |`), status);
    assert.ok(page.includes('stateDiagram-v2') && page.includes('[*] --> QUEUED: enqueue'));
    assert.ok(activeStatuses.every((status) => page.includes(status)));
  });
});
