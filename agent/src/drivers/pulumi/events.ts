/** The events of Pulumi's engine, which a command writes to a file, one as JSON in each line. */
import { parseExactly } from '#contract/schema/exact-json.ts';
import { lineSplitter } from '../interface/lines.ts';

/** A resource before or after a step; secrets are already replaced by Pulumi. */
export interface EventState {
  readonly type: string;
  readonly urn: string;
  readonly custom?: boolean;
  readonly id?: string;
  readonly parent?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
}

export interface StepMetadata {
  readonly op: string;
  readonly urn: string;
  readonly type: string;
  readonly old: EventState | null;
  readonly new: EventState | null;
  /** Names of inputs that differ. */
  readonly diffs?: readonly string[] | null;
  readonly detailedDiff?: Readonly<Record<string, unknown>> | null;
}

export interface EngineEvent {
  readonly resourcePreEvent?: { readonly metadata: StepMetadata };
  readonly resOutputsEvent?: { readonly metadata: StepMetadata };
  readonly resOpFailedEvent?: { readonly metadata: StepMetadata };
  readonly summaryEvent?: { readonly resourceChanges?: Readonly<Record<string, number>> };
}

/** Larger events are skipped while a command runs: they are of resources with files in them. */
export const longestEventBytes = 32 * 1024 * 1024;

/** The event of a line, if it is about resources. */
export function readEvent(line: string): EngineEvent | null {
  // Most lines are messages, which the log has.
  if (!line.includes('"resourcePreEvent"') && !line.includes('"res') && !line.includes('"summaryEvent"'))
    return null;
  try {
    return parseExactly(line) as EngineEvent;
  } catch {
    // A run may write anything into its file.
    return null;
  }
}

/** All events of a file about resources, in their order. */
export function readEvents(bytes: Uint8Array): EngineEvent[] {
  const events: EngineEvent[] = [];
  const take = lineSplitter(longestEventBytes, (line) => {
    const event = readEvent(line);
    if (event !== null) events.push(event);
  });
  take(bytes);
  take(Buffer.from('\n'));
  return events;
}

/** The parts of a resource's URN: `urn:pulumi:stack::project::type$type::name`. */
export interface UrnParts {
  /** The types of the components that it belongs to, outermost first. */
  readonly parents: readonly string[];
  readonly type: string;
  readonly name: string;
  readonly project: string;
}

/** @returns the parts of a URN; those that it lacks are empty */
export function urnParts(urn: string): UrnParts {
  const [, project = '', types = '', ...names] = urn.split('::');
  const chain = types.split('$');
  return { parents: chain.slice(0, -1), type: chain.at(-1) ?? '', name: names.join('::'), project };
}

/** The package that a type is from: `aws` of `aws:s3/bucket:Bucket`. */
export function packageOf(type: string): string {
  return type.split(':')[0] ?? '';
}
