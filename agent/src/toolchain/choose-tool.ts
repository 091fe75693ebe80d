/** Which of the programs at hand runs a job, from the version that was asked for. */
import { compare, valid } from 'semver';

/** A program that is there. */
export interface ToolCandidate {
  readonly version: string;
  /** Absolute path. */
  readonly path: string;
}

/** The tool to run, with what a person should know of the choice, or why none serves. */
export type ToolChoice = { readonly tool: ToolCandidate; readonly note: string | null } | { readonly problem: string };

/** Leaves the choice to the code's own constraint; the tool itself checks that it is kept. */
const fromCode = 'RESOLVE_FROM_TERRAFORM_CODE';

/**
 * @param name the program's name, as a person knows it
 * @param field what asked for the version, as a refusal names it
 * @param wanted an exact version, `latest`, RESOLVE_FROM_TERRAFORM_CODE, or nothing
 * @param candidates what is at hand; the first is the one that PATH gives
 */
export function chooseTool(name: string, field: string, wanted: string | undefined, candidates: readonly ToolCandidate[]): ToolChoice {
  const first = candidates[0];
  if (!first) return { problem: `${name} is not installed on the agent: put it on the agent's PATH, then deploy again` };
  if (wanted === undefined || wanted === '') return { tool: first, note: null };
  if (wanted === 'latest')
    return {
      tool: newest(candidates, first),
      note: `No index of ${name} versions is in reach: the newest one on the agent counts as the latest`,
    };
  if (wanted === fromCode) return { tool: first, note: 'The version is left to the code, which checks that this one fits' };
  const exact = candidates.find((candidate) => normal(candidate.version) === normal(wanted));
  if (exact) return { tool: exact, note: null };
  const atHand = candidates.map(({ version, path }) => `${version} (${path})`).join(', ');
  return {
    problem: `${name} ${wanted} is asked for by ${field}, and this agent has ${atHand}: install ${wanted} there, or change the version`,
  };
}

function newest(candidates: readonly ToolCandidate[], first: ToolCandidate): ToolCandidate {
  return candidates.reduce((best, candidate) => (isNewer(candidate.version, best.version) ? candidate : best), first);
}

function isNewer(left: string, right: string): boolean {
  return valid(left) !== null && (valid(right) === null || compare(left, right) > 0);
}

/** `v1.11.4` and `1.11.4` are one version. */
function normal(version: string): string {
  return valid(version) ?? version;
}
