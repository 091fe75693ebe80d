/**
 * `npm run chaos`: deployments run on a scratch installation while its processes are killed at random, for two
 * minutes in front of a person's eyes; then the verdict.
 */
import { parseArgs } from 'node:util';
import { runChaos } from './chaos.ts';
import { painter, showCourse, verdictText } from './picture.ts';
import { newSeed } from './random.ts';

const usage = `Usage: npm run chaos -- [--minutes <n>] [--runs <n>] [--environments <n>] [--every <seconds>] [--seed <n>]

Deploys environments on a scratch installation, kills its processes at random, and compares every run with
docs/operate/recovery.md. Ends with status 1 if anything contradicts it.
  --minutes       starts no deployment after this time (default 2)
  --runs          ends after this number of deployments (default: no limit)
  --environments  how many there are at once (default 6)
  --every         mean time between two kills, in seconds (default 2)
  --seed          repeats the choices of an earlier call
`;

const text = { type: 'string' } as const;
const { values } = parseArgs({
  options: {
    minutes: text,
    runs: text,
    environments: text,
    every: text,
    seed: text,
    help: { type: 'boolean' },
  },
});

function numberOf(name: Exclude<keyof typeof values, 'help'>, otherwise: number): number {
  const value = values[name] === undefined ? otherwise : Number(values[name]);
  if (value > 0) return value;
  throw new Error(`--${name} is not a number above 0.\n\n${usage}`);
}

async function main(): Promise<void> {
  let endPicture = () => {};
  process.stdout.write('Starting a service with two agents on a scratch folder …\n\n');
  const verdict = await runChaos({
    seed: numberOf('seed', newSeed()),
    runs: numberOf('runs', Infinity),
    seconds: numberOf('minutes', 2) * 60,
    environments: numberOf('environments', 6),
    killEverySeconds: numberOf('every', 2),
    onStart: (course) => {
      endPicture = showCourse(process.stdout, course);
    },
    onIdle: () => {
      endPicture();
      process.stdout.write('\nLooking for what the runs have left behind …\n');
    },
  });
  process.stdout.write(verdictText(verdict, painter(process.stdout)));
  process.exitCode = verdict.complaints.length === 0 ? 0 : 1;
}

if (values.help) process.stdout.write(usage);
else
  await main().catch((error: unknown) => {
    process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
