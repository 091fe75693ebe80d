/** Reads and asks several policies about one plan. */
import type { PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import type { PolicyFiles } from '../../approval-policies/compile-policy.ts';
import { evaluateFiles, hashOf } from '../../approval-policies/policy-engine.ts';
import { PolicyError } from '../../approval-policies/policy-error.ts';
import { readPolicy } from '../../approval-policies/read-policy.ts';
import { decisionOf } from '../../approval-policies/read-verdict.ts';
import type { VerdictRow } from '../../approval-policies/verdict-store.ts';
import type { Context } from '../../context.ts';
import { storable } from '../../database/storable.ts';
import type { ProjectPlace } from '../../projects/project-store.ts';
import type { TemplateRow } from '../../templates/template-store.ts';
import type { PolicyInput } from './policy-input.ts';

/** What one policy said. */
export type Said = Pick<
  VerdictRow,
  'decision' | 'messages' | 'error' | 'commit_hash' | 'content_hash' | 'milliseconds'
>;

const silent: PolicyMessages = { deny: [], pending: [], allow: [], warn: [] };

/** Makes the documents of several policies, whose common part is large: it becomes text once. */
export function inputBodies(input: PolicyInput): (configuration: object | undefined) => Buffer {
  const common = JSON.stringify(input).slice(0, -1);
  const made = new Map<string, Buffer>();
  return (configuration) => {
    const own = JSON.stringify(configuration ?? {});
    const body = made.get(own) ?? Buffer.from(`${common},"policyConfiguration":${own}}`);
    made.set(own, body);
    return body;
  };
}

/** Evaluates the files of one policy. @throws nothing for what is wrong with the policy: its decision is `error` */
export async function askFiles(
  context: Context,
  files: PolicyFiles,
  body: Buffer,
): Promise<Omit<Said, 'commit_hash'>> {
  const started = performance.now();
  const took = () => ({ content_hash: hashOf(files), milliseconds: Math.round(performance.now() - started) });
  try {
    const messages = await evaluateFiles(context, files, body);
    return { decision: decisionOf(messages), messages, error: null, ...took() };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { decision: 'error', messages: silent, error: storable(error.message), ...took() };
  }
}

/**
 * Reads one policy, and evaluates it.
 * @param commit the one to read; absent: the newest of its revision
 */
export async function askPolicy(
  context: Context,
  template: TemplateRow,
  project: ProjectPlace,
  body: Buffer,
  commit?: string,
): Promise<Said> {
  try {
    const read = await readPolicy(context, template, project, commit);
    return { ...(await askFiles(context, read.files, body)), commit_hash: read.commit };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    const unread = { commit_hash: commit ?? null, content_hash: null, milliseconds: 0 };
    return { decision: 'error', messages: silent, error: storable(error.message), ...unread };
  }
}
