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
  const request = text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.replace(/#.*/, '').trim())
    .find((line) => line !== '');
  if (request === undefined) throw new Error(`${by} is empty: ${advice}, or remove it`);
  if (request === 'latest') return { kind: 'latest', by };
  if (request === 'min-required') return { kind: 'code', by };
  if (request === 'latest-allowed') return { kind: 'code', by, takes: 'newest' };
  const like = /^latest:(.*)$/.exec(request)?.[1]?.trim();
  if (like !== undefined) return { kind: 'latest', by, like: patternOf(like, by) };
  const version = valid(request);
  if (version === null)
    throw new Error(`${by} contains ${shown(request)}, which is not a version: ${advice}`);
  return { kind: 'exact', version, by };
}

const advice = 'use an exact one such as 1.9.8, latest, latest:^1.9, min-required or latest-allowed';

function patternOf(like: string, by: string): RegExp {
  if (pattern.test(like)) {
    try {
      return new RegExp(like);
    } catch {
      // For example [9-1].
    }
  }
  throw new Error(
    `${by} contains ${shown(`latest:${like}`)}, which is not valid: latest: must be followed by the beginning of a version such as ^1.9`,
  );
}

function shown(text: string): string {
  return JSON.stringify(text.length > longestShown ? `${text.slice(0, longestShown)}…` : text);
}
