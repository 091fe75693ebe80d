/**
 * Reads resource events from the human output of an apply. Terraform writes each such line in one piece and
 * prefixes lines of provisioners with their resource, so that a program's own output is never mistaken for an
 * event.
 */
import type { ProgressEvent, ProgressReader } from '../interface/driver.ts';
import { progressOfLines } from '../interface/progress-lines.ts';
import { impliedProvider, type ResourceAddress, readAddress } from './address.ts';

type Phrase = readonly [text: string, status: 'started' | 'done', action: ProgressEvent['action']];

const phrases: readonly Phrase[] = [
  ['Creating...', 'started', 'create'],
  ['Creation complete', 'done', 'create'],
  ['Modifying...', 'started', 'update'],
  ['Modifications complete', 'done', 'update'],
  ['Destroying...', 'started', 'delete'],
  ['Destruction complete', 'done', 'delete'],
  ['Reading...', 'started', 'read'],
  ['Read complete', 'done', 'read'],
  ['Importing...', 'started', 'read'],
  ['Import complete', 'done', 'read'],
];

/** No line about a resource is longer; longer lines are skipped without being buffered. */
const longestLineBytes = 16_384;

/** No tool works on more resources at a time; programs of a run may print anything. */
const mostBegun = 10_000;

/** Removes colours and other terminal sequences. */
export function withoutColours(text: string): string {
  return text.replaceAll(/\x1b\[[0-9;?]*[A-Za-z]/g, '');
}

function eventOf(
  resource: ResourceAddress,
  status: ProgressEvent['status'],
  action: ProgressEvent['action'],
  id?: string,
): ProgressEvent {
  const { address, moduleName, type, name, index } = resource;
  return {
    address,
    moduleName,
    type,
    name: name + index,
    provider: impliedProvider(type),
    status,
    action,
    ...(id === undefined ? {} : { id }),
  };
}

function readLine(line: string): ProgressEvent | null {
  const found = readAddress(line);
  if (!found) return null;
  const rest = line.slice(found.end).replace(/^ \(deposed object [0-9a-f]+\)/, '');
  const phrase = phrases.find(([text]) => rest.startsWith(`: ${text}`));
  if (!phrase) return null;
  return eventOf(found.value, phrase[1], phrase[2], idAtEnd(rest));
}

/** `[id=…]` at the end of a line. */
function idAtEnd(line: string): string | undefined {
  const text = line.trimEnd();
  const at = text.indexOf('[id=');
  return at === -1 || !text.endsWith(']') ? undefined : text.slice(at + '[id='.length, -1);
}

/** Reads lines one by one; tracks started resources, so that an error can be attributed to one of them. */
function lineReader(): (line: string) => ProgressEvent | null {
  const begun = new Map<string, ProgressEvent>();
  let isInError = false;
  const failure = (line: string): ProgressEvent | null => {
    const place = /^│?\s+with (.+),$/.exec(line)?.[1];
    const event = place === undefined ? undefined : begun.get(place);
    if (place === undefined || !event) return null;
    begun.delete(place);
    return { ...event, status: 'failed' };
  };
  return (coloured) => {
    const line = withoutColours(coloured).trimEnd();
    const heading = /^(?:│ )?(Error|Warning): /.exec(line)?.[1];
    if (heading !== undefined) isInError = heading === 'Error';
    if (line === '╵') isInError = false;
    // An error may quote the output of programs.
    if (isInError) return failure(line);
    const event = readLine(line);
    if (!event) return null;
    if (event.status !== 'started') begun.delete(event.address);
    else if (begun.size < mostBegun) begun.set(event.address, event);
    return event;
  };
}

/** Creates a reader of raw output in chunks of any size. */
export function terraformProgress(): ProgressReader {
  return progressOfLines(longestLineBytes, lineReader());
}
