/**
 * Phrases that read as a translation, each with what to write instead, and how many lines of each room still
 * have one. `npm run english -- server/src/runs/state` lists the lines below a path.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { generators } from '../generate/generators.ts';
import { repositoryFiles, root, textOf } from '../tree/repository.ts';

export interface Habit {
  readonly pattern: RegExp;
  readonly instead: string;
}

/** The habits of CONTRIBUTING.md, section "English", as far as a pattern can find them. */
export const habits: readonly Habit[] = [
  {
    pattern:
      /(?<!\b[Tt]here )\b(?:is|are|was|were|be) (?:no (?!(?:longer|more|less|later|earlier|better|other|one)\b)\w|none\b)/,
    instead: 'is not a …',
  },
  { pattern: /\b(?:holds|waits|runs|lasts) (?:\S+ ){0,4}since\b/, instead: 'has held … since' },
  { pattern: /\bby (?:it|them|him)sel(?:f|ves)\b|\bown accord\b/, instead: 'automatically, on its own' },
  { pattern: /\banew\b/, instead: 'again' },
  { pattern: /\bfor ever\b/, instead: 'forever' },
  { pattern: /\bso many\b(?! that)/, instead: 'at most this many' },
  {
    pattern:
      /(?:^|[.;:*|'`(]|\/\/)\s*(?:Whoever|[Ww]hat (?:is|was|has|had|can|may|must|does|cannot) ?(?:not (?:given|set|sent|named|said)))\b/,
    instead: 'name the subject: "Callers without …", "Omitted settings are unchanged"',
  },
  {
    pattern: /\b(?:is|are|was|were|be|been|unless|when|where|if|as) told\b/,
    instead: 'is reported, declared, shown; unless specified',
  },
  { pattern: /\b(?:is|are|was|were|be|been) asked for\b/, instead: 'is requested' },
  { pattern: /\b(?:is|are|was|were|be|been|not) looked (?:at|for)\b/, instead: 'is checked, searched for' },
  {
    pattern: /\b(?:ends?|ended|longest|end of|its|the|their|new) (?:life|lives)\b(?!.?cycle)/,
    instead: 'lifetime, expires',
  },
  { pattern: /\bbeside\b/, instead: 'next to, alongside, besides' },
  {
    pattern: /\bstands? (?:in(?! for)|below|before|behind|there|here|at|on)\b|\bstood (?:in|there)\b/,
    instead: 'is',
  },
  {
    pattern: /\blies? (?:in|below|on|there|outside|at|under|above|here)\b|\blay (?:in|below)\b/,
    instead: 'is',
  },
  { pattern: /\b(?:go(?:es|ing)?|went) on\b/, instead: 'continue' },
  { pattern: /\b(?:bring(?:s|ing)?|brought)(?: \w+)? back\b/, instead: 'restore' },
  { pattern: /\b[Ff]rom where\b|\bwhereto\b/, instead: 'where … from' },
  { pattern: /\bbe had\b/, instead: 'be obtained' },
  { pattern: /\b[Nn]ot set:/, instead: 'Default: …' },
  { pattern: /\b(?:is|are|was|were|has|have|been|until) freed\b|\bfrees\b/, instead: 'unlock, release' },
  { pattern: /\b(?:takes?|is|are|runs?|used) no more\b(?! than)/, instead: 'no longer' },
  { pattern: /\b(?:in|out of) reach\b/, instead: 'reachable, unreachable' },
  { pattern: /\b[Ww]hat (?:becomes|became|comes|came) of\b/, instead: 'the result of, what happens to' },
  { pattern: /\b(?:said|done|seen|used) of late\b/, instead: 'recently, latest' },
];

/** A line that has a habit, as `file:line`, with what to write instead. */
export interface HabitLine {
  readonly file: string;
  readonly place: string;
  readonly line: string;
  readonly instead: string;
}

/** Generated pages repeat their sources; these two files quote the habits. */
const excepted = new Set([
  ...generators.map(({ file }) => file),
  'tools/house/english.ts',
  'tools/house/english.test.ts',
]);

/** Without the section that shows the habits, its lines kept so that line numbers hold. */
function withoutExamples(file: string, text: string): string {
  if (file !== 'CONTRIBUTING.md') return text;
  return text.replace(/^## English\n[^]*?(?=^## |(?![^]))/m, (section) => section.replaceAll(/.+/g, ''));
}

/** Replacement for a phrase of this line, or undefined if it has none of the habits. */
export function insteadOf(line: string): string | undefined {
  return habits.find(({ pattern }) => pattern.test(line))?.instead;
}

/** The lines with a habit, in the order of the files. */
export function findings(): HabitLine[] {
  return repositoryFiles()
    .filter((file) => /\.(?:ts|mjs|md|sql|sh)$/.test(file))
    .filter((file) => !excepted.has(file) && !file.includes('__fixtures__/'))
    .flatMap((file) =>
      withoutExamples(file, textOf(file) ?? '')
        .split('\n')
        .flatMap((line, index) => {
          const instead = insteadOf(line);
          return instead === undefined
            ? []
            : [{ file, place: `${file}:${index + 1}`, line: line.trim(), instead }];
        }),
    );
}

/** `markdown` for pages, else the top folder. */
export function roomOf(file: string): string {
  return file.endsWith('.md') ? 'markdown' : (file.split('/')[0] ?? '');
}

/** Lines that each room may still have; a room that is not listed may have none. */
export function allowedLines(): Map<string, number> {
  const rows = (textOf('tools/house/english.txt') ?? '').matchAll(/^(\w+) +(\d+)$/gm);
  const allowed = new Map<string, number>();
  // Git merges this file by keeping the lines of both sides; the greater one is lowered by the generator.
  for (const [, room = '', count] of rows) allowed.set(room, Math.max(Number(count), allowed.get(room) ?? 0));
  return allowed;
}

/** tools/house/english.txt: the numbers of today, never above those that the file has. */
export function englishTable(): string {
  const found = Map.groupBy(findings(), ({ file }) => roomOf(file));
  const rows = Array.from(allowedLines(), ([room, allowed]) => {
    const count = Math.min(allowed, found.get(room)?.length ?? 0);
    return count > 0 ? [`${room.padEnd(12)}${String(count).padStart(4)}`] : [];
  }).flat();
  return [
    'Lines that still have a habit of english.ts, by room: "npm run generate" lowers them.',
    '',
    ...rows,
  ].join('\n');
}

/** Findings as lines of text, those of the files that changed last first. */
export function listed(found: readonly HabitLine[]): string {
  const changed = new Map(found.map(({ file }) => [file, statSync(join(root, file)).mtimeMs]));
  return found
    .toSorted((a, b) => (changed.get(b.file) ?? 0) - (changed.get(a.file) ?? 0))
    .map(({ place, instead, line }) => `${place}  [${instead}]  ${line.slice(0, 160)}`)
    .join('\n');
}
