/**
 * The version that a file next to the code requests: exact versions, and the words that tfenv and tofuenv
 * use.
 */
import { valid } from 'semver';
import type { RequestedVersion } from './choose-tool.ts';

const longestShown = 100;

// The pattern comes from a repository: it can repeat only at its end, so that matching is fast.
const pattern = /^\^?(?:[0-9]|\\?\.|\[[0-9]+(?:-[0-9]+)?\]){1,40}[*+]?\$?$/;

/**
 * @param text of the file; its first line that is neither empty nor a comment counts
 * @param file for messages
 * @throws Error that names the file and its text if that is not a version
 */
export function readVersionFile(text: string, file: string): RequestedVersion {
  const by = `the file ${file}`;
  const said = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/#.*/, '').trim())
    .find((line) => line !== '');
  if (said === undefined) throw new Error(`${by} is empty: ${howToSay}, or remove it`);
  if (said === 'latest') return { kind: 'latest', by };
  if (said === 'min-required') return { kind: 'code', by };
  if (said === 'latest-allowed') return { kind: 'code', by, takes: 'newest' };
  const like = /^latest:(.*)$/.exec(said)?.[1]?.trim();
  if (like !== undefined) return { kind: 'latest', by, like: patternOf(like, by) };
  const version = valid(said);
  if (version === null) throw new Error(`${by} says ${shown(said)}, which is not a version: ${howToSay}`);
  return { kind: 'exact', version, by };
}

const howToSay = 'use an exact one such as 1.9.8, latest, latest:^1.9, min-required or latest-allowed';

function patternOf(like: string, by: string): RegExp {
  if (pattern.test(like)) {
    try {
      return new RegExp(like);
    } catch {
      // For example [9-1].
    }
  }
  throw new Error(
    `${by} says ${shown(`latest:${like}`)}, which cannot be read: latest: is followed by the beginning of a version such as ^1.9`,
  );
}

function shown(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}
