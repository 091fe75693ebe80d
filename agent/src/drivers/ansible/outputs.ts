/** Reads the outputs of a playbook, which its tasks set with `set_stats`, and the hosts that it reached. */
import { typeOfJson } from '#contract/schema/exact-json.ts';
import type { OutputsReading } from '../interface/driver.ts';
import { readEvents } from './events.ts';

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return typeof value === 'boolean' ? 'bool' : typeOfJson(value);
}

/** @param events of the playbook; undefined: it did not run */
export function outputsOf(events: Uint8Array | undefined): OutputsReading {
  const end = readEvents(events ?? new Uint8Array()).findLast((event) => event.kind === 'end');
  if (end === undefined) return {};
  const outputs = Object.fromEntries(
    Object.entries(end.stats).map(([name, value]) => [
      name,
      { value, sensitive: end.hidden.includes(name), type: typeOf(value) },
    ]),
  );
  const resources = end.hosts.map((name) => ({ provider: 'ansible', type: 'host', name, moduleName: '' }));
  return { outputs, resources, resourceCount: resources.length };
}
