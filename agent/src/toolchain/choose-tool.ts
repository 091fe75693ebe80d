/** Which of the programs at hand runs a job, from the version that was asked for. */
import { compare, valid } from 'semver';

/** A program that is there. */
export interface ToolCandidate {
  readonly version: string;
  /** Absolute path. */
  readonly path: string;
}

/** The tool to run, or why none serves. */
export type ToolChoice =
  | { readonly tool: ToolCandidate; readonly note: string | null }
  | { readonly problem: string };

/** Asks for whatever the code's own constraint allows, and leaves the choice to us. */
const fromCode = 'RESOLVE_FROM_TERRAFORM_CODE';

/**
 * @param name the program's name, as a person knows it
 * @param field the field that asked for the version, named in the refusal
 * @param wanted an exact version, `latest`, RESOLVE_FROM_TERRAFORM_CODE, or nothing
 * @param candidates what is at hand; the first is the one that PATH gives
 */
export function resolveTool(name: string, field: string, wanted: string | undefined, candidates: readonly ToolCandidate[]): ToolChoice {
  const first = candidates[0];
  if (!first) return { problem: `${name} is not installed on the agent: put it on the agent's PATH, then deploy again.` };
  if (wanted === undefined || wanted === '') return { tool: first, note: null };
  if (wanted === 'latest') return { tool: newest(candidates, first), note: `No index of ${name} versions is in reach: the newest one on the agent serves as latest.` };
  if (wanted === fromCode) return { tool: first, note: null };
  const exact = candidates.find((candidate) => normal(candidate.version) === normal(wanted));
  if (exact) return { tool: exact, note: null };
  const atHand = candidates.map((candidate) => candidate.version).join(', ');
  return { problem: `${field} asks for ${name} ${wanted}, the agent has ${atHand}: install that version on the agent's PATH or change ${field}.` };
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
