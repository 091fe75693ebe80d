/** Prints and stores the results. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Table from 'cli-table3';
import type { Machine } from './machine.ts';
import type { BenchResult, Figure, Unit } from './measure/figure.ts';

const folder = fileURLToPath(new URL('./results', import.meta.url));
const page = fileURLToPath(new URL('../docs/operate/performance.md', import.meta.url));
const pageBegin = '<!-- figures: written by npm run bench -- --page -->';
const pageEnd = '<!-- figures: end -->';

export interface Recorded extends BenchResult {
  readonly bench: string;
  readonly at: string;
  readonly seconds: number;
  readonly machine: Machine;
}

const digits: Record<Unit, number> = {
  ms: 0,
  MB: 0,
  '×': 2,
  'requests/s': 0,
  'per second': 2,
  bytes: 0,
  points: 0,
};

/** A value for people to read, without its unit. */
export function inUnit(value: number, unit: Unit): string {
  const isFine = unit === 'ms' || unit === 'MB';
  if (isFine && Math.abs(value) < 1) return value.toFixed(2);
  return value.toFixed(isFine && Math.abs(value) < 10 ? 1 : digits[unit]);
}

function row(bench: string, { name, unit, count, ...values }: Figure): string[] {
  const { median, minimum, maximum, p99 } = values;
  return [
    bench,
    name,
    unit,
    ...[median, minimum, maximum, p99].map((value) => inUnit(value, unit)),
    String(count),
  ];
}

export function asTable(recorded: readonly Recorded[]): string {
  const table = new Table({
    head: ['bench', 'figure', 'unit', 'median', 'min', 'max', 'p99', 'count'],
    style: { head: [], border: [] },
    colAligns: ['left', 'left', 'left', 'right', 'right', 'right', 'right', 'right'],
  });
  for (const { bench, figures } of recorded) table.push(...figures.map((each) => row(bench, each)));
  return table.toString();
}

/** Parts of a duration by phase, which are printed and stored, but are not on the page. */
const isPart = /^(own|difference): /;

function line(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function figureLines({ bench, figures }: Recorded): string[] {
  const shown = figures.filter(({ name }) => !isPart.test(name));
  return shown.map((each) => {
    const [, name = '', unit = '', median = '', ...others] = row(bench, each);
    return line([bench, name, `**${median} ${unit}**`, ...others]);
  });
}

function circumstances({ bench, at, seconds, machine, settings }: Recorded): string {
  const settled = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  const began = at.slice(0, 16).replace('T', ' ');
  return line([bench, began, `${seconds} s`, String(machine.loadBefore), settled.join('; ')]);
}

/** Replaces the figures on the documentation page. @returns the page's path */
export async function writePage(recorded: readonly Recorded[]): Promise<string> {
  const { processor, cores, memoryGiB, kernel, node, terraform, git } = (recorded[0] as Recorded).machine;
  const machine = `Machine: ${processor}, ${cores} cores, ${memoryGiB} GiB, ${kernel}; Node ${node}, ${terraform}, ${git}.`;
  const text = [
    ...[pageBegin, '', machine, ''],
    '| Benchmark | Figure | Median | Min | Max | p99 | Samples |',
    '|---|---|---|---|---|---|---|',
    ...recorded.flatMap(figureLines),
    '',
    '| Benchmark | Began (UTC) | Took | Load before | With |',
    '|---|---|---|---|---|',
    ...recorded.map(circumstances),
    ...['', pageEnd],
  ].join('\n');
  const before = await readFile(page, 'utf8');
  const [head, rest] = before.split(pageBegin);
  const tail = rest?.split(pageEnd)[1];
  if (head === undefined || tail === undefined)
    throw new Error(`${page} no longer has the two comments around its figures`);
  await writeFile(page, `${head}${text}${tail}`);
  return page;
}

/** The results of one day, and where they are. */
export interface StoredResults {
  readonly file: string;
  readonly all: readonly Recorded[];
}

const keptDays = 2;

/** The text of a file of results: one line for a benchmark and one for each of its figures. */
export function resultsText(all: readonly Recorded[]): string {
  const texts = all.map(({ figures, ...about }) => {
    const lines = figures.map((each) => JSON.stringify(each)).join(',\n');
    return `${JSON.stringify(about).slice(0, -1)},"figures":[\n${lines}\n]}`;
  });
  return `[${texts.join(',\n')}]\n`;
}

/** Stores a result with the others of the day; it replaces an earlier one of the same benchmark. Older days are removed. */
export async function keep(recorded: Recorded): Promise<StoredResults> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${new Date().toISOString().slice(0, 10)}.json`);
  const before = existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Recorded[]) : [];
  const others = before.filter(({ bench }) => bench !== recorded.bench);
  const all = [...others, recorded].toSorted((left, right) => left.bench.localeCompare(right.bench));
  await writeFile(file, resultsText(all));
  const days = (await readdir(folder)).toSorted();
  for (const day of days.slice(0, -keptDays)) await rm(join(folder, day));
  return { file, all };
}
