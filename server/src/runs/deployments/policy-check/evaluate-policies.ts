/** Reads and evaluates the policies of one plan. */
import fastq from 'fastq';
import type { PolicyMessages } from '#contract/deployments/policy-verdict.ts';
import type { Context } from '../../../framework/context.ts';
import { storable } from '../../../ground/database/storable.ts';
import type { VerdictRow } from '../../../rows/approval-policies/verdict-store.ts';
import type { ProjectPlace } from '../../../rows/projects/project-store.ts';
import type { TemplateRow } from '../../../rows/templates/template-store.ts';
import type { PolicyFiles } from '../../../rules/approval-policies/evaluation/compile-policy.ts';
import {
  hashOf,
  PolicyCheck,
  type PolicyDocument,
} from '../../../rules/approval-policies/evaluation/policy-engine.ts';
import { PolicyError, PolicyUnavailable } from '../../../rules/approval-policies/evaluation/policy-error.ts';
import { readPolicy } from '../../../rules/approval-policies/evaluation/read-policy.ts';
import { decisionOf } from '../../../rules/approval-policies/evaluation/read-verdict.ts';
import type { PolicyInput } from './policy-input.ts';

export type PolicyResult = Pick<
  VerdictRow,
  'decision' | 'messages' | 'error' | 'commit_hash' | 'content_hash' | 'milliseconds'
>;

const silent: PolicyMessages = { deny: [], pending: [], allow: [], warn: [] };

/** Makes the documents of several policies, whose common part is large: it becomes text once. */
export function policyDocuments(input: PolicyInput): (configuration: object | undefined) => PolicyDocument {
  const common = Buffer.from(JSON.stringify(input));
  const made = new Map<string, Buffer>();
  return (value) => {
    const configuration = JSON.stringify(value ?? {});
    const whole = () => {
      const end = Buffer.from(`,"policyConfiguration":${configuration}}`);
      const body = made.get(configuration) ?? Buffer.concat([common.subarray(0, -1), end]);
      made.set(configuration, body);
      return body;
    };
    return { common, configuration, whole };
  };
}

const failed = (error: PolicyError) =>
  ({ decision: 'error', messages: silent, error: storable(error.message) }) as const;

/** Evaluates the files of one policy. @throws nothing for what is wrong with the policy: its decision is `error` */
export async function evaluatePolicy(
  files: PolicyFiles,
  document: PolicyDocument,
  check: PolicyCheck,
): Promise<Omit<PolicyResult, 'commit_hash'>> {
  const started = performance.now();
  const took = () => ({ content_hash: hashOf(files), milliseconds: Math.round(performance.now() - started) });
  try {
    const messages = await check.evaluate(files, document);
    return { decision: decisionOf(messages), messages, error: null, ...took() };
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error;
    return { ...failed(error), ...took() };
  }
}

/** A policy, with the document that it decides about. */
interface PolicyWithInput {
  readonly template: TemplateRow;
  readonly project: ProjectPlace;
  readonly document: PolicyDocument;
  /** The commit to read; absent: the newest of its revision. */
  readonly commit?: string;
}

/** @throws PolicyUnavailable, and nothing for what is wrong with the policy */
async function readAndEvaluate(
  context: Context,
  { template, project, document, commit }: PolicyWithInput,
  check: PolicyCheck,
  signal: AbortSignal | undefined,
): Promise<PolicyResult> {
  try {
    const read = await readPolicy(context, template, project, commit);
    signal?.throwIfAborted();
    return { ...(await evaluatePolicy(read.files, document, check)), commit_hash: read.commit };
  } catch (error) {
    if (error instanceof PolicyUnavailable)
      throw new PolicyUnavailable(`Approval policy "${template.name}": ${error.message}`, { cause: error });
    if (!(error instanceof PolicyError)) throw error;
    return { ...failed(error), commit_hash: commit ?? null, content_hash: null, milliseconds: 0 };
  }
}

/** Of one plan: many policies take neither all readers of repositories nor all processes. */
const mostAtOnce = 6;

/**
 * Reads policies of one input and evaluates each alone, so that a policy fails for itself.
 * @param signal ends it before the next policy is read or evaluated
 * @returns the result of each, in the order of the policies
 * @throws PolicyUnavailable where a policy can be read later
 */
export async function evaluatePolicies(
  context: Context,
  policies: readonly PolicyWithInput[],
  signal?: AbortSignal,
): Promise<PolicyResult[]> {
  const [first] = policies;
  if (!first) return [];
  await using check = new PolicyCheck(context, first.document.common, policies.length);
  const queue = fastq.promise((policy: PolicyWithInput) => {
    signal?.throwIfAborted();
    return readAndEvaluate(context, policy, check, signal);
  }, mostAtOnce);
  return await Promise.all(policies.map((policy) => queue.push(policy)));
}
