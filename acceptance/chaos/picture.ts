/** Shows in a terminal what a soak does; without a terminal, as lines. */
import { styleText } from 'node:util';
import type { Course, SoakVerdict } from './chaos.ts';
import { countBy } from './count-by.ts';
import type { ChaosVictim, Kill } from './installation.ts';
import type { Ending, Requested } from './load.ts';

const refreshMilliseconds = 100;
const lineSeconds = 10;
const shownKills = 4;
const shownEndings = 24;
const widths = { name: 15, tool: 10, request: 13, phase: 30 } as const;

type Format = Parameters<typeof styleText>[0];
type Paint = (format: Format, text: string) => string;

/** Output: standard output. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** @returns what ends the picture */
export function showCourse(screen: Screen, course: Course): () => void {
  return screen.isTTY ? showPicture(screen, course) : showLines(screen, course);
}

function showPicture(screen: Screen, course: Course): () => void {
  let height = 0;
  const draw = () => {
    const lines = pictureOf(course, Date.now(), painter(screen));
    screen.write(
      `${height > 0 ? `\u001b[${height}A` : ''}${lines.map((line) => `\u001b[2K${line}\n`).join('')}`,
    );
    height = lines.length;
  };
  // Without the cursor and without wrapping: each line stays one.
  screen.write('\u001b[?25l\u001b[?7l');
  draw();
  const timer = setInterval(draw, refreshMilliseconds);
  return () => {
    clearInterval(timer);
    draw();
    screen.write('\u001b[?25h\u001b[?7h');
  };
}

function showLines(screen: Screen, course: Course): () => void {
  let shown = 0;
  const say = (text: string) => screen.write(`${text}\n`);
  const sayKills = () => {
    for (const kill of course.kills.slice(shown)) say(killLine(course, kill));
    shown = course.kills.length;
  };
  const kills = setInterval(sayKills, refreshMilliseconds);
  const counts = setInterval(() => say(countsLine(course)), lineSeconds * 1000);
  return () => {
    clearInterval(kills);
    clearInterval(counts);
    sayKills();
    say(countsLine(course));
  };
}

/** Colours where they are seen. */
export function painter({ isTTY }: Screen): Paint {
  return isTTY && process.env.NO_COLOR === undefined
    ? (format, text) => styleText(format, text, { validateStream: false })
    : (_, text) => text;
}

/** One line per environment, then the kills. */
export function pictureOf(course: Course, now: number, paint: Paint): string[] {
  const { seed, seconds, places, kills } = course;
  const head = `Envarium, killed at random: ${clock(now - course.startedAt)} of ${clock(seconds * 1000)}, seed ${seed}`;
  const newest = kills.slice(-shownKills).toReversed();
  return [
    paint('bold', head),
    '',
    ...places.map(({ name, tool, requested, endings }) =>
      [
        name.padEnd(widths.name),
        paint('dim', tool.padEnd(widths.tool)),
        requestOf(requested).padEnd(widths.request),
        phaseOf(requested, paint),
        endings
          .slice(-shownEndings)
          .map((each) => signOf(each, paint))
          .join(''),
      ].join(' '),
    ),
    '',
    countsLine(course),
    killCounts(kills),
    ...Array.from({ length: shownKills }, (_, at) => {
      const kill = newest[at];
      return kill === undefined ? '' : paint(at === 0 ? 'red' : 'dim', killLine(course, kill));
    }),
  ];
}

function requestOf(requested: Requested | null): string {
  return requested === null ? '' : `${requested.kind} ${requested.number}`;
}

function phaseOf(requested: Requested | null, paint: Paint): string {
  if (requested === null) return ''.padEnd(widths.phase);
  const { status, step } = requested;
  const text = status === 'IN_PROGRESS' && step !== '' ? step : status;
  const format: Format = status === 'SUCCESS' ? 'green' : status.endsWith('FAILURE') ? 'yellow' : 'cyan';
  return paint(format, text.padEnd(widths.phase));
}

function signOf({ status, isRight }: Ending, paint: Paint): string {
  if (!isRight) return paint('red', '✖');
  return status === 'SUCCESS' ? paint('green', '✔') : paint('yellow', '!');
}

function countsLine({ places }: Course): string {
  const counts = countBy(places.flatMap(({ endings }) => endings.map(({ status }) => status)));
  const wrong = places.flatMap(({ endings }) => endings).filter(({ isRight }) => !isRight).length;
  return `Runs   ${textOf(counts)}; contradictions to the law: ${wrong}`;
}

function killCounts(kills: readonly Kill[]): string {
  return `Kills  ${textOf(countBy(kills.map(({ victim }) => victim)))}`;
}

function killLine({ startedAt, places }: Course, { victim, at, environmentId }: Kill): string {
  const place = places.find(({ id }) => id === environmentId);
  const whose = place === undefined ? '' : ` of ${place.name}`;
  return `  ${clock(at - startedAt)} ${sentences[victim]}${whose}`;
}

const sentences: Readonly<Record<ChaosVictim, string>> = {
  server: 'the server was killed',
  agent: 'an agent was killed',
  runner: 'killed: the runner',
  tool: 'killed: the tool',
  git: 'killed: git',
  database: 'the database was killed',
  machine: 'everything was killed, and the machine booted again',
};

function textOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([what, count]) => `${what} ${count}`).join(', ') || 'none yet';
}

function clock(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** The verdict as a short table, and everything that is wrong. */
export function verdictText(verdict: SoakVerdict, paint: Paint): string {
  const { seed, seconds, runs, ended, kills, leaks, complaints } = verdict;
  const rows: [string, string][] = [
    ['Seed', String(seed)],
    ['Time', clock(seconds * 1000)],
    ['Runs', `${runs}: ${textOf(ended)}`],
    ['Kills', `${[...kills.values()].reduce((sum, count) => sum + count, 0)}: ${textOf(kills)}`],
    [
      'Left behind',
      textOf(
        new Map(
          leaks.filter(({ leaked }) => leaked.length > 0).map(({ what, leaked }) => [what, leaked.length]),
        ),
      ).replace('none yet', 'nothing'),
    ],
    ['Looked for', leaks.map(({ what }) => what).join(', ')],
  ];
  const isRight = complaints.length === 0;
  const sentence = isRight
    ? paint('green', 'Right: none stuck, none lost, none doubled, nothing leaked.')
    : paint('red', `Wrong in ${complaints.length} ways; --seed ${seed} repeats the choices:`);
  return [
    '',
    ...rows.map(([name, text]) => `${paint('bold', name.padEnd(12))} ${text}`),
    '',
    sentence,
    ...complaints.map((complaint) => `  ${complaint}`),
    '',
  ].join('\n');
}
