/** Runs and kills at random, for a number of runs or a time; then the verdict. */
import { setTimeout as delay } from 'node:timers/promises';
import { toolsOfFamily } from '../family-tools.ts';
import { startMarks } from '../marks.ts';
import { countBy } from './count-by.ts';
import { type ChaosVictim, Installation, type Kill, victims } from './installation.ts';
import { findLeaks, findProcesses, idleOf, type Leak } from './leaks.ts';
import { Place, type PlaceView } from './load.ts';
import { createRandom } from './random.ts';

export interface ChaosOptions {
  readonly seed: number;
  /** The number of deployments after which it ends. */
  readonly runs: number;
  /** Starts none after this time. */
  readonly seconds: number;
  readonly environments: number;
  /** Mean time between two kills. */
  readonly killEverySeconds: number;
  /** Called when it is running, with what happens from then on. */
  readonly onStart?: (course: Course) => void;
  /** Called when all runs have ended. */
  readonly onIdle?: () => void;
}

/** Progress so far; changes while it runs. */
export interface Course {
  readonly seed: number;
  readonly seconds: number;
  readonly places: readonly PlaceView[];
  readonly kills: readonly Kill[];
  readonly startedAt: number;
}

export interface SoakVerdict {
  readonly seed: number;
  readonly seconds: number;
  readonly runs: number;
  readonly ended: ReadonlyMap<string, number>;
  readonly kills: ReadonlyMap<ChaosVictim, number>;
  readonly leaks: readonly Leak[];
  /** Whatever contradicts the law; empty: everything is right. */
  readonly complaints: readonly string[];
}

/** @throws Error if neither terraform nor OpenTofu is there, or the service does not start */
export async function runChaos(options: ChaosOptions): Promise<SoakVerdict> {
  const tools = (await toolsOfFamily()).filter(({ skip }) => skip === false);
  if (tools.length === 0)
    throw new Error('Neither terraform nor OpenTofu is there; put terraform on the PATH.');
  await using marks = await startMarks([]);
  await using installation = await Installation.start(tools, Math.ceil(options.environments / 2));
  const idle = await idleOf(installation);
  const kills: Kill[] = [];
  const complaints: string[] = [];
  const over = new AbortController();
  const startedAt = Date.now();
  let left = options.runs;
  const takeRun = () => {
    if (left === 0 || over.signal.aborted || Date.now() > startedAt + options.seconds * 1000) return false;
    left -= 1;
    return true;
  };
  const places = Array.from(
    { length: options.environments },
    (_, at) =>
      new Place({
        installation,
        marks,
        tool: tools[at % tools.length]!,
        name: `environment-${at + 1}`,
        // Both tools get such an environment.
        needsApproval: at % 5 < 2,
        random: createRandom(options.seed, `environment ${at}`),
        kills,
        takeRun,
        complain: (complaint) => complaints.push(complaint),
      }),
  );
  for (const place of places) await place.create();
  options.onStart?.({ seed: options.seed, seconds: options.seconds, places, kills, startedAt });
  const killing = killAtRandom(installation, kills, options, over.signal);
  const runs = places.map((place) =>
    place.run().catch((error: unknown) => {
      complaints.push((error as Error).stack ?? String(error));
      over.abort();
    }),
  );
  await Promise.all(runs);
  over.abort();
  await killing;
  options.onIdle?.();
  const leaks = await findLeaks(installation, idle);
  await installation.stop();
  leaks.push(await findProcesses(installation));
  const ended = countBy(places.flatMap(({ endings }) => endings.map(({ status }) => status as string)));
  return {
    seed: options.seed,
    seconds: Math.round((Date.now() - startedAt) / 1000),
    runs: [...ended.values()].reduce((sum, count) => sum + count, 0),
    ended,
    kills: countBy(kills.map(({ victim }) => victim)),
    leaks,
    complaints: [
      ...complaints,
      ...installation.problems.map((problem) => `it did not start again: ${problem}`),
      ...leaks.flatMap(({ what, leaked }) => (leaked.length === 0 ? [] : [`${what}: ${leaked.join('; ')}`])),
    ],
  };
}

async function killAtRandom(
  installation: Installation,
  kills: Kill[],
  { seed, killEverySeconds }: ChaosOptions,
  signal: AbortSignal,
): Promise<void> {
  const random = createRandom(seed, 'kills');
  const all = (Object.keys(victims) as ChaosVictim[]).flatMap((victim) =>
    Array<ChaosVictim>(victims[victim]).fill(victim),
  );
  while (!signal.aborted) {
    await delay(random.below(2000 * killEverySeconds), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const kill = await killSomething();
    if (kill !== null) kills.push(kill);
  }

  /** The chosen target may not exist right now, such as a tool between two runs: then, another is chosen. */
  async function killSomething(): Promise<Kill | null> {
    while (!signal.aborted) {
      const kill = await installation.kill(random.pick(all), random);
      if (kill !== null) return kill;
      await delay(50);
    }
    return null;
  }
}
