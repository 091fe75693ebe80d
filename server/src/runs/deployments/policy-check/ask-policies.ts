/** Reads and asks several policies about one plan. */
import fastq from 'fastq';
import type { PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import type { Context } from '../../../framework/context.ts';
import { storable } from '../../../ground/database/storable.ts';
import type { VerdictRow } from '../../../rows/approval-policies/verdict-store.ts';
import type { ProjectPlace } from '../../../rows/projects/project-store.ts';
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import type { PolicyFiles } from '../../../rules/approval-policies/evaluation/compile-policy.ts';
import {
  evaluateFiles,
  evaluateTogether,
  hashOf,
} from '../../../rules/approval-policies/evaluation/policy-engine.ts';
import { PolicyError, PolicyUnavailable } from '../../../rules/approval-policies/evaluation/policy-error.ts';
import { readPolicy } from '../../../rules/approval-policies/evaluation/read-policy.ts';
import { decisionOf } from '../../../rules/approval-policies/evaluation/read-verdict.ts';
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

/** A policy, with the document that it is asked about. */
export interface AskedPolicy {
  readonly template: TemplateRow;
  readonly project: ProjectPlace;
  readonly body: Buffer;
  /** The commit to read; absent: the newest of its revision. */
  readonly commit?: string;
}

/** The files of a policy that could be read, or what is wrong. */
type PolicyRead =
  | { readonly files: PolicyFiles; readonly body: Buffer; readonly commit: string | null }
  | { readonly said: Said };

/** @throws nothing for what is wrong with the policy, but what passes */
async function read(context: Context, { template, project, body, commit }: AskedPolicy): Promise<PolicyRead> {
  try {
    const { files, commit: newest } = await readPolicy(context, template, project, commit);
    return { files, body, commit: newest };
  } catch (error) {
    if (error instanceof PolicyUnavailable)
      throw new PolicyUnavailable(`Approval policy "${template.name}": ${error.message}`, { cause: error });
    if (!(error instanceof PolicyError)) throw error;
    const unread = { commit_hash: commit ?? null, content_hash: null, milliseconds: 0 };
    return { said: { decision: 'error', messages: silent, error: storable(error.message), ...unread } };
  }
}

/** Of one plan: many policies take neither all readers of repositories nor all processes. */
const mostAtOnce = 6;

/**
 * Evaluates the files of several policies, those with the same document together where that is possible. What fails
 * then is evaluated alone, so that one policy fails for itself.
 * @param over ends between two policies
 * @returns what each said, in the order that was given
 */
export async function askSeveral(
  context: Context,
  asked: readonly { readonly files: PolicyFiles; readonly body: Buffer }[],
  over?: AbortSignal,
): Promise<Omit<Said, 'commit_hash'>[]> {
  const together = new Map<Buffer, { messages: ReadonlyMap<string, PolicyMessages>; milliseconds: number }>();
  await Promise.all(
    [...Map.groupBy(asked, ({ body }) => body)].map(async ([body, group]) => {
      over?.throwIfAborted();
      const started = performance.now();
      const files = group.map((each) => each.files);
      const messages = await evaluateTogether(context, files, body);
      together.set(body, { messages, milliseconds: Math.round(performance.now() - started) });
    }),
  );
  const queue = fastq.promise(async ({ files, body }: (typeof asked)[number]) => {
    over?.throwIfAborted();
    const hash = hashOf(files);
    const { messages: all, milliseconds = 0 } = together.get(body) ?? {};
    const messages = all?.get(hash);
    if (!messages) return askFiles(context, files, body);
    return { decision: decisionOf(messages), messages, error: null, content_hash: hash, milliseconds };
  }, mostAtOnce);
  return Promise.all(asked.map((each) => queue.push(each)));
}

/**
 * Reads policies, and evaluates them.
 * @param over ends between two policies
 * @returns what each said, in the order that was given
 */
export async function askPolicies(
  context: Context,
  policies: readonly AskedPolicy[],
  over?: AbortSignal,
): Promise<Said[]> {
  const reading = fastq.promise((asked: AskedPolicy) => {
    over?.throwIfAborted();
    return read(context, asked);
  }, mostAtOnce);
  const all = await Promise.all(policies.map((each) => reading.push(each)));
  over?.throwIfAborted();
  const files = all.filter((each) => 'files' in each);
  const said = (await askSeveral(context, files, over)).values();
  return all.map((each) =>
    'said' in each
      ? each.said
      : { ...(said.next().value as Omit<Said, 'commit_hash'>), commit_hash: each.commit },
  );
}
