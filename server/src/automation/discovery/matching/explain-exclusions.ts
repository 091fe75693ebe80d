/** Finds the part of a glob that excludes a file. Runs in a thread. */
import { compileGlob } from './compile-glob.ts';
import type { Explanations } from './match-tasks.ts';
import { type Negation, negationsOf } from './negations.ts';

type Matcher = (path: string) => boolean;

/** Of a glob: each needs a glob of its own. */
const mostNegations = 50;
const longestQuote = 200;

function quote(part: string): string {
  return `"${part.length > longestQuote ? `${part.slice(0, longestQuote - 1)}…` : part}"`;
}

/** Compiled when a file needs it first; null for a glob that is not valid. */
function lazily(globPattern: string, matchesHidden = false): () => Matcher {
  let matcher: Matcher | undefined;
  return () => (matcher ??= compileOrNever(globPattern, matchesHidden));
}

function compileOrNever(globPattern: string, matchesHidden: boolean): Matcher {
  try {
    return compileGlob(globPattern, { matchesHidden });
  } catch {
    return () => false;
  }
}

/** A way to change a glob so that it excludes less, and the sentence for files that it then matches. */
interface Explanation {
  readonly isMatch: () => Matcher;
  readonly reason: (file: string) => string;
}

/** A character that no path has, because such files are passed over. */
const never = '\u0001';

/**
 * A list of a negation that excludes nothing. The library compiles negations with slashes, or with wildcards, in other
 * ways.
 */
function emptied({ text }: Negation): string {
  return `!(${never}${text.includes('/') ? '/' : ''}${text.includes('*') ? '*' : ''})`;
}

function explanationsOf(globPattern: string): Explanation[] {
  const negations = negationsOf(globPattern).slice(0, mostNegations);
  const without = (changes: ReadonlyMap<Negation, string>) => {
    let [changed, at] = ['', 0];
    for (const [{ start, end }, text] of changes) {
      changed += globPattern.slice(at, start) + text;
      at = end;
    }
    return changed + globPattern.slice(at);
  };
  const single = negations.flatMap((negation): Explanation[] => [
    ...negation.alternatives.flatMap((alternative, index): Explanation[] => {
      if (negation.alternatives.length === 1) return [];
      const others = negation.alternatives.toSpliced(index, 1).join('|');
      return [
        {
          isMatch: lazily(without(new Map([[negation, `!(${others})`]]))),
          reason: (file) =>
            `${quote(alternative)} in ${quote(negation.text)} of globPattern excludes ${file}`,
        },
      ];
    }),
    {
      isMatch: lazily(without(new Map([[negation, emptied(negation)]]))),
      reason: (file) => `${quote(negation.text)} in globPattern excludes ${file}`,
    },
  ]);
  const all: Explanation = {
    isMatch: lazily(without(new Map(negations.map((each) => [each, emptied(each)])))),
    reason: (file) =>
      `${negations.map(({ text }) => quote(text)).join(' and ')} in globPattern exclude ${file}`,
  };
  const hidden: Explanation = {
    isMatch: lazily(globPattern, true),
    reason: (file) =>
      `${file} has a name that begins with a dot, which wildcards of globPattern do not match: write the dot`,
  };
  return [...single, ...(negations.length > 1 ? [all] : []), hidden, ...wholeNegation(globPattern)];
}

/** A glob that begins with "!" matches all files but those of the rest. */
function wholeNegation(globPattern: string): Explanation[] {
  const [, rest] = /^!(?!\()(.+)$/.exec(globPattern) ?? [];
  if (rest === undefined) return [];
  const reason = (file: string) =>
    `globPattern begins with "!" and therefore excludes all files that the rest of it matches, including ${file}`;
  return [{ isMatch: lazily(rest), reason }];
}

/** @param files lists of files that the glob does not match; each list gets one explanation */
export function explainExclusions(globPattern: string, files: readonly (readonly string[])[]): Explanations {
  const explanations = explanationsOf(globPattern);
  return files.map((list) => {
    for (const file of list) {
      const found = explanations.find(({ isMatch }) => isMatch()(file));
      if (found !== undefined) return { file, reason: found.reason(file) };
    }
    const [file = ''] = list;
    return { file, reason: `no alternative of globPattern matches ${file}` };
  });
}
