/**
 * Compares what the service says about a deployment with what really happened: the marks that its commands left
 * outside of any state. Pure.
 */
import type { Deployment } from '#contract/deployments/shapes.ts';

/** The kinds of deployments of the soak; `same` deploys without a change. */
export type Kind = 'deploy' | 'same' | 'destroy' | 'task';

/** The items that a state contains, by number; true: tainted, so that its next change replaces it. */
export type Items = ReadonlyMap<number, boolean>;

/** One deployment with everything that is known about it after its end. */
export interface Ended {
  readonly kind: Kind;
  /** Of the item that it creates, or of the task. */
  readonly number: number;
  readonly deployment: Deployment;
  readonly before: Items;
  readonly after: Items;
  readonly wasAborted: boolean;
  /** Processes that were killed while they ran, which could have ended it. */
  readonly kills: readonly string[];
}

export const markOf = {
  created: (number: number | string) => `created-${number}`,
  removed: (number: number | string) => `removed-${number}`,
  task: (number: number | string) => `task-${number}`,
} as const;

/** The resource that a deployment creates. */
export const address = 'terraform_data.item';

/** @param marks of the environment, in their order @returns what contradicts the law; empty if nothing does */
export function auditDeployment(ended: Ended, marks: readonly string[]): string[] {
  const complaints = [...auditEnd(ended), ...auditWorld(ended, marks), ...auditState(ended, marks)];
  const { deployment, kills, wasAborted } = ended;
  const end = `${deployment.status}, ${deployment.error?.message ?? 'no error'}`;
  const because = [...kills, ...(wasAborted ? ['aborted'] : [])].join() || 'nothing';
  return complaints.map((complaint) => `${complaint} (${end}; killed: ${because})`);
}

/** Nothing but a kill of the run itself, or a person, ends it otherwise than well. */
function auditEnd({ deployment: { status, error }, wasAborted, kills }: Ended): string[] {
  if (status === 'SUCCESS') return [];
  const complaints: string[] = [];
  if (status === 'ABORTED' && !wasAborted) complaints.push('it was aborted, but no one requested it');
  if (status !== 'ABORTED' && kills.length === 0 && !wasAborted)
    complaints.push(
      `it ended as ${status}, but nothing of its run was killed: ${error?.message ?? 'no error'}`,
    );
  if (status !== 'ABORTED' && !error?.message) complaints.push(`it ended as ${status} without a reason`);
  return complaints;
}

/** Nothing is done twice, and everything that a success promises is done. */
function auditWorld({ kind, number, deployment: { status } }: Ended, marks: readonly string[]): string[] {
  const count = (mark: string) => marks.filter((each) => each === mark).length;
  const isDone = status === 'SUCCESS';
  switch (kind) {
    case 'deploy':
    case 'same':
      return judge(markOf.created(number), count(markOf.created(number)), isDone);
    case 'task':
      return judge(markOf.task(number), count(markOf.task(number)), isDone);
    case 'destroy':
      return [];
  }
}

function judge(mark: string, count: number, isDone: boolean): string[] {
  if (count > 1) return [`it left the mark ${mark} ${count} times`];
  return isDone && count === 0 ? [`it succeeded without the mark ${mark}`] : [];
}

function auditState(ended: Ended, marks: readonly string[]): string[] {
  const { kind, number, deployment, before, after } = ended;
  const complaints: string[] = [];
  const isDone = deployment.status === 'SUCCESS';
  const left = new Set(marks);
  if (isDone) {
    const expected = kind === 'task' ? [...before.keys()] : kind === 'destroy' ? [] : [number];
    if (expected.join() !== [...after.keys()].join())
      complaints.push(
        `it succeeded, and its state has the items ${list(after)} instead of ${expected.join() || 'none'}`,
      );
    if (kind !== 'task' && [...after.values()].some(Boolean))
      complaints.push('it succeeded, and its state has a tainted item');
  }
  for (const [item, isTainted] of before)
    if (!after.has(item) && !isTainted && !left.has(markOf.removed(item)))
      complaints.push(`the item ${item} is no longer in the state, but was not removed`);
  if (kind === 'deploy' && !isDone) {
    const isListed = (deployment.unrecordedResources ?? []).some((each) => each.address === address);
    if (left.has(markOf.created(number)) && !after.has(number) && !isListed)
      complaints.push(`the item ${number} was created, and is neither in the state nor listed`);
    if (after.get(number) === false && !left.has(markOf.created(number)))
      complaints.push(`the item ${number} is in the state, but was not created`);
  }
  for (const item of after.keys())
    if (item !== number && !before.has(item)) complaints.push(`the item ${item} is in the state again`);
  return complaints;
}

function list(items: Items): string {
  return [...items].map(([item, isTainted]) => `${item}${isTainted ? ' (tainted)' : ''}`).join() || 'none';
}

/** The items of a state as terraform and OpenTofu write it. */
export function itemsOf(state: Uint8Array): Items {
  const { resources } = JSON.parse(Buffer.from(state).toString()) as {
    resources: {
      type: string;
      instances: {
        status?: string;
        deposed?: string;
        attributes: { input: { value: { number: string } } };
      }[];
    }[];
  };
  return new Map(
    resources.flatMap(({ instances }) =>
      instances.map(
        ({ status, attributes }) => [Number(attributes.input.value.number), status === 'tainted'] as const,
      ),
    ),
  );
}
